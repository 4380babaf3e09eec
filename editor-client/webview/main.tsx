// The panel's beginning: it wires the state to the extension and to the page.
import { render } from "preact";
import type { Attachment, Editing, FromPanel, Kept, Looking, Sent, ToPanel } from "../src/messages";
import { makeActions } from "./actions";
import { kept } from "./draft";
import { Hands } from "./hands";
import { connect } from "./link";
import { App } from "./parts/App";
import { focusComposer } from "./parts/focus";
import { makeHabits } from "./rules";
import type { State } from "./state";
import { initial, reduce } from "./store";

interface Editor {
  postMessage(message: FromPanel): void;
  getState(): unknown;
  setState(state: Kept): void;
}

declare function acquireVsCodeApi(): Editor;

/** The longest time that news wait for a frame: a hidden page has none. */
const NO_FRAME_MS = 100;
/** How long the editor is not told of a draft that is being typed. */
const KEEP_MS = 300;
const LOOK_MS = 1000;

function begin(editor: Editor, root: Element): void {
  let shown: State | null = null;
  let drawing = false;
  let keeping = false;
  let steers: State["composer"]["steers"];

  const soon = (run: () => void): void => {
    let done = false;
    const once = (): void => {
      if (done) return;
      done = true;
      clearTimeout(late);
      run();
    };
    const late = setTimeout(once, NO_FRAME_MS);
    requestAnimationFrame(once);
  };

  const draw = (): void => {
    drawing = false;
    const state = link.panel.state();
    render(
      <Hands.Provider value={hands}>
        <App state={state} />
      </Hands.Provider>,
      root,
    );
    if (shown === null || shown.chat?.chat.id !== state.chat?.chat.id) {
      editor.postMessage({ kind: "showing", chatId: state.chat?.chat.id ?? null });
      if (state.chat !== null && state.chat.chat.title === "") void titleOf(state.chat.chat.id);
    }
    shown = state;
  };

  const keep = (): void => {
    keeping = false;
    editor.setState(kept(link.panel.state()));
  };

  const changed = (): void => {
    if (!drawing) {
      drawing = true;
      queueMicrotask(draw);
    }
    // Nobody else knows where they are to come back to.
    const { composer } = link.panel.state();
    if (composer.steers !== steers) {
      steers = composer.steers;
      keep();
    } else if (!keeping) {
      keeping = true;
      setTimeout(keep, KEEP_MS);
    }
  };

  /** What the server made of a chat that its first message has made. */
  const titleOf = async (chatId: string): Promise<void> => {
    try {
      const params = { chatId, sinceSeq: Number.MAX_SAFE_INTEGER, limit: 0 };
      const { chat } = await link.panel.request("codelaw/chat/read", params);
      link.panel.dispatch({ kind: "chatChanged", chat });
    } catch {
      // A chat without its title does as well; what is wrong is told where the user asks for something.
    }
  };

  const link = connect(
    { post: (message) => editor.postMessage(message), soon, changed },
    initial(keptOf(editor.getState())),
    reduce,
    {
      gap: () => void actions.catchUp(),
      told: (message) => habits.told(message),
    },
  );
  const actions = makeActions(link.panel);
  const hands = { panel: link.panel, actions };
  const habits = makeHabits(link.panel, actions, focusComposer);

  addEventListener("message", (event: MessageEvent<ToPanel>) => {
    const { data } = event;
    if (data.kind === "event" && data.event.chatId === link.panel.state().chat?.chat.id) habits.heard(Date.now());
    link.receive(data);
  });
  // What was said in another window meanwhile.
  addEventListener("focus", () => {
    editor.postMessage({ kind: "focused" });
    void actions.catchUp();
    habits.focused();
  });
  // A page that is hidden is thrown away at once, and before that it has lost the focus.
  addEventListener("blur", keep);
  addEventListener("pagehide", keep);
  setInterval(() => habits.look(Date.now()), LOOK_MS);
  draw();
  editor.postMessage({ kind: "ready" });
}

/** What this panel kept the last time; anything else is nothing. */
function keptOf(value: unknown): Kept | null {
  if (typeof value !== "object" || value === null) return null;
  const chatId = "chatId" in value && typeof value.chatId === "string" ? value.chatId : null;
  const draft = "draft" in value && typeof value.draft === "string" ? value.draft : "";
  const attachments = "attachments" in value && Array.isArray(value.attachments) ? value.attachments : [];
  const editing = "editing" in value ? editingOf(value.editing) : null;
  const sent = "sent" in value ? sentOf(value.sent) : null;
  return {
    chatId,
    draft,
    attachments: attachments.filter(isAttachment),
    ...(editing === null ? {} : { editing }),
    ...(sent === null ? {} : { sent }),
    ...("steers" in value && Array.isArray(value.steers) ? { steers: value.steers.filter(isText) } : {}),
    ...("removed" in value && isLooking(value.removed) ? { removed: value.removed } : {}),
  };
}

const isText = (value: unknown): value is string => typeof value === "string";

/** Only its document and its selection count, which are compared and no more. */
const isLooking = (value: unknown): value is Looking => isAttachment(value);

function sentOf(value: unknown): Sent | null {
  if (typeof value !== "object" || value === null) return null;
  if (!("chatId" in value && (value.chatId === null || typeof value.chatId === "string"))) return null;
  if (!("text" in value && typeof value.text === "string" && "at" in value && typeof value.at === "number"))
    return null;
  if (!("attached" in value && typeof value.attached === "number")) return null;
  const { chatId, text, attached, at } = value;
  return { chatId, text, attached, at };
}

function editingOf(value: unknown): Editing | null {
  if (typeof value !== "object" || value === null) return null;
  if (!("chatId" in value && typeof value.chatId === "string")) return null;
  if (!("turnId" in value && typeof value.turnId === "string")) return null;
  if (!("before" in value && (value.before === null || typeof value.before === "string"))) return null;
  const { chatId, turnId, before } = value;
  const aside = "aside" in value && typeof value.aside === "object" && value.aside !== null ? value.aside : {};
  const text = "text" in aside && typeof aside.text === "string" ? aside.text : "";
  const attachments = "attachments" in aside && Array.isArray(aside.attachments) ? aside.attachments : [];
  return { chatId, turnId, before, aside: { text, attachments: attachments.filter(isAttachment) } };
}

function isAttachment(value: unknown): value is Attachment {
  if (typeof value !== "object" || value === null) return false;
  return "uri" in value && typeof value.uri === "string" && "label" in value && typeof value.label === "string";
}

const root = document.getElementById("root") ?? document.body;
begin(acquireVsCodeApi(), root);
