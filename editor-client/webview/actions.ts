// What the user can do, over the server's requests. Nothing that was typed is lost when one of them fails.
import type { Attachment, Editing } from "../src/messages";
import type { EditorParams, MessageImage, RevertConflict, SendMessage } from "../src/protocol/types";
import { makeKept } from "./kept";
import { sentLooking } from "./looking";
import { PanelProblem, type Actions, type Panel } from "./panel";
import { makeReading, problemOf, tellProblem } from "./reading";
import type { ComposerState, Pending, State, Turn } from "./state";
import { makePictures } from "./pictures";
import { makeRestoring } from "./restoring";
import { makeSteering } from "./steering";
import { t } from "./language";

/** The actions of a panel. */
export function makeActions(panel: Panel): Actions {
  const reading = makeReading(panel);
  /** How often something was prepared. */
  let preparations = 0;
  const pictures = makePictures(panel);
  /** What went along with words to a running turn, by their ids. */
  const along = new Map<string, Attachment[]>();
  /** The same after a reload, as far as the server tells it. */
  const sentWith = async (chatId: string, id: string, images: readonly MessageImage[]): Promise<Attachment[]> =>
    along.get(id) ?? pictures.picturesOf(chatId, images);

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
    const message = t.serverNotReady;
    const hint = t.textKept;
    panel.dispatch({ kind: "problem", problem: { code: "disconnected", message, hint } });
    return false;
  };

  /** What could not be sent stands in the composer again, before what was typed since. */
  const putBack = (text: string, attachments: Attachment[]): void => {
    const { composer } = panel.state();
    const both = [text, composer.text].filter((part) => part.trim() !== "").join("\n\n");
    compose({ text: both, attachments: [...attachments, ...composer.attachments] });
  };

  /**
   * What comes before a message is sent anew. It counts as sending, so that nothing is sent twice; null when it failed
   * or the user has stopped it, and then nothing is to be sent.
   */
  const prepared = async <T>(pending: Pending | null, run: () => Promise<T>): Promise<T | null> => {
    preparations += 1;
    const mine = -preparations; // no request has such an id
    const goesOn = (): boolean => panel.state().composer.sending === mine;
    compose({ sending: mine, pending });
    try {
      const result = await run();
      return goesOn() ? result : null;
    } catch (error) {
      tellProblem(panel, error);
      return null;
    } finally {
      if (goesOn()) compose({ sending: null, pending: null });
    }
  };

  /** Begin a turn; the text is shown until the turn itself is there. `editor` is what was shown when it was sent. */
  const begin = async (
    chatId: string | null,
    text: string,
    attachments: Attachment[],
    editor: EditorParams | null,
  ): Promise<void> => {
    const { next } = panel.state();
    const asked = panel.request("codelaw/chat/send", {
      text,
      attachments: attachments.map(enclosed),
      ...(editor === null ? {} : { editor }),
      ...(chatId === null ? next : { chatId }),
    });
    compose({ sending: asked.id, pending: { chatId, text, attachments, at: Date.now() / 1000 }, sent: null });
    const waits = (): boolean => panel.state().composer.sending === asked.id;
    try {
      const result = await asked;
      if (!waits()) return;
      // It has ended although no event told that it began.
      compose({ sending: null, pending: null });
      if (panel.state().chat?.chat.id === result.chatId) await reading.catchUp();
      else if (chatId === null && panel.state().chat === null) await reading.openChat(result.chatId);
    } catch (error) {
      if (waits()) {
        compose({ sending: null, pending: null });
        putBack(text, attachments);
      }
      tellProblem(panel, error);
      // Somebody else's turn runs there that was not heard of.
      if (problemOf(error).code === "chat_busy" && panel.state().chat?.chat.id === chatId) void reading.catchUp();
    }
  };

  const fork = async (chatId: string, before: string | null): Promise<string> => {
    const made = await panel.request("codelaw/chat/fork", { chatId, turnId: before });
    await reading.openChat(made.id);
    return made.id;
  };

  const steer = async (
    chatId: string,
    text: string,
    attachments: Attachment[],
    editor: EditorParams | null,
  ): Promise<void> => {
    try {
      const enclosures = attachments.length === 0 ? {} : { attachments: attachments.map(enclosed) };
      const params = { chatId, text, ...enclosures, ...(editor === null ? {} : { editor }) };
      const { id } = await panel.request("codelaw/chat/steer", params);
      if (attachments.length > 0) along.set(id, attachments);
      panel.dispatch({ kind: "steered", id });
      panel.dispatch({ kind: "problem", problem: null });
    } catch (error) {
      // Beside a message that is on its way there is no other.
      if (problemOf(error).code !== "turn_not_found" || panel.state().composer.sending !== null) {
        putBack(text, attachments);
        tellProblem(panel, error);
        return;
      }
      // The turn has ended meanwhile: what was meant for it begins the next one.
      await begin(chatId, text, attachments, editor);
    }
  };

  /** Send a turn's text in a fork; what stood in the composer before comes back at once. */
  const sendEdited = async (
    editing: Editing,
    text: string,
    attachments: Attachment[],
    editor: EditorParams | null,
  ): Promise<void> => {
    compose({ text: editing.aside?.text ?? "", attachments: editing.aside?.attachments ?? [], editing: null });
    const pending = { chatId: editing.chatId, text, attachments };
    const made = await prepared(pending, () => fork(editing.chatId, editing.before));
    if (made !== null) {
      await begin(made, text, attachments, editor);
      return;
    }
    const { composer } = panel.state();
    if (composer.editing !== null) {
      putBack(text, attachments);
      return;
    }
    const aside = { text: composer.text, attachments: composer.attachments };
    compose({ text, attachments, editing: { ...editing, aside } });
    panel.dispatch({ kind: "page", page: "chat" });
  };

  const send = async (): Promise<void> => {
    const { composer, chat, opening } = panel.state();
    const { text, attachments, editing } = composer;
    if (text.trim() === "" || composer.sending !== null || opening !== null || !ready()) return;
    panel.dispatch({ kind: "problem", problem: null });
    const editor = sentLooking(panel.state());
    if (editing !== null) {
      await sendEdited(editing, text, attachments, editor);
      return;
    }
    const steers = chat !== null && chat.running !== null;
    compose({ text: "", attachments: [] });
    if (steers) await steer(chat.chat.id, text, attachments, editor);
    else await begin(chat?.chat.id ?? null, text, attachments, editor);
  };

  const stop = async (): Promise<void> => {
    const { chat, composer } = panel.state();
    const { sending } = composer;
    // What is only prepared is not sent then.
    if (sending !== null && sending < 0) compose({ sending: null, pending: null });
    try {
      const stopped = chat !== null && (await panel.request("codelaw/chat/cancel", { chatId: chat.chat.id })).cancelled;
      if (!stopped && sending !== null && sending > 0) panel.tell({ kind: "withdraw", id: sending });
    } catch (error) {
      tellProblem(panel, error);
    }
  };

  /** The turn before, for a fork that ends there. */
  const turnBefore = async (chatId: string, turn: Turn): Promise<string | null> => {
    const place = (): { before: string | null; at: number; earlier: boolean } => {
      const { chat } = panel.state();
      if (chat?.chat.id !== chatId) return { before: null, at: -1, earlier: false };
      const turns = chat.entries.filter(({ kind }) => kind === "turn").map(({ id }) => id);
      const at = turns.indexOf(turn.id);
      return { before: turns[at - 1] ?? null, at, earlier: at === 0 && chat.earlier };
    };
    if (place().earlier) await reading.loadEarlier();
    const { before, at, earlier } = place();
    if (at === -1 || earlier) {
      const hint = t.scrollUp;
      throw new PanelProblem({ code: "turn_not_found", message: t.turnsMissing, hint });
    }
    return before;
  };

  const retry = async (turn: Turn): Promise<void> => {
    const { chat } = panel.state();
    if (chat === null || panel.state().composer.sending !== null || !ready()) return;
    const chatId = chat.chat.id;
    const editor = sentLooking(panel.state());
    const turns = chat.entries.filter(({ kind }) => kind === "turn");
    const last = turns[turns.length - 1]?.id === turn.id;
    panel.dispatch({ kind: "problem", problem: null });
    const where = await prepared(null, async () => {
      if (!last) return fork(chatId, await turnBefore(chatId, turn));
      if (!turn.withdrawn) await forget(chatId, turn.id);
      return chatId;
    });
    if (where === null) return;
    const sent = await pictures.picturesOf(chatId, turn.images ?? []);
    await begin(where, turn.text, [...attachmentsOf(turn), ...sent], editor);
  };

  /** The plan's todo list stays with the chat: the turn that follows works from it. */
  const carryOut = async (): Promise<void> => {
    const { chat, composer } = panel.state();
    if (chat === null || chat.running !== null || composer.sending !== null || !ready()) return;
    const editor = sentLooking(panel.state());
    panel.dispatch({ kind: "problem", problem: null });
    await update({ mode: "agent" });
    if (panel.state().chat?.chat.mode === "agent") await begin(chat.chat.id, t.carryOutMessage, [], editor);
  };

  const forget = async (chatId: string, turnId: string): Promise<void> => {
    try {
      await panel.request("codelaw/chat/revert", { chatId, turnId, files: false, messages: true });
    } catch (error) {
      if (problemOf(error).code !== "nothing_to_undo") throw error;
    }
  };

  const edit = async (turn: Turn): Promise<void> => {
    const chatId = panel.state().chat?.chat.id;
    if (chatId === undefined) return;
    await attempt(async () => {
      const before = await turnBefore(chatId, turn);
      const sent = await pictures.picturesOf(chatId, turn.images ?? []);
      const { text, attachments, editing } = panel.state().composer;
      const aside = editing === null ? { text, attachments } : editing.aside;
      const begun = { chatId, turnId: turn.id, before, ...(aside === undefined ? {} : { aside }) };
      compose({ text: turn.text, attachments: [...attachmentsOf(turn), ...sent], editing: begun });
    });
  };

  const cancelEdit = (): void => {
    const { editing } = panel.state().composer;
    if (editing === null) return;
    compose({ text: editing.aside?.text ?? "", attachments: editing.aside?.attachments ?? [], editing: null });
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

  const update = async (change: Partial<State["next"]>): Promise<void> => {
    const chatId = panel.state().chat?.chat.id;
    if (chatId === undefined) {
      // Another model may not take the effort that was chosen for this one.
      panel.dispatch({ kind: "next", next: change.model === undefined ? change : { ...change, effort: null } });
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
    ...makeKept(panel),
    ...makeRestoring(panel),
    picture: pictures.picture,
    send,
    stop,
    ...makeSteering(panel, { ready, prepared, putBack, begin, sentWith }),
    retry,
    carryOut,
    edit: (turn) => void edit(turn),
    cancelEdit,
    revert,
    accept,
    setMode: (mode) => update({ mode }),
    setModel: (model) => update({ model }),
    setEffort: (effort) => update({ effort }),
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

type Enclosed = NonNullable<SendMessage["attachments"]>[number];

/** An attachment as the server takes it. */
function enclosed({ uri, range, picture }: Attachment): Enclosed {
  if (picture !== undefined) return { kind: "image", ...picture };
  return range === undefined || range === null ? { uri } : { uri, range };
}

/** What went along with a turn and is not in its text, as far as the server tells it. */
function attachmentsOf({ text, mentions }: Turn): Attachment[] {
  return mentions.flatMap(({ path, uri }) =>
    uri === undefined || text.includes(`@${path}`) || text.includes(`@"${path}"`) ? [] : [{ uri, label: path }],
  );
}
