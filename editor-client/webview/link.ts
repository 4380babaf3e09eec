// The panel's end of the line to the extension: requests with their answers, and events taken in once a frame.
import type { FromPanel, Method, Params, Problem, Result, ToPanel } from "../src/messages";
import type { ChatEvent } from "../src/protocol/types";
import { leavesGap } from "./fold";
import { PanelProblem, type Asked, type Panel } from "./panel";
import type { Action, State } from "./state";
import { t } from "./language";

/** Where the panel lives. */
export interface Home {
  post(message: FromPanel): void;
  /** Run it with the next frame, and soon where there are no frames. */
  soon(run: () => void): void;
  /** The state has changed. */
  changed(state: State): void;
}

export interface Link {
  panel: Panel;
  /** A message of the extension's. */
  receive(message: ToPanel): void;
}

/** What the link cannot do by itself. */
export interface Rules {
  /** Events are missing. */
  gap(): void;
  /** Everything that is not an event, an answer or a refusal. */
  told(message: ToPanel): void;
}

interface Waiting {
  answered(result: unknown): void;
  refused(problem: Problem): void;
}

/** A panel whose state begins as `first` and is changed by `reduce`. */
export function connect(home: Home, first: State, reduce: (state: State, action: Action) => State, rules: Rules): Link {
  let state = first;
  let events: ChatEvent[] = [];
  let next = 1;
  const waiting = new Map<number, Waiting>();

  const dispatch = (action: Action): void => {
    const before = state;
    state = reduce(state, action);
    if (state !== before) home.changed(state);
  };

  const flush = (): void => {
    if (events.length === 0) return;
    const batch = events;
    events = [];
    dispatch({ kind: "events", events: batch });
    if (state.chat !== null && leavesGap(state.chat, batch)) rules.gap();
  };

  function request<M extends Method>(method: M, params: Params<M>): Asked<Result<M>> {
    const id = next;
    next += 1;
    if (!offered(state, method)) {
      return Object.assign(Promise.reject<Result<M>>(new PanelProblem(tooOld(method))), { id });
    }
    const asked = new Promise<Result<M>>((resolve, reject) => {
      waiting.set(id, {
        answered: (result) => resolve(resultOf<M>(result)),
        refused: (problem) => reject(new PanelProblem(problem)),
      });
    });
    home.post({ kind: "request", id, method, params });
    return Object.assign(asked, { id });
  }

  const receive = (message: ToPanel): void => {
    if (message.kind === "event") {
      events.push(message.event);
      if (events.length === 1) home.soon(flush);
      return;
    }
    // What came before it counts before it.
    flush();
    if (message.kind === "answer" || message.kind === "refused") {
      const waiter = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.kind === "answer") waiter?.answered(message.result);
      else waiter?.refused(message.problem);
      return;
    }
    rules.told(message);
  };

  return { panel: { tell: (message) => home.post(message), request, dispatch, state: () => state }, receive };
}

/** The extension has the results' types from the same schema as the panel; nothing is checked twice. */
function resultOf<M extends Method>(result: unknown): Result<M>;
function resultOf(result: unknown): unknown {
  return result;
}

/** An old server has fewer methods; one that has not said what it has is asked. */
function offered(state: State, method: Method): boolean {
  const { phase, methods } = state.server;
  return phase !== "ready" || methods.length === 0 || methods.includes(method);
}

function tooOld(method: Method): Problem {
  return {
    code: "unknown_method",
    message: t.unknownMethod(method),
    hint: t.updateServer,
  };
}
