// What the panel shows, as one immutable value. Everything of the server's in it can be read from the server again.
import type {
  Attachment,
  ChangedFile,
  Editing,
  FromPanel,
  Looking,
  OpenApproval,
  Page,
  Problem,
  Sent,
  ServerState,
} from "../src/messages";
import type {
  Archive,
  Chat,
  ChatEvent,
  ChatRecord,
  CompactionReport,
  ContextReport,
  HookRun,
  Looked,
  Model,
  Mention,
  MessageImage,
  TodoItem,
  ToolCall,
  TurnResult,
  UsageReport,
} from "../src/protocol/types";

/** How much the model does; `default` is what the settings say, or else the vendor. */
export type EffortChoice = NonNullable<Chat["effort"]> | "default";

export interface State {
  server: ServerState;
  page: Page;
  /** Null: a chat that is made with its first message. */
  chat: ChatState | null;
  /** A chat that is being read: its id. */
  opening: string | null;
  chats: ChatsState;
  models: Model[];
  context: ContextState;
  /** Questions that wait for the user, oldest first, of all chats. */
  approvals: OpenApproval[];
  composer: ComposerState;
  looking: LookingState;
  /** What the next chat begins with; null where the server's default holds. */
  next: {
    mode: Chat["mode"] | null;
    model: string | null;
    strategy: Chat["strategy"] | null;
    effort: EffortChoice | null;
  };
  /** `chatId/turnId` of turns whose changes were accepted. */
  accepted: ReadonlySet<string>;
  /** Files of a chat that wait to be kept or undone; null until it is known. */
  pending: PendingFiles | null;
  /** The picker that is open. */
  choosing: "mode" | "model" | "effort" | "strategy" | null;
  /** The bar that finds in the log is open. */
  finding: boolean;
  /** What the menu of the log was last opened on. */
  pointed: Pointed | null;
  /** What went wrong with something the user asked for; dismissed by the user or by the next success. */
  problem: Problem | null;
}

/** The newest files that wait in a chat, and how many there are in all. */
export interface PendingFiles {
  chatId: string;
  files: readonly ChangedFile[];
  total: number;
}

/** What the menu of the log is about. */
export interface Pointed {
  /** The page's own word for this menu, which no other page has. */
  menu: string;
  /** What is selected, or what stands there, as text and as Markdown. */
  plain: string;
  markdown: string;
  /** What the extension is told to open it. */
  file: FromPanel | null;
  diff: FromPanel | null;
  /** The call whose output can be opened. */
  output: string | null;
}

export interface ChatState {
  chat: Chat;
  /** The largest `seq` that is in here. */
  lastSeq: number;
  /** Oldest first. */
  entries: Entry[];
  /** There are turns before the first entry. */
  earlier: boolean;
  /** Earlier turns are being read. */
  readingEarlier: boolean;
  /** The id of the running turn. */
  running: string | null;
  todo: TodoItem[];
  /** The newest report of a model call. */
  usage: UsageReport | null;
  compacting: boolean;
  /** What tools gave, by callId: the content of the tool message. Read when a call is unfolded. */
  results: ReadonlyMap<string, string>;
  /** The pictures that came with them, without their bytes. */
  pictures?: Pictures;
}

/** Pictures of results, by callId. */
export type Pictures = ReadonlyMap<string, readonly MessageImage[]>;

/** A turn, or what happened between turns. */
export type Entry = Turn | Between;

export interface Turn {
  kind: "turn";
  id: string;
  text: string;
  mentions: Mention[];
  /** Pictures that were sent with it. */
  images?: MessageImage[];
  /** Seconds since the epoch. */
  at: number;
  items: Item[];
  result: TurnResult | null;
  /** When the result came, in seconds since the epoch. */
  endedAt: number | null;
  /** It ended when its server died, without a result. */
  interrupted: boolean;
  /** Its changes were undone. */
  reverted: boolean;
  /** The model no longer sees it. */
  withdrawn: boolean;
}

export interface Between {
  kind: "between";
  id: string;
  items: Item[];
}

export type Item = Thought | Answer | Call | Notice | Steer | Compaction | Hook;

/** `id` is unique in its entry and stays the same while the item grows. */
interface Base {
  id: string;
  step: number;
  at: number;
}
export interface Thought extends Base {
  kind: "thought";
  text: string;
}
export interface Answer extends Base {
  kind: "answer";
  text: string;
}
/**
 * `startedAt` and `endedAt` in seconds since the epoch; the time waited for the user, `asked`, does not count as run.
 * `live` is the end of what its command has printed so far, kept while it runs.
 */
export interface Call extends Base {
  kind: "call";
  call: ToolCall;
  live: string;
  /** Since when the user was asked about it, and until when; null where nobody was. */
  asked: { from: number; to: number | null } | null;
  startedAt: number | null;
  endedAt: number | null;
  /** Tokens that a subagent which it has begun has used so far. */
  spent?: number;
}
export interface Notice extends Base {
  kind: "notice";
  level: "info" | "warning" | "error";
  code: string;
  message: string;
  /** The model is asked again at that time (seconds since the epoch); gone as soon as it answers. */
  retry?: { until: number; attempt: number; reason: string };
}
export interface Steer extends Base {
  kind: "steer";
  text: string;
  images?: MessageImage[];
  state: "waiting" | "told" | "returned";
}
export interface Compaction extends Base {
  kind: "compaction";
  phase: "started" | "summarising" | "finished" | "failed" | "cancelled";
  report: CompactionReport | null;
}

export interface Hook extends Base {
  kind: "hook";
  run: HookRun;
}

export interface ChatsState {
  query: string;
  chats: Chat[];
  nextCursor: string | null;
  loading: boolean;
}

export interface ContextState {
  report: ContextReport | null;
  /** The report is the newest word on how full the window is. */
  counts: boolean;
  archive: Archive | null;
  loading: boolean;
  problem: Problem | null;
}

export interface ComposerState {
  text: string;
  attachments: Attachment[];
  editing: Editing | null;
  /** The id of the `chat/send` that has no `turn_started` yet; negative while it is only prepared. */
  sending: number | null;
  /** What that request said: shown as a turn until the turn itself is there. */
  pending: Pending | null;
  /** What was pending when the panel was made anew: it is a draft until it is seen that it has arrived. */
  sent?: Sent | null;
  /** Ids of the newest words to running turns that were sent from here; those that are returned come back. */
  steers?: readonly string[];
}

/** What the user looks at in the editor, which goes along with a message. */
export interface LookingState {
  at: Looking | null;
  /** The server's word about the document of that uri. */
  verdict: (Looked & { uri: string }) | null;
  /** What was looked at when the user took it out: it stays out until another document or selection comes. */
  removed: Looking | null;
}

/** A message on its way to the server; without `chatId` it makes a chat. */
export interface Pending {
  chatId: string | null;
  text: string;
  attachments: Attachment[];
  /** When the server was asked, in seconds since the epoch. */
  at?: number;
}

/** Everything that changes the state; `reduce` in store.ts takes it in. */
export type Action =
  | { kind: "server"; server: ServerState }
  | { kind: "accepted"; turns: string[] }
  /** Of any chat: what waits in it. */
  | { kind: "pending"; chatId: string; files: ChangedFile[]; total: number }
  | { kind: "events"; events: ChatEvent[] }
  | { kind: "opening"; chatId: string | null }
  /** A chat as it was read: `replace` shows it, `earlier` puts older turns in front, `since` appends what was missed after `asked`. */
  | { kind: "record"; how: "replace" | "earlier" | "since"; record: ChatRecord; asked?: number }
  | { kind: "readingEarlier"; reading: boolean }
  | { kind: "results"; chatId: string; results: ReadonlyMap<string, string>; pictures: Pictures }
  | { kind: "page"; page: Page }
  | { kind: "chats"; query: string; chats: Chat[]; nextCursor: string | null; more: boolean }
  | { kind: "chatsLoading"; query: string }
  | { kind: "chatChanged"; chat: Chat }
  | { kind: "chatDeleted"; chatId: string }
  | { kind: "models"; models: Model[] }
  | { kind: "next"; next: Partial<State["next"]> }
  | { kind: "contextLoading" }
  | { kind: "context"; report: ContextReport | null; archive: Archive | null; problem: Problem | null }
  | { kind: "approval"; approval: OpenApproval }
  | { kind: "approvalGone"; id: number }
  | { kind: "composer"; composer: Partial<ComposerState> }
  /** The server has a word to the running turn. */
  | { kind: "steered"; id: string }
  | { kind: "attach"; attachments: Attachment[]; text?: string }
  | { kind: "looking"; looking: Looking | null }
  | { kind: "verdict"; verdict: LookingState["verdict"] }
  /** The user does not want to send what they look at. */
  | { kind: "lookingRemoved" }
  | { kind: "reverted"; chatId: string; turnId: string }
  /** Open a picker, or close it; a `choose` of the extension's becomes this. */
  | { kind: "choosing"; what: State["choosing"] }
  | { kind: "finding"; finding: boolean }
  | { kind: "pointed"; pointed: Pointed }
  | { kind: "problem"; problem: Problem | null };
