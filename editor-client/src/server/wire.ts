// What the rest of the extension sees of the server.
import type { CancellationToken, Event } from "vscode";
import type { Method, Params, Result, ServerState } from "../messages";
import type { ChatEvent, Commands } from "../protocol/types";

/** The connection to the server, whichever process it is just now. */
export interface Wire {
  readonly state: ServerState;
  readonly onState: Event<ServerState>;
  readonly onEvent: Event<ChatEvent>;
  /** Another model may be asked than before. */
  readonly onModelChanged: Event<undefined>;
  /**
   * Send a request; waits for a server that is starting.
   * @throws Refusal what the server refused, and `disconnected` when it is gone
   */
  request<M extends Method>(method: M, params: Params<M>, token?: CancellationToken): Promise<Result<M>>;
  /** Run one of the server's commands on a document. */
  command<C extends keyof Commands>(command: C, params: Commands[C]["params"]): Promise<Commands[C]["result"]>;
}
