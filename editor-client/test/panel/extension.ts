// The extension as the panel sees it, and a whole panel without a page.
import type { FromPanel, Method, Problem, ServerState, ToPanel } from "../../src/messages";
import type { ChatEvent, ChatRecord } from "../../src/protocol/types";
import { makeActions } from "../../webview/actions";
import { connect } from "../../webview/link";
import type { Actions, Panel } from "../../webview/panel";
import { makeHabits, type Habits } from "../../webview/rules";
import type { State } from "../../webview/state";
import { initial, reduce } from "../../webview/store";

export const READY: ServerState = {
  phase: "ready",
  session: 1,
  message: "",
  actions: [],
  methods: [],
  offline: false,
};

type Answer = (params: Record<string, unknown>, id: number) => unknown;

/** A refusal, or what else went wrong. */
export class Refused extends Error {
  readonly problem: Problem;
  constructor(code: string, message = code) {
    super(message);
    this.problem = { code, message, hint: "Do something." };
  }
}

/** Never answered by itself. */
export const NOTHING = Symbol("nothing");

export interface Rig {
  panel: Panel;
  actions: Actions;
  habits: Habits;
  posted: FromPanel[];
  answers: Partial<Record<Method, Answer>>;
  receive(message: ToPanel): void;
  event(...events: ChatEvent[]): void;
  answer(id: number, result: unknown): void;
  refuse(id: number, code: string): void;
  requests(method: Method): { id: number; params: Record<string, unknown> }[];
  state(): State;
  focused: number;
}

/** A panel whose extension answers by `answers`; events are taken in at once. */
export function rig(state: State = reduce(initial(null), { kind: "server", server: READY })): Rig {
  const posted: FromPanel[] = [];
  const answers: Partial<Record<Method, Answer>> = {};
  const post = (message: FromPanel): void => {
    posted.push(message);
    if (message.kind !== "request") return;
    const respond = async (): Promise<void> => {
      try {
        const given = answers[message.method];
        if (given === undefined) throw new Refused("chat_not_found", `nothing is said to ${message.method}`);
        const result = await given(message.params as Record<string, unknown>, message.id);
        if (result !== NOTHING) made.receive({ kind: "answer", id: message.id, result });
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        made.receive({ kind: "refused", id: message.id, problem: error.problem });
      }
    };
    void respond();
  };
  const link = connect({ post, soon: (run) => run(), changed: () => undefined }, state, reduce, {
    gap: () => void actions.catchUp(),
    told: (message) => habits.told(message),
  });
  const actions = makeActions(link.panel);
  const made: Rig = {
    panel: link.panel,
    actions,
    habits: undefined as unknown as Habits,
    posted,
    answers,
    focused: 0,
    receive: (message) => link.receive(message),
    event: (...events) => events.forEach((event) => link.receive({ kind: "event", event })),
    answer: (id, result) => link.receive({ kind: "answer", id, result }),
    refuse: (id, code) => link.receive({ kind: "refused", id, problem: new Refused(code).problem }),
    requests: (method) =>
      posted.flatMap((message) =>
        message.kind === "request" && message.method === method
          ? [{ id: message.id, params: message.params as Record<string, unknown> }]
          : [],
      ),
    state: () => link.panel.state(),
  };
  const habits = makeHabits(link.panel, actions, () => {
    made.focused += 1;
  });
  made.habits = habits;
  return made;
}

/** What the server answers to `chat/read` when these events are stored: deltas of ended turns are merged. */
export function readOf(record: ChatRecord, stored: ChatEvent[]): Answer {
  return ({ sinceSeq, turns, beforeTurn }) => {
    const merged = mergedDeltas(stored);
    const ids = [...new Set(merged.map(({ turnId }) => turnId).filter((id) => id !== ""))];
    const until = typeof beforeTurn === "string" ? ids.indexOf(beforeTurn) : ids.length;
    const from = typeof turns === "number" ? Math.max(0, until - turns) : 0;
    const wanted = new Set(ids.slice(from, until));
    const over = new Set(stored.filter(({ event }) => event.kind === "turn_ended").map(({ turnId }) => turnId));
    const running = ids.find((id) => !over.has(id)) ?? null;
    const events = merged.filter(
      (one) => one.seq > ((sinceSeq as number | undefined) ?? 0) && (one.turnId === "" || wanted.has(one.turnId)),
    );
    return { ...record, events, running, earlier: from > 0 };
  };
}

function mergedDeltas(events: ChatEvent[]): ChatEvent[] {
  const over = new Set(events.filter(({ event }) => event.kind === "turn_ended").map(({ turnId }) => turnId));
  const merged: ChatEvent[] = [];
  for (const one of events) {
    const last = merged.at(-1);
    const [before, now] = [last?.event, one.event];
    const delta = now.kind === "thought" || now.kind === "answer";
    if (last && delta && over.has(one.turnId) && before?.kind === now.kind && before.step === now.step) {
      merged[merged.length - 1] = { ...one, event: { ...now, delta: before.delta + now.delta } };
    } else merged.push(one);
  }
  return merged;
}

/** Until all that is under way without the extension is done. */
export const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
