// Reads what the panel says. A page that was taken over may say anything, so nothing is believed.
import type { Attachment, CommandId, FromPanel, Method, Params } from "../messages";
import { type ApprovalReply, METHODS } from "../protocol/types";

/** Characters of one text; the server takes messages of up to 64 MiB. */
const LONGEST = 16_000_000;
const MOST_URIS = 200;

const PANEL_COMMANDS: Record<CommandId, true> = {
  "codelaw.setKey": true,
  "codelaw.chooseModel": true,
  "codelaw.installServer": true,
  "codelaw.choosePython": true,
  "codelaw.showLogs": true,
  "codelaw.restart": true,
  "codelaw.openSettings": true,
  "codelaw.mendSettings": true,
  "codelaw.welcome": true,
  "codelaw.showLaw": true,
  "codelaw.showContext": true,
  "codelaw.showPermissions": true,
  "codelaw.manageTrust": true,
};
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);
/** What no page may do, whoever wrote it: trusting a folder is the server's own question to the user. */
const WITHHELD: ReadonlySet<string> = new Set(["codelaw/workspace/trust"]);

type Fields = Record<string, unknown>;

/** A message of the panel's, made of known fields only; null where it is none. */
export function readMessage(value: unknown): FromPanel | null {
  if (!isFields(value)) return null;
  const { kind } = value;
  switch (kind) {
    case "ready":
    case "focused":
    case "pickFiles":
    case "addSelection":
      return { kind };
    case "request":
      return isId(value["id"]) && isMethod(value["method"])
        ? { kind, id: value["id"], method: value["method"], params: value["params"] }
        : null;
    case "withdraw":
    case "preview":
      return isId(value["id"]) ? { kind, id: value["id"] } : null;
    case "decide": {
      const reply = readReply(value["reply"]);
      return isId(value["id"]) && reply !== null ? { kind, id: value["id"], reply } : null;
    }
    case "showing":
    case "openTab":
      return value["chatId"] === null || isName(value["chatId"]) ? { kind, chatId: value["chatId"] } : null;
    case "open":
      return readOpen(value);
    case "openExternal":
      return isName(value["url"]) ? { kind, url: value["url"] } : null;
    case "raiseWindow":
      return isName(value["model"]) ? { kind, model: value["model"] } : null;
    case "showText":
      return isText(value["text"]) && isText(value["title"])
        ? { kind, title: value["title"].slice(0, 200), text: value["text"] }
        : null;
    case "copy":
    case "insert":
      return isText(value["text"]) ? { kind, text: value["text"] } : null;
    case "diff":
      return isName(value["chatId"]) && isName(value["turnId"]) && isName(value["uri"]) && isName(value["path"])
        ? { kind, chatId: value["chatId"], turnId: value["turnId"], uri: value["uri"], path: value["path"] }
        : null;
    case "accept":
      return isName(value["chatId"]) && isName(value["turnId"]) && isUris(value["uris"], 10_000)
        ? { kind, chatId: value["chatId"], turnId: value["turnId"], uris: value["uris"] }
        : null;
    case "review":
      return readReview(value);
    case "export":
      return isName(value["chatId"]) && isFormat(value["format"]) && typeof value["title"] === "string"
        ? { kind, chatId: value["chatId"], format: value["format"], title: value["title"].slice(0, 200) }
        : null;
    case "dropped":
      return isUris(value["uris"], MOST_URIS) ? { kind, uris: value["uris"] } : null;
    case "command":
      return isCommand(value["command"]) ? { kind, command: value["command"] } : null;
    default:
      return null;
  }
}

/** The server looks at every field of the params itself; that they are an object at all is seen to here. */
export function isParams<M extends Method>(_method: M, params: unknown): params is Params<M> {
  return isFields(params);
}

/** What a document shows or a part of it, as the commands and the server's own code actions name it. */
export function isAttachment(value: unknown): value is Attachment {
  if (!isFields(value) || !isName(value["uri"]) || typeof value["label"] !== "string") return false;
  const { range } = value;
  return range === undefined || range === null || isRange(range);
}

/** A range as LSP writes it. */
export function isRange(value: unknown): value is NonNullable<Attachment["range"]> {
  return isFields(value) && isPlace(value["start"]) && isPlace(value["end"]);
}

/** Whether it is an object with fields, and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readOpen(value: Fields): FromPanel | null {
  const { uri, path, line, endLine } = value;
  const named = isName(uri) ? { uri } : isName(path) ? { path } : null;
  if (named === null || !isLine(line) || !isLine(endLine)) return null;
  return {
    kind: "open",
    ...named,
    ...(line === undefined ? {} : { line }),
    ...(endLine === undefined ? {} : { endLine }),
  };
}

function readReview({ chatId, what, turnId, uris }: Fields): FromPanel | null {
  if (!isName(chatId) || (what !== "show" && what !== "keep" && what !== "undo")) return null;
  if ((turnId !== undefined && !isName(turnId)) || (uris !== undefined && !isUris(uris, 20_000))) return null;
  return {
    kind: "review",
    chatId,
    what,
    ...(turnId === undefined ? {} : { turnId }),
    ...(uris === undefined ? {} : { uris }),
  };
}

function readReply(value: unknown): ApprovalReply | null {
  if (!isFields(value)) return null;
  if (value["cancelled"] === true) return { cancelled: true };
  const { optionId, comment } = value;
  if (!isName(optionId)) return null;
  return isText(comment) && comment.trim() !== "" ? { optionId, comment } : { optionId };
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value);
const isText = (value: unknown): value is string => typeof value === "string" && value.length <= LONGEST;
const isName = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= 8192 && !value.includes("\0");
const isIndex = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value < 2 ** 31;
const isLine = (value: unknown): value is number | undefined => value === undefined || (isIndex(value) && value > 0);
const isPlace = (value: unknown): boolean => isFields(value) && isIndex(value["line"]) && isIndex(value["character"]);
const isFormat = (value: unknown): value is "markdown" | "json" => value === "markdown" || value === "json";
const isUris = (value: unknown, most: number): value is string[] =>
  Array.isArray(value) && value.length <= most && value.every(isName);
const isMethod = (value: unknown): value is Method =>
  typeof value === "string" && KNOWN_METHODS.has(value) && !WITHHELD.has(value);
const isCommand = (value: unknown): value is CommandId =>
  typeof value === "string" && Object.hasOwn(PANEL_COMMANDS, value);
