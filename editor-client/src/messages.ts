// What the extension and its panel say to each other: two closed unions. No import of `vscode`, no state.
import type {
  ApprovalReply,
  ApprovalRequest,
  AttachmentParams,
  Chat,
  ChatEvent,
  EditorParams,
  Methods,
  TurnChange,
} from "./protocol/types";

export type Method = keyof Methods;
export type Params<M extends Method> = Methods[M]["params"];
export type Result<M extends Method> = Methods[M]["result"];

/** Where the server is in its life. */
export interface ServerState {
  phase: "searching" | "missing" | "installing" | "starting" | "ready" | "crashed" | "stopped";
  /** A number that rises with every start, so that the panel knows when to catch up. */
  session: number;
  /** One or two sentences for the user; empty when there is nothing to say. */
  message: string;
  /** What the user can do about it, best first. */
  actions: { title: string; command: CommandId }[];
  /** The server's own version, once it is known. */
  version?: string;
  /** Where the server was found, for people. */
  origin?: string;
  /** The requests that it answers; an older server has fewer. */
  methods: string[];
  /** The server has no key and answers with the offline model. */
  offline: boolean;
  /** The editor does not trust the folder: nothing is written or run there. */
  restricted?: boolean;
}

/** Commands of the extension that the panel may run. */
export type CommandId =
  | "codelaw.setKey"
  | "codelaw.chooseModel"
  | "codelaw.installServer"
  | "codelaw.choosePython"
  | "codelaw.showLogs"
  | "codelaw.restart"
  | "codelaw.openSettings"
  | "codelaw.mendSettings"
  | "codelaw.welcome"
  | "codelaw.showLaw"
  | "codelaw.showContext"
  | "codelaw.showPermissions"
  | "codelaw.manageTrust";

/** A document, or a part of one, that goes along with the next message. */
export interface Attachment extends AttachmentParams {
  /** As it is shown: `src/a.py:10-24`. */
  label: string;
  /** A picture that was pasted or dropped, its bytes in base64; `uri` only tells it from others. */
  picture?: { mediaType: string; data: string };
}

/** What the user looks at in the editor, as the server takes it. */
export interface Looking extends EditorParams {
  /** As it is shown: `src/a.py:12-16`. */
  label: string;
}

/** An error as the panel shows it. */
export interface Problem {
  /** A code of the protocol's refusals, `cancelled`, `disconnected` or `internal_error`. */
  code: string;
  message: string;
  hint: string;
}

/** What the menu of the log can do with what stands under the pointer. */
export type MenuItem = "copy" | "copyMarkdown" | "quote" | "file" | "diff" | "output";

export type Page = "chat" | "chats" | "context" | "permissions" | "audit";

/** A question of the server's that waits for the user; `id` is the extension's own. */
export interface OpenApproval {
  id: number;
  request: ApprovalRequest;
}

/** From the extension to the panel. */
export type ToPanel =
  | { kind: "server"; server: ServerState }
  | { kind: "event"; event: ChatEvent }
  | { kind: "answer"; id: number; result: unknown }
  | { kind: "refused"; id: number; problem: Problem }
  | { kind: "approval"; approval: OpenApproval }
  | { kind: "approvalGone"; id: number }
  /** Put these beside the next message; `text` goes into the input, behind what is there. */
  | { kind: "attach"; attachments: Attachment[]; text?: string }
  /** Open a page, or a chat (null: a new one), and focus the input. */
  | { kind: "show"; page: Page; chatId?: string | null }
  /** Send this at once, in a new chat or the one at hand. */
  | { kind: "ask"; text: string; attachments: Attachment[]; newChat: boolean }
  /** What the user looks at now; null without a document. */
  | { kind: "looking"; looking: Looking | null }
  /** What was chosen of the log's menu; `menu` is the page's own word for it. */
  | { kind: "menu"; menu: string; what: MenuItem }
  /** Open the bar that finds in the log. */
  | { kind: "find" }
  /** A chat was changed in another view: its title, mode, model or strategy. */
  | { kind: "chatChanged"; chat: Chat }
  /** A chat was deleted in another view. */
  | { kind: "chatDeleted"; chatId: string }
  | { kind: "choose"; what: "model" | "mode" | "strategy" | "compact" }
  /** Turns whose changes the user has accepted, as `chatId/turnId`. */
  | { kind: "accepted"; turns: string[] }
  /** What waits in a chat of what its turns did to files; `total` counts those that are not in `files`, too. */
  | { kind: "pending"; chatId: string; files: ChangedFile[]; total: number }
  /** Another model may be asked than before: models and chats are to be read again. */
  | { kind: "modelChanged" };

/** A file that turns of a chat have changed, and that nobody has kept or undone since. */
export type ChangedFile = Pick<TurnChange, "uri" | "path" | "kind" | "isText" | "renamedFrom">;

/** What the panel keeps in the editor's hands for when it is made anew; nothing of it is the server's. */
export interface Kept {
  chatId: string | null;
  draft: string;
  attachments: Attachment[];
  editing?: Editing;
  /** A message that was on its way: `draft` begins with it, unless it has arrived. */
  sent?: Sent;
  /** Ids of words to running turns that were sent from here. */
  steers?: readonly string[];
  /** What the user does not want to send of what they look at. */
  removed?: Looking;
}

/** A message that went to the server at `at`, in seconds since the epoch; without `chatId` it makes a chat. */
export interface Sent {
  chatId: string | null;
  text: string;
  /** How many attachments went along. */
  attached: number;
  at: number;
}

/** A turn whose text is being edited: sending makes a fork that ends with the turn `before`. */
export interface Editing {
  chatId: string;
  turnId: string;
  before: string | null;
  /** What stood in the composer until then; it comes back. */
  aside?: { text: string; attachments: Attachment[] };
}

/** From the panel to the extension. */
export type FromPanel =
  /** The panel is there (again); the answer is `server`, `accepted`, `looking`, and every open `approval`. */
  | { kind: "ready" }
  | { kind: "request"; id: number; method: Method; params: unknown }
  /** Withdraw a request that has not been answered. */
  | { kind: "withdraw"; id: number }
  /** The user's answer to a question of the server's. */
  | { kind: "decide"; id: number; reply: ApprovalReply }
  /** Show what an open question would change in the editor's diff view. */
  | { kind: "preview"; id: number }
  /** Which chat the panel shows, for the status bar and for commands. */
  | { kind: "showing"; chatId: string | null }
  /** The user has come to this page: commands are meant for it. */
  | { kind: "focused" }
  /** Show a chat in a tab of the editor; null: a new one. */
  | { kind: "openTab"; chatId: string | null }
  /** Open a document; `path` is relative to a workspace folder or absolute; lines count from 1. */
  | { kind: "open"; uri?: string; path?: string; line?: number; endLine?: number }
  /** Show a text whole in a document that cannot be changed. */
  | { kind: "showText"; title: string; text: string }
  | { kind: "openExternal"; url: string }
  /** Let a model work in all of the window that it has, by a setting of the user's. */
  | { kind: "raiseWindow"; model: string }
  | { kind: "copy"; text: string }
  /** Put text at the cursor of the active editor. */
  | { kind: "insert"; text: string }
  /** The editor's diff view: the file as the turn found it, beside what it is now. */
  | { kind: "diff"; chatId: string; turnId: string; uri: string; path: string }
  /** Keep what a turn changed: its documents are saved. */
  | { kind: "accept"; chatId: string; turnId: string; uris: string[] }
  /** Compare, keep or undo what a turn did to files, or what waits in the chat: all of it, or these files. */
  | { kind: "review"; chatId: string; what: "show" | "keep" | "undo"; turnId?: string; uris?: string[] }
  | { kind: "export"; chatId: string; format: "markdown" | "json"; title: string }
  /** Let the user pick files; they come back by `attach`. */
  | { kind: "pickFiles" }
  /** Files dropped on the panel, as uris or paths; they come back by `attach`. */
  | { kind: "dropped"; uris: string[] }
  /** The selection of the active editor; it comes back by `attach`. */
  | { kind: "addSelection" }
  | { kind: "command"; command: CommandId };
