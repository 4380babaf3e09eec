// What the user can do, over the server's requests. Nothing that was typed is lost when one of them fails.
import type { Attachment } from "../src/messages";
import type { Chat, RevertConflict } from "../src/protocol/types";
import { PanelProblem, type Actions, type Panel } from "./panel";
import { makeReading, problemOf, tellProblem } from "./reading";
import type { ComposerState, Turn } from "./state";

/** The actions of a panel. */
export function makeActions(panel: Panel): Actions {
  const reading = makeReading(panel);
  /** What stood in the composer before a turn was brought there to be edited. */
  let setAside: Pick<ComposerState, "text" | "attachments"> | null = null;

  const compose = (composer: Partial<ComposerState>): void => panel.dispatch({ kind: "composer", composer });

  /** Something the user asked for; false when it failed, and then they are told. */
  const attempt = async (run: () => Promise<void>): Promise<boolean> => {
    try {
      await run();
      panel.dispatch({ kind: "problem", problem: null });
      return true;
    } catch (error) {
      tellProblem(panel, error);
      return false;
    }
  };

  const ready = (): boolean => {
    if (panel.state().server.phase === "ready") return true;
    const message = "The codelaw server is not ready.";
    const hint = "Your text is kept here; send it when the server runs.";
    panel.dispatch({ kind: "problem", problem: { code: "disconnected", message, hint } });
    return false;
  };

  /** What could not be sent stands in the composer again, before what was typed since. */
  const putBack = (text: string, attachments: Attachment[]): void => {
    const { composer } = panel.state();
    const both = [text, composer.text].filter((part) => part.trim() !== "").join("\n\n");
    compose({ text: both, attachments: [...attachments, ...composer.attachments], sending: null, pending: null });
  };

  /** Begin a turn; the text is shown until the turn itself is there. */
  const begin = async (chatId: string | null, text: string, attachments: Attachment[]): Promise<void> => {
    const { next } = panel.state();
    const asked = panel.request("codelaw/chat/send", {
      text,
      attachments: attachments.map(({ uri, range }) =>
        range === undefined || range === null ? { uri } : { uri, range },
      ),
      ...(chatId === null ? { mode: next.mode, model: next.model, strategy: next.strategy } : { chatId }),
    });
    compose({ sending: asked.id, pending: { chatId, text, attachments } });
    const waits = (): boolean => panel.state().composer.sending === asked.id;
    try {
      const result = await asked;
      if (!waits()) return;
      // It has ended although no event told that it began.
      compose({ sending: null, pending: null });
      if (panel.state().chat?.chat.id === result.chatId) await reading.catchUp();
      else if (chatId === null && panel.state().chat === null) await reading.openChat(result.chatId);
    } catch (error) {
      if (waits()) putBack(text, attachments);
      tellProblem(panel, error);
    }
  };

  const fork = async (chatId: string, before: string | null): Promise<string> => {
    const made = await panel.request("codelaw/chat/fork", { chatId, turnId: before });
    await reading.openChat(made.id);
    return made.id;
  };

  const steer = async (chatId: string, text: string, attachments: Attachment[]): Promise<void> => {
    try {
      await panel.request("codelaw/chat/steer", { chatId, text });
      panel.dispatch({ kind: "problem", problem: null });
    } catch (error) {
      if (problemOf(error).code !== "turn_not_found") {
        putBack(text, attachments);
        tellProblem(panel, error);
        return;
      }
      // The turn has ended meanwhile: what was meant for it begins the next one.
      await begin(chatId, text, attachments);
    }
  };

  const send = async (): Promise<void> => {
    const { composer, chat, opening } = panel.state();
    const { text, attachments, editing } = composer;
    if (text.trim() === "" || composer.sending !== null || opening !== null || !ready()) return;
    panel.dispatch({ kind: "problem", problem: null });
    if (editing !== null) {
      const forked = await attempt(async () => {
        const made = await fork(editing.chatId, editing.before);
        compose({ text: setAside?.text ?? "", attachments: setAside?.attachments ?? [], editing: null });
        setAside = null;
        await begin(made, text, attachments);
      });
      if (!forked) panel.dispatch({ kind: "page", page: "chat" });
      return;
    }
    const steers = chat !== null && chat.running !== null;
    // A word to a running turn takes no attachments along: they wait for the next message.
    compose(steers ? { text: "" } : { text: "", attachments: [] });
    if (steers) await steer(chat.chat.id, text, []);
    else await begin(chat?.chat.id ?? null, text, attachments);
  };

  const stop = async (): Promise<void> => {
    const { chat, composer } = panel.state();
    const { sending } = composer;
    try {
      const stopped = chat !== null && (await panel.request("codelaw/chat/cancel", { chatId: chat.chat.id })).cancelled;
      if (!stopped && sending !== null) panel.tell({ kind: "withdraw", id: sending });
    } catch (error) {
      tellProblem(panel, error);
    }
  };

  /** The turn before, for a fork that ends there. */
  const turnBefore = async (turn: Turn): Promise<string | null> => {
    const place = (): { turns: string[]; at: number } => {
      const turns = (panel.state().chat?.entries ?? []).filter(({ kind }) => kind === "turn").map(({ id }) => id);
      return { turns, at: turns.indexOf(turn.id) };
    };
    if (place().at === 0 && panel.state().chat?.earlier === true) await reading.loadEarlier();
    const { turns, at } = place();
    if (at === 0 && panel.state().chat?.earlier === true) {
      const hint = "Scroll up to read the turns before it, then try again.";
      throw new PanelProblem({ code: "turn_not_found", message: "The turns before this one are not here yet.", hint });
    }
    return turns[at - 1] ?? null;
  };

  const retry = async (turn: Turn): Promise<void> => {
    const { chat } = panel.state();
    if (chat === null || panel.state().composer.sending !== null || !ready()) return;
    const chatId = chat.chat.id;
    const turns = chat.entries.filter(({ kind }) => kind === "turn");
    await attempt(async () => {
      if (turns[turns.length - 1]?.id !== turn.id) {
        const made = await fork(chatId, await turnBefore(turn));
        await begin(made, turn.text, attachmentsOf(turn));
        return;
      }
      if (!turn.withdrawn) await forget(chatId, turn.id);
      await begin(chatId, turn.text, attachmentsOf(turn));
    });
  };

  const forget = async (chatId: string, turnId: string): Promise<void> => {
    try {
      await panel.request("codelaw/chat/revert", { chatId, turnId, files: false, messages: true });
    } catch (error) {
      if (problemOf(error).code !== "nothing_to_undo") throw error;
    }
  };

  const edit = async (turn: Turn): Promise<void> => {
    const { chat, composer } = panel.state();
    if (chat === null) return;
    await attempt(async () => {
      const before = await turnBefore(turn);
      if (composer.editing === null) setAside = { text: composer.text, attachments: composer.attachments };
      const editing = { chatId: chat.chat.id, turnId: turn.id, before };
      compose({ text: turn.text, attachments: attachmentsOf(turn), editing });
    });
  };

  const cancelEdit = (): void => {
    if (panel.state().composer.editing === null) return;
    compose({ text: setAside?.text ?? "", attachments: setAside?.attachments ?? [], editing: null });
    setAside = null;
  };

  const revert = async (turn: Turn): Promise<RevertConflict[]> => {
    const chatId = panel.state().chat?.chat.id;
    if (chatId === undefined) return [];
    try {
      const { reverted, conflicts } = await panel.request("codelaw/chat/revert", { chatId, turnId: turn.id });
      if (reverted.length > 0 && conflicts.length === 0) panel.dispatch({ kind: "reverted", chatId, turnId: turn.id });
      panel.dispatch({ kind: "problem", problem: null });
      return conflicts;
    } catch (error) {
      tellProblem(panel, error);
      return [];
    }
  };

  const accept = (turn: Turn): void => {
    const chatId = panel.state().chat?.chat.id;
    if (chatId === undefined) return;
    const uris = turn.result?.changes.map(({ uri }) => uri) ?? [];
    panel.tell({ kind: "accept", chatId, turnId: turn.id, uris });
  };

  const update = async (change: Partial<Pick<Chat, "mode" | "model" | "strategy">>): Promise<void> => {
    const chatId = panel.state().chat?.chat.id;
    if (chatId === undefined) {
      panel.dispatch({ kind: "next", next: change });
      return;
    }
    await attempt(async () => {
      const chat = await panel.request("codelaw/chat/update", { chatId, ...change });
      panel.dispatch({ kind: "chatChanged", chat });
    });
  };

  const rename = async (chatId: string, title: string): Promise<void> => {
    await attempt(async () => {
      const chat = await panel.request("codelaw/chat/update", { chatId, title });
      panel.dispatch({ kind: "chatChanged", chat });
    });
  };

  const remove = async (chatId: string): Promise<void> => {
    await attempt(async () => {
      await panel.request("codelaw/chat/delete", { chatId });
      panel.dispatch({ kind: "chatDeleted", chatId });
    });
  };

  return {
    ...reading,
    send,
    stop,
    retry,
    edit: (turn) => void edit(turn),
    cancelEdit,
    revert,
    accept,
    setMode: (mode) => update({ mode }),
    setModel: (model) => update({ model }),
    setStrategy: (strategy) => update({ strategy }),
    rename,
    remove,
    exportChat: ({ id, title }, format) => panel.tell({ kind: "export", chatId: id, format, title }),
    decide: ({ id }, reply) => {
      panel.tell({ kind: "decide", id, reply });
      panel.dispatch({ kind: "approvalGone", id });
    },
  };
}

/** What went along with a turn and is not in its text, as far as the server tells it. */
function attachmentsOf({ text, mentions }: Turn): Attachment[] {
  return mentions.flatMap(({ path, uri }) =>
    uri === undefined || text.includes(`@${path}`) ? [] : [{ uri, label: path }],
  );
}
