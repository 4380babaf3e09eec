// What a request that fails is refused with, whoever refused it: the server, the user, or the end of the connection.
import type { ServerWords } from "../languages/en/server";
import type { Problem } from "../messages";

const REQUEST_CANCELLED = -32800;
const SERVER_CANCELLED = -32802;
const INVALID_PARAMS = -32602;
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
/** What `vscode-jsonrpc` says of requests whose connection is gone. */
const CONNECTION_GONE = new Set([-32097, -32098, -32099]);

/** A request that was not answered, with a code that programs know and words for people. */
export class Refusal extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly hint = "",
  ) {
    super(message);
    this.name = "Refusal";
  }

  /** As the panel takes it. */
  get problem(): Problem {
    return { code: this.code, message: this.message, hint: this.hint };
  }
}

/** The refusal of whatever goes wrong when the server is gone. */
export const disconnected = (message: string, hint = ""): Refusal => new Refusal("disconnected", message, hint);

/** The refusal of a request that its sender has withdrawn. */
export const cancelled = (words: ServerWords): Refusal => new Refusal("cancelled", words.requestCancelled);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** What an error of any kind means as a refusal; what others said of it stays in their words. */
export const refusalOf = (error: unknown, words: ServerWords): Refusal => {
  if (error instanceof Refusal) return error;
  if (!isRecord(error)) return new Refusal("internal_error", String(error));
  const message = text(error["message"]);
  const code = typeof error["code"] === "number" ? error["code"] : undefined;
  if (code === REQUEST_CANCELLED || code === SERVER_CANCELLED || error["name"] === "Canceled") return cancelled(words);
  if (code !== undefined && CONNECTION_GONE.has(code)) return disconnected(words.connectionGone);
  const data = error["data"];
  if (isRecord(data) && typeof data["code"] === "string") {
    return new Refusal(data["code"], text(data["message"]) || message, text(data["hint"]));
  }
  if (code === METHOD_NOT_FOUND) {
    return new Refusal("method_not_found", words.cannotDo, words.installAgain);
  }
  if (code === INVALID_PARAMS) return new Refusal("invalid_params", message);
  if (code === INTERNAL_ERROR) return new Refusal("internal_error", message, words.logsTellMore);
  return new Refusal("internal_error", message || words.wentWrong, words.logsTellMore);
};
