// What the parts of the panel can do; main.tsx makes one and hands it down.
import type { FromPanel, Method, OpenApproval, Params, Problem, Result } from "../src/messages";
import type {
  AgentList,
  ApprovalReply,
  AuditEntry,
  Chat,
  CheckpointState,
  Grant,
  Memory,
  MemoryList,
  MessageImage,
  PictureData,
  RevertConflict,
  Server,
  ServerList,
  Skill,
} from "../src/protocol/types";
import type { Action, EffortChoice, State, Steer, Turn } from "./state";

/** A request that was refused or withdrawn, or whose server is gone. */
export class PanelProblem extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(problem: Problem) {
    super(problem.message);
    this.name = "PanelProblem";
    this.code = problem.code;
    this.hint = problem.hint;
  }
}

export interface Panel {
  /** Tell the extension something. */
  tell(message: FromPanel): void;
  /**
   * Ask the server, through the extension.
   * @throws PanelProblem with the refusal's code, message and hint
   */
  request<M extends Method>(method: M, params: Params<M>): Asked<Result<M>>;
  dispatch(action: Action): void;
  /** The state as of now, for handlers. */
  state(): State;
}

/** A request under way; `id` is what `withdraw` takes. */
export interface Asked<T> extends Promise<T> {
  readonly id: number;
}

/** What the user can do; each deals with its own failure by `problem` in the state. */
export interface Actions {
  /** Show a chat (null: a new one) and the page `chat`. */
  openChat(chatId: string | null): Promise<void>;
  /** Read what was missed since `lastSeq`; after a restart, a gap, or while another server runs the chat. */
  catchUp(): Promise<void>;
  loadEarlier(): Promise<void>;
  /** Send what is in the composer: a turn, a word to the running turn, or an edited turn in a fork. */
  send(): Promise<void>;
  stop(): Promise<void>;
  /** End the command that a call runs; the turn goes on. */
  stopCall(callId: string): Promise<void>;
  /** Stop the running turn and begin the next with a word that waits. */
  sendSteerNow(steer: Steer): Promise<void>;
  /** Bring a word that waits back into the composer. */
  editSteer(steer: Steer): Promise<void>;
  withdrawSteer(steer: Steer): Promise<void>;
  /** Take the last turn out of the context and send its text again; an older one is sent again in a fork. */
  retry(turn: Turn): Promise<void>;
  /** Go on in agent mode with the plan of the last turn. */
  carryOut(): Promise<void>;
  /** Bring a turn's text into the composer; sending it makes a fork. */
  edit(turn: Turn): void;
  cancelEdit(): void;
  /** Undo what a turn did to files; gives what was left alone. */
  revert(turn: Turn): Promise<RevertConflict[]>;
  /** The bytes of a picture that was sent; null where the chat has it no more. */
  picture(chatId: string, image: MessageImage): Promise<PictureData | null>;
  /** What restoring the files as they were before a turn would do; null when that is not known. */
  checkpoint(chatId: string, turnId: string): Promise<CheckpointState | null>;
  /** Restore them; what others did is lost in those of `overwrite` alone. */
  restoreFiles(chatId: string, turnId: string, overwrite: string[]): Promise<CheckpointState | null>;
  undoRestore(chatId: string, turnId: string): Promise<CheckpointState | null>;
  accept(turn: Turn): void;
  /** Of the chat at hand, or of the next one. */
  setMode(mode: Chat["mode"]): Promise<void>;
  setModel(model: string): Promise<void>;
  setEffort(effort: EffortChoice): Promise<void>;
  setStrategy(strategy: Chat["strategy"]): Promise<void>;
  listChats(query: string, more: boolean): Promise<void>;
  rename(chatId: string, title: string): Promise<void>;
  remove(chatId: string): Promise<void>;
  exportChat(chat: Chat, format: "markdown" | "json"): void;
  /** Show the page `context` and ask what would be sent now, with the text in the composer. */
  inspect(): Promise<void>;
  /** As `inspect`, and the vendor counts what would be sent. */
  count(): Promise<void>;
  compact(): Promise<void>;
  /** Undo a compaction and the newer ones; the newest without an id. */
  restore(checkpointId?: string): Promise<void>;
  /** Bring what a tool gave into `results`. */
  readResult(callId: string): Promise<void>;
  decide(approval: OpenApproval, reply: ApprovalReply): void;
  /** What the user has allowed for good; null when that cannot be read. */
  listGrants(): Promise<readonly Grant[] | null>;
  /** What is remembered, or of it what answers `query` best, a chat's own too; null when that cannot be read. */
  listMemories(query: string, chatId: string | null, cursor?: string): Promise<MemoryList | null>;
  /** The entry with another text; null when it was not taken. */
  updateMemory(id: string, text: string): Promise<Memory | null>;
  /** Whether it is forgotten now. */
  forgetMemory(id: string): Promise<boolean>;
  /** The skills that were found; null when that cannot be read. */
  listSkills(): Promise<readonly Skill[] | null>;
  /** The kinds of subagents; null when that cannot be read. */
  listAgents(): Promise<AgentList | null>;
  /** The MCP servers that settings and workspaces name; null when that cannot be read. */
  listServers(): Promise<ServerList | null>;
  /** Let a server start as it is shown, or switch it off; the list as it is then. */
  enableServer(server: Server, enabled: boolean): Promise<ServerList | null>;
  /** Be asked no more about a server as it is shown; the list as it is then. */
  declineServer(server: Server): Promise<ServerList | null>;
  /** Begin a server anew. */
  restartServer(name: string): Promise<void>;
  /** Forget the login to a server; one that runs begins anew without it. */
  logOutOfServer(name: string): Promise<void>;
  /** What was decided, of a chat or of all, newest first; null when that cannot be read. */
  audit(chatId: string | null): Promise<readonly AuditEntry[] | null>;
  /** Take a standing permission back. */
  revokeGrant(id: string): Promise<void>;
}

/** What every part gets by `useContext(Hands)`. */
export interface InHand {
  panel: Panel;
  actions: Actions;
}
