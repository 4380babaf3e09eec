// The panel's real state, actions and parts in a page, with a fake extension at its edge.
import { act, cleanup, fireEvent, render } from "@testing-library/preact";
import axe from "axe-core";
import type { ComponentChildren } from "preact";
import { afterEach, expect } from "vitest";
import type { FromPanel, Method, OpenApproval, Params, Problem, Result, ServerState } from "../../src/messages";
import type { ApprovalOption, Chat, Model } from "../../src/protocol/types";
import { makeActions } from "../../webview/actions";
import { Hands } from "../../webview/hands";
import { connect } from "../../webview/link";
import type { Action, ChatState, State, Turn } from "../../webview/state";
import { initial, reduce } from "../../webview/store";

// jsdom lays nothing out and paints nothing.
HTMLCanvasElement.prototype.getContext = () => null;
Element.prototype.scrollIntoView = () => undefined;
Element.prototype.scrollBy = () => undefined;

/** What is on the screen: everything, or with `fits` false only what `scrollTo` was called for. */
export const sight = {
  fits: true,
  watched: new Map<Element, (seen: boolean) => void>(),
  scrollTo(place: Element): void {
    void act(() => sight.watched.get(place)?.(true));
  },
};
globalThis.IntersectionObserver = class {
  readonly #tell: (entries: { isIntersecting: boolean }[]) => void;
  constructor(tell: (entries: never[]) => void) {
    this.#tell = tell as never;
  }
  observe(place: Element): void {
    sight.watched.set(place, (isIntersecting) => this.#tell([{ isIntersecting }]));
    this.#tell([{ isIntersecting: sight.fits }]);
  }
  disconnect(): void {
    sight.watched.clear();
  }
} as never;
afterEach(() => {
  sight.fits = true;
  sight.watched.clear();
});

type Answers = { [M in Method]?: (params: Params<M>) => Result<M> | Problem | null };

export const READY: ServerState = {
  phase: "ready",
  session: 1,
  message: "",
  actions: [],
  methods: [],
  offline: false,
};

export const chatOf = (id: string, extra: Partial<Chat> = {}): Chat => ({
  id,
  title: `Chat ${id}`,
  kind: "panel",
  mode: "agent",
  model: "claude-sonnet",
  strategy: "layered",
  createdAt: 1,
  updatedAt: 2,
  turns: 1,
  running: null,
  ...extra,
});

export const shownChat = (id: string, extra: Partial<ChatState> = {}): ChatState => ({
  chat: chatOf(id),
  lastSeq: 0,
  entries: [],
  earlier: false,
  readingEarlier: false,
  running: null,
  todo: [],
  usage: null,
  compacting: false,
  results: new Map(),
  ...extra,
});

export const turnOf = (id: string, text: string, extra: Partial<Turn> = {}): Turn => ({
  kind: "turn",
  id,
  text,
  mentions: [],
  at: 0,
  items: [],
  result: null,
  endedAt: null,
  interrupted: false,
  reverted: false,
  withdrawn: false,
  ...extra,
});

export const modelOf = (name: string, contextWindow: number, current = false): Model => ({
  name,
  contextWindow,
  maxOutput: 8000,
  provider: "anthropic",
  current,
  family: "some",
  source: "profile",
});

const RULE = "Bash(git diff:*)";
export const OPTIONS: ApprovalOption[] = [
  { id: "once", title: "Allow once", kind: "allow_once" },
  { id: "chat", title: `Allow in this chat: ${RULE}`, kind: "allow_chat", rule: RULE },
  { id: "always", title: `Always allow: ${RULE}`, kind: "allow_always", rule: RULE },
  { id: "reject", title: "Reject", kind: "reject" },
];

export const approvalOf = (id: number, extra: Partial<OpenApproval["request"]> = {}): OpenApproval => ({
  id,
  request: {
    chatId: "c1",
    turnId: "t1",
    callId: `call-${id}`,
    tool: "Bash",
    title: `Run command ${id}`,
    risk: "execute",
    preview: { command: "git diff --stat" },
    options: OPTIONS,
    ...extra,
  },
});

/** The opened panel: its page, its state, and what it told the extension. */
export interface Opened {
  container: Element;
  posted: FromPanel[];
  state: () => State;
  change: (patch: Partial<State>) => void;
  dispatch: (action: Action) => void;
  answer: (id: number, result: unknown) => void;
  /** The requests of a method, oldest first. */
  asked: <M extends Method>(method: M) => { id: number; params: Params<M> }[];
}

/** Draw parts of the panel; requests without an entry in `answers`, or with null, stay open. */
export function open(
  part: (state: State) => ComponentChildren,
  start: Partial<State> = {},
  answers: Answers = {},
): Opened {
  const posted: FromPanel[] = [];
  let draw = (): void => undefined;
  const reply = (message: FromPanel): void => {
    posted.push(message);
    if (message.kind !== "request") return;
    const give = answers[message.method] as ((params: unknown) => unknown) | undefined;
    const result = give?.(message.params) ?? null;
    if (result === null) return;
    queueMicrotask(() => {
      if (isProblem(result)) link.receive({ kind: "refused", id: message.id, problem: result });
      else link.receive({ kind: "answer", id: message.id, result });
    });
  };
  let patched: Partial<State> = {};
  const link = connect(
    { post: reply, soon: (run) => run(), changed: () => draw() },
    { ...initial(null), server: READY, ...start },
    (state, action) => {
      const next = reduce({ ...state, ...patched }, action);
      patched = {};
      return next;
    },
    { gap: () => undefined, told: () => undefined },
  );
  const hands = { panel: link.panel, actions: makeActions(link.panel) };
  const page = (): ComponentChildren => <Hands.Provider value={hands}>{part(link.panel.state())}</Hands.Provider>;
  const { container, rerender } = render(page() as never);
  draw = () => rerender(page() as never);
  return {
    container,
    posted,
    state: () => link.panel.state(),
    change: (patch) => {
      patched = patch;
      link.panel.dispatch({ kind: "composer", composer: patch.composer ?? {} });
    },
    dispatch: (action) => link.panel.dispatch(action),
    answer: (id, result) => link.receive({ kind: "answer", id, result }),
    asked: (method) => posted.flatMap((one) => (one.kind === "request" && one.method === method ? [one as never] : [])),
  };
}

const isProblem = (value: unknown): value is Problem =>
  typeof value === "object" && value !== null && "hint" in value && "message" in value;

/** What axe finds wrong with the page; colours need a browser that paints. */
export async function violations(container: Element): Promise<string[]> {
  const rules = { "color-contrast": { enabled: false }, "region": { enabled: false } };
  const { violations: found } = await axe.run(container, { rules });
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
}

/** Type at the caret of a field, as a person does: its text, its caret, and the event. */
export function type(field: HTMLTextAreaElement | HTMLInputElement, text: string): void {
  const at = field.selectionStart ?? field.value.length;
  const value = field.value.slice(0, at) + text + field.value.slice(field.selectionEnd ?? at);
  const caret = at + text.length;
  Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field) as object, "value")?.set?.call(field, value);
  field.setSelectionRange(caret, caret);
  fireEvent.input(field);
}

/** Press a key where the focus is; a button's Enter and Space click it, as in a browser. */
export function press(key: string, init: KeyboardEventInit = {}): void {
  const target = document.activeElement ?? document.body;
  const free = fireEvent.keyDown(target, { key, bubbles: true, cancelable: true, ...init });
  if (!free) return;
  if (key === "Tab") tab(init.shiftKey === true);
  else if ((key === "Enter" || key === " ") && target instanceof HTMLButtonElement)
    fireEvent.click(target, { detail: 0 });
}

/** Where Tab leads from the focus, in the order of the page. */
function tab(back: boolean): void {
  const all = [...document.querySelectorAll<HTMLElement>("button, input, textarea, summary, [tabindex]")].filter(
    (one) =>
      one.tabIndex >= 0 && !one.hasAttribute("disabled") && one.closest("details:not([open]) > :not(summary)") === null,
  );
  const at = all.indexOf(document.activeElement as HTMLElement);
  const from = at < 0 ? [...all].findLastIndex((one) => before(one, document.activeElement)) : at;
  all[back ? (at < 0 ? from : at - 1) : from + 1]?.focus();
}

const before = (one: Element, other: Element | null): boolean =>
  other !== null && (one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;

/** How the control with the focus is called. */
export const focused = (): string => {
  const active = document.activeElement;
  return active?.getAttribute("aria-label") ?? active?.textContent.trim() ?? "";
};

afterEach(() => {
  cleanup();
  expect(document.body.querySelectorAll("[style]")).toHaveLength(0);
});
