// The actions that read: chats, lists, the context.
import type { Params, Problem, Result } from "../src/messages";
import type { ChatRecord } from "../src/protocol/types";
import { unsure } from "./fold";
import { PanelProblem, type Actions, type Panel } from "./panel";
import type { Turn } from "./state";
import { picturesOf, resultsOf } from "./results";
import { t } from "./language";

/** How many turns are read at once. */
const TURNS = 20;
/** Of older ones: to draw them takes no longer than a keystroke may wait. */
const OLDER = 10;
/** How many the server gives at most. */
const MOST_TURNS = 1000;

export type Reading = Pick<
  Actions,
  "openChat" | "catchUp" | "loadEarlier" | "listChats" | "inspect" | "count" | "compact" | "restore" | "readResult"
>;

/** What went wrong, as the panel shows it. */
export function problemOf(error: unknown): Problem {
  if (error instanceof PanelProblem) return { code: error.code, message: error.message, hint: error.hint };
  const message = error instanceof Error ? error.message : String(error);
  return { code: "internal_error", message, hint: t.tryAgainSeeLogs };
}

/** Show what went wrong, unless the user withdrew it. */
export function tellProblem(panel: Panel, error: unknown): void {
  const problem = problemOf(error);
  if (problem.code !== "cancelled") panel.dispatch({ kind: "problem", problem });
}

export function makeReading(panel: Panel): Reading {
  let catching: Promise<void> | null = null;
  /** Whether there is more to be read than what is being read now. */
  const wanted = { again: false };
  const isWanted = (): boolean => wanted.again;

  const shown = (): string | null => panel.state().chat?.chat.id ?? null;

  const read = (params: Params<"codelaw/chat/read">): Promise<ChatRecord> => panel.request("codelaw/chat/read", params);

  const openChat = async (chatId: string | null): Promise<void> => {
    panel.dispatch({ kind: "problem", problem: null });
    panel.dispatch({ kind: "opening", chatId });
    if (chatId === null) return;
    try {
      const record = await read({ chatId, turns: TURNS });
      if (panel.state().opening === chatId) panel.dispatch({ kind: "record", how: "replace", record });
    } catch (error) {
      if (panel.state().opening !== chatId) return;
      const problem = problemOf(error);
      // A server that is not there now is asked again by its next start.
      if (problem.code !== "disconnected") panel.dispatch({ kind: "opening", chatId: null });
      panel.dispatch({ kind: "problem", problem });
    }
  };

  const readMissed = async (): Promise<void> => {
    do {
      wanted.again = false;
      const { chat } = panel.state();
      if (chat === null) return;
      try {
        const record = await read({ chatId: chat.chat.id, sinceSeq: chat.lastSeq, limit: 0 });
        const now = panel.state().chat;
        const turn = now?.chat.id === chat.chat.id ? unsure(now, record.events) : null;
        if (turn === null) panel.dispatch({ kind: "record", how: "since", record, asked: chat.lastSeq });
        else await readFrom(turn);
      } catch (error) {
        if (problemOf(error).code === "disconnected") return; // the next start catches up
        if (shown() === chat.chat.id) tellProblem(panel, error);
        return;
      }
    } while (isWanted());
  };

  /** Read a turn and all after it anew. */
  const readFrom = async (turn: Turn): Promise<void> => {
    const { chat } = panel.state();
    if (chat === null) return;
    const turns = chat.entries.filter(({ kind }) => kind === "turn").map(({ id }) => id);
    const back = Math.min(turns.length - turns.indexOf(turn.id) + TURNS, MOST_TURNS);
    const all = await read({ chatId: chat.chat.id, turns: back });
    const from = all.events.findIndex(({ turnId }) => turnId === turn.id);
    const events = all.events.slice(Math.max(0, from));
    panel.dispatch({ kind: "record", how: "since", record: { ...all, events }, asked: (events[0]?.seq ?? 1) - 1 });
    // What was heard while it was read is missing now.
    const left = panel.state().chat;
    if (left?.chat.id === chat.chat.id && left.lastSeq < chat.lastSeq) wanted.again = true;
  };

  const catchUp = (): Promise<void> => {
    wanted.again = true;
    catching ??= readMissed().finally(() => {
      catching = null;
    });
    return catching;
  };

  const loadEarlier = async (): Promise<void> => {
    const { chat } = panel.state();
    const first = chat?.entries.find((entry) => entry.kind === "turn");
    if (chat === null || !chat.earlier || chat.readingEarlier || first === undefined) return;
    panel.dispatch({ kind: "readingEarlier", reading: true });
    try {
      const record = await read({ chatId: chat.chat.id, turns: OLDER, beforeTurn: first.id });
      // A chat that was opened anew meanwhile may begin elsewhere.
      const now = panel.state().chat?.entries.find((entry) => entry.kind === "turn");
      if (now?.id === first.id) panel.dispatch({ kind: "record", how: "earlier", record });
    } catch (error) {
      panel.dispatch({ kind: "readingEarlier", reading: false });
      tellProblem(panel, error);
    }
  };

  const listChats = async (query: string, more: boolean): Promise<void> => {
    const cursor = more ? panel.state().chats.nextCursor : null;
    panel.dispatch({ kind: "chatsLoading", query });
    try {
      const { chats, nextCursor } = await panel.request("codelaw/chat/list", { query, cursor });
      panel.dispatch({ kind: "chats", query, chats, nextCursor: nextCursor ?? null, more });
    } catch (error) {
      const { chats, nextCursor } = panel.state().chats;
      panel.dispatch({ kind: "chats", query, chats, nextCursor, more: false });
      tellProblem(panel, error);
    }
  };

  const readContext = async (exact = false): Promise<void> => {
    const chatId = shown();
    panel.dispatch({ kind: "contextLoading" });
    try {
      const text = panel.state().composer.text;
      const [report, archive] = await Promise.all([
        panel.request("codelaw/context/inspect", {
          chatId,
          text: text.trim() === "" ? null : text,
          ...(exact ? { exact } : {}),
        }),
        chatId === null ? null : panel.request("codelaw/context/archive", { chatId }),
      ]);
      if (shown() === chatId) panel.dispatch({ kind: "context", report, archive, problem: null });
      else await contextChanged();
    } catch (error) {
      if (shown() !== chatId) {
        await contextChanged();
        return;
      }
      const { report, archive } = panel.state().context;
      panel.dispatch({ kind: "context", report, archive, problem: problemOf(error) });
    }
  };

  const inspect = (): Promise<void> => {
    panel.dispatch({ kind: "page", page: "context" });
    return readContext();
  };

  const count = (): Promise<void> => readContext(true);

  /** The context has changed: what is shown of it is read anew. */
  const contextChanged = async (): Promise<void> => {
    if (panel.state().page === "context") await readContext();
  };

  const compact = async (): Promise<void> => {
    const chatId = shown();
    if (chatId === null) return;
    try {
      await panel.request("codelaw/context/compact", { chatId });
      await contextChanged();
    } catch (error) {
      tellProblem(panel, error);
    }
  };

  const restore = async (checkpointId?: string): Promise<void> => {
    const chatId = shown();
    if (chatId === null) return;
    try {
      const chat = await panel.request("codelaw/context/restore", { chatId, checkpointId: checkpointId ?? null });
      panel.dispatch({ kind: "chatChanged", chat });
      await contextChanged();
    } catch (error) {
      tellProblem(panel, error);
    }
  };

  const readResult = async (callId: string): Promise<void> => {
    const { chat } = panel.state();
    if (chat === null || chat.results.has(callId)) return;
    const turns = chat.entries.filter((entry) => entry.kind === "turn");
    const place = turns.findIndex(({ items }) => items.some((item) => item.kind === "call" && item.id === callId));
    const after = turns[place + 1];
    const where = after === undefined ? {} : { beforeTurn: after.id };
    try {
      const record = await read({ chatId: chat.chat.id, turns: 1, ...where });
      const [results, pictures] = [resultsOf(record.messages), picturesOf(record.messages)];
      panel.dispatch({ kind: "results", chatId: chat.chat.id, results, pictures });
    } catch (error) {
      tellProblem(panel, error);
    }
  };

  return { openChat, catchUp, loadEarlier, listChats, inspect, count, compact, restore, readResult };
}

/** The models that the server knows, for the picker. */
export async function readModels(panel: Panel): Promise<void> {
  try {
    const { models }: Result<"codelaw/model/list"> = await panel.request("codelaw/model/list", {});
    panel.dispatch({ kind: "models", models });
  } catch (error) {
    tellProblem(panel, error);
  }
}

/** What is shown of chats, read again because other models may be asked in them. */
export async function readNames(panel: Panel): Promise<void> {
  try {
    const { chat, page, chats } = panel.state();
    if (chat !== null) {
      const record = await panel.request("codelaw/chat/read", {
        chatId: chat.chat.id,
        limit: 0,
        sinceSeq: chat.lastSeq,
      });
      panel.dispatch({ kind: "chatChanged", chat: record.chat });
    }
    if (page === "chats") {
      const { query } = chats;
      const found = await panel.request("codelaw/chat/list", query === "" ? {} : { query });
      for (const one of found.chats) panel.dispatch({ kind: "chatChanged", chat: one });
    }
  } catch (error) {
    tellProblem(panel, error);
  }
}
