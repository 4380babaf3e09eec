// What the panel does by itself: with messages of the extension's, after a restart of the server, and for chats that
// run elsewhere.
import type { ToPanel } from "../src/messages";
import { makeJudge } from "./looking";
import { focusFind } from "./parts/focus";
import { choose } from "./pointing";
import type { Actions, Panel } from "./panel";
import { readModels, readNames, tellProblem } from "./reading";
import { CLOCKS } from "./store";
import { t } from "./language";

/** How long a running chat may be silent before the panel asks. */
export const SILENCE_MS = 2000;

export interface Habits {
  told(message: ToPanel): void;
  /** To be called every now and then. */
  look(now: number): void;
  /** Something of the chat at hand was heard. */
  heard(now: number): void;
  /** The user has come to the panel. */
  focused(): void;
}

/** The panel's habits; `focusInput` is called when the user is to write. */
export function makeHabits(panel: Panel, actions: Actions, focusInput: () => void): Habits {
  let session: number | null = null;
  let lastHeard = 0;
  /** The chat that is being read. */
  let opened = Promise.resolve();
  const judge = makeJudge(panel);

  const server = (message: Extract<ToPanel, { kind: "server" }>): void => {
    panel.dispatch({ kind: "server", server: message.server });
    if (message.server.phase !== "ready" || message.server.session === session) return;
    session = message.server.session;
    const { chat, opening, problem } = panel.state();
    // That the server was gone is no news any more.
    if (problem?.code === "disconnected") panel.dispatch({ kind: "problem", problem: null });
    if (opening !== null) opened = actions.openChat(opening);
    else if (chat !== null) void actions.catchUp();
    else opened = findSent();
    void readModels(panel);
    void judge(true);
  };

  /** Show the chat that was being made by a message when the panel was made anew. */
  const findSent = async (): Promise<void> => {
    const { sent } = panel.state().composer;
    if (sent === undefined || sent === null || sent.chatId !== null) return;
    try {
      const { chats } = await panel.request("codelaw/chat/list", { limit: 1 });
      const [newest] = chats;
      const { chat, opening, composer } = panel.state();
      if (newest === undefined || chat !== null || opening !== null || composer.sent !== sent) return;
      const title = newest.title.replace(/…$/, "");
      const its = title !== "" && sent.text.includes(title) && newest.createdAt >= sent.at - CLOCKS;
      if (its) await actions.openChat(newest.id);
    } catch (error) {
      tellProblem(panel, error);
    }
  };

  const show = (message: Extract<ToPanel, { kind: "show" }>): void => {
    const { chatId, page } = message;
    if (chatId !== undefined && (chatId === null || chatId !== panel.state().chat?.chat.id)) {
      opened = actions.openChat(chatId);
    }
    if (page === "chats") void actions.listChats("", false);
    if (page === "context") void actions.inspect();
    panel.dispatch({ kind: "page", page });
    if (page === "chat") focusInput();
  };

  const ask = async (message: Extract<ToPanel, { kind: "ask" }>): Promise<void> => {
    if (message.newChat) await actions.openChat(null);
    else await opened;
    panel.dispatch({ kind: "page", page: "chat" });
    const { text, attachments, editing } = panel.state().composer;
    const asked = { text: message.text, attachments: message.attachments, editing: null };
    panel.dispatch({ kind: "composer", composer: asked });
    // It takes at once what it sends; what stood there was not asked about and goes back in.
    const sent = actions.send();
    const left = panel.state().composer;
    const both = [left.text, text].filter((part) => part !== "").join("\n\n");
    const all = [...left.attachments, ...attachments];
    panel.dispatch({ kind: "composer", composer: { text: both, attachments: all, editing } });
    await sent;
  };

  const openPicker = (what: "mode" | "model" | "strategy"): void => {
    panel.dispatch({ kind: "page", page: "chat" });
    panel.dispatch({ kind: "choosing", what });
  };

  /** A chat that another view has deleted. What stands in the composer stays. */
  const deleted = (chatId: string): void => {
    const was = panel.state().chat?.chat.id === chatId;
    panel.dispatch({ kind: "chatDeleted", chatId });
    const problem = { code: "chat_not_found", message: t.deletedElsewhere, hint: t.writeForNewChat };
    if (was) panel.dispatch({ kind: "problem", problem });
  };

  const told = (message: ToPanel): void => {
    switch (message.kind) {
      case "server":
        server(message);
        return;
      case "show":
        show(message);
        return;
      case "ask":
        void ask(message);
        return;
      case "choose":
        if (message.what === "compact") void actions.compact();
        else openPicker(message.what);
        return;
      case "menu":
        void choose(panel, actions, message);
        return;
      case "find":
        panel.dispatch({ kind: "page", page: "chat" });
        panel.dispatch({ kind: "finding", finding: true });
        focusFind();
        return;
      case "attach":
        panel.dispatch(message);
        panel.dispatch({ kind: "page", page: "chat" });
        focusInput();
        return;
      case "looking":
        panel.dispatch(message);
        void judge(false);
        return;
      case "modelChanged":
        void readModels(panel);
        void readNames(panel);
        return;
      case "chatDeleted":
        deleted(message.chatId);
        return;
      case "approval":
      case "approvalGone":
      case "accepted":
      case "pending":
      case "chatChanged":
        panel.dispatch(message);
        return;
      case "event":
      case "answer":
      case "refused":
        return; // the link has dealt with them
    }
  };

  const look = (now: number): void => {
    const { chat, server: state } = panel.state();
    const goesOn = chat !== null && (chat.running !== null || chat.compacting);
    if (!goesOn || state.phase !== "ready" || now - lastHeard < SILENCE_MS) return;
    lastHeard = now;
    void actions.catchUp();
  };

  return {
    told,
    look,
    heard: (now) => {
      lastHeard = now;
    },
    // Rules and ignore files may have changed while the user was elsewhere.
    focused: () => void judge(true),
  };
}
