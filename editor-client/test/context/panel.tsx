// A panel around a part: its state comes from recorded events, its hands write down what is done.
import { cleanup, render } from "@testing-library/preact";
import axe from "axe-core";
import type { ComponentChildren } from "preact";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, vi } from "vitest";
import type { FromPanel, ServerState } from "../../src/messages";
import type { Archive, ChatEvent, ChatRecord, ContextReport } from "../../src/protocol/types";
import { Hands } from "../../webview/hands";
import type { Actions, InHand } from "../../webview/panel";
import type { Action, State, Turn } from "../../webview/state";
import { initial, reduce } from "../../webview/store";

export const READY: ServerState = {
  phase: "ready",
  session: 1,
  message: "",
  actions: [],
  methods: [],
  offline: false,
};

const stream = (name: string): { record: ChatRecord; events: ChatEvent[] } =>
  JSON.parse(readFileSync(join(import.meta.dirname, "../streams", `${name}.json`), "utf8")) as never;

/** The state after a recorded chat was read; with `until`, only up to the first event that is wanted. */
export function stateOf(name: string, until?: (event: ChatEvent) => boolean): State {
  const { record, events } = stream(name);
  const place = until === undefined ? -1 : events.findIndex(until);
  const shown = place < 0 ? record.events : events.slice(0, place + 1);
  const ready = reduce(initial(null), { kind: "server", server: READY });
  return reduce(ready, { kind: "record", how: "replace", record: { ...record, events: shown } });
}

export const turnsOf = (state: State): Turn[] =>
  (state.chat?.entries ?? []).filter((entry): entry is Turn => entry.kind === "turn");

/** What `codelaw/context/inspect` answers. */
export const REPORT: ContextReport = {
  sections: [
    { layer: "L1", name: "core", tokens: 1800, chars: 5000, cut: false, cached: true, text: "You are codelaw." },
    { layer: "L1", name: "tools", tokens: 1200, chars: 3400, cut: false, cached: true, text: "Read, Edit" },
    { layer: "L2", name: "law", tokens: 900, chars: 2500, cut: false, cached: true, text: "# Law\n- Test first." },
    { layer: "L3", name: "summaries", tokens: 2400, chars: 7000, cut: false, cached: true, text: "## Goal\n…" },
    {
      layer: "L3",
      name: "history",
      tokens: 52_345,
      chars: 150_000,
      cut: false,
      cached: true,
      text: "x".repeat(48_000),
    },
    { layer: "turn", name: "question", tokens: 90, chars: 300, cut: false, cached: true, text: "What <b>now</b>?" },
    { layer: "turn", name: "scratchpad", tokens: 14_300, chars: 40_000, cut: true, cached: false, text: "Thought: …" },
    { layer: "tail", name: "todo_recap", tokens: 60, chars: 200, cut: false, cached: false, text: "[0/2]" },
  ],
  totalTokens: 73_095,
  contextWindow: 200_000,
  threshold: 160_000,
  strategy: "layered",
  dropped: [{ name: "memory", reason: "It took longer than 500 ms." }],
  text: "",
  kept: "12 of 26 rounds (48 messages)",
  budget: [
    { part: "system", share: 36_723, tokens: 3900, over: false },
    { part: "input", share: 9180, tokens: 14_390, over: true },
  ],
};

export const ARCHIVE: Archive = {
  text: "",
  checkpoints: [
    { id: "first", at: 1_760_000_000, roundsArchived: 8, summary: "model", text: "## Goal\nMend add." },
    { id: "second", at: 1_760_000_600, roundsArchived: 6, summary: "none", text: "" },
  ],
};

/** Puts the report on the context page. */
export const inspected = (state: State, change: Partial<State["context"]> = {}): State => ({
  ...state,
  page: "context",
  context: { report: REPORT, counts: true, archive: ARCHIVE, loading: false, problem: null, ...change },
});

/** Renders a part with hands whose actions are the given ones; anything else that is done fails the test. */
export function show(part: ComponentChildren, actions: Partial<Actions> = {}) {
  cleanup();
  const told: FromPanel[] = [];
  const dispatched: Action[] = [];
  const unwanted = new Proxy(actions, {
    get: (own, name): unknown => Reflect.get(own, name) ?? vi.fn(() => expect.fail(`unwanted: ${String(name)}`)),
  });
  const inHand: InHand = {
    panel: {
      tell: (message) => void told.push(message),
      dispatch: (action) => void dispatched.push(action),
      request: () => expect.fail("parts ask by actions"),
      state: () => initial(null),
    },
    actions: unwanted as Actions,
  };
  const around = (inner: ComponentChildren) => <Hands.Provider value={inHand}>{inner}</Hands.Provider>;
  const view = render(around(part));
  return { ...view, told, dispatched, again: (inner: ComponentChildren) => view.rerender(around(inner)) };
}

/** No fault that axe can see; colours are looked at in a browser. */
export async function expectAccessible(element: Element): Promise<void> {
  HTMLCanvasElement.prototype.getContext = () => null; // there is none in jsdom, and it would say so
  const { violations } = await axe.run(element, {
    rules: { "color-contrast": { enabled: false }, "region": { enabled: false } },
  });
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)).toEqual([]);
}
