// Lends the server what the editor has: models, Copilot's and the user's own, and tools of other extensions (P-7).
import {
  CancellationError,
  type CancellationToken,
  type Disposable,
  extensions,
  type LanguageModelChat,
  LanguageModelChatMessage,
  LanguageModelChatMessageRole,
  LanguageModelError,
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  LanguageModelToolResultPart,
  lm,
} from "vscode";
import { t } from "../language";
import type { LentMessage, LentModelFacts, LentPart, LentToolFacts, ToolPart } from "../protocol/types";
import { Refusal } from "../server/refusal";
import type { Server } from "../server/server";

type Piece = LanguageModelTextPart | LanguageModelToolCallPart | LanguageModelToolResultPart;

/** The models as they were listed last. A change of the editor's makes the list be asked anew. */
export class Lending implements Disposable {
  #known = new Map<string, LanguageModelChat>();
  readonly #listening: Disposable;

  constructor(changed: () => void) {
    this.#listening = lm.onDidChangeChatModels(() => {
      this.#known.clear();
      changed();
    });
  }

  async list(): Promise<LentModelFacts[]> {
    const models = await lm.selectChatModels();
    this.#known = new Map(models.map((model) => [idOf(model), model]));
    return [...this.#known].map(([id, { name, family, maxInputTokens }]) => ({ id, name, family, maxInputTokens }));
  }

  /** @throws Refusal when it is not there any more */
  async model(id: string): Promise<LanguageModelChat> {
    if (!this.#known.has(id)) await this.list();
    const model = this.#known.get(id);
    if (model === undefined) throw new Refusal("NotFound", t.modelGone(id));
    return model;
  }

  dispose(): void {
    this.#listening.dispose();
  }
}

/** Answer `codelaw/editor/models` and `codelaw/editor/model`. */
export function answerModels(server: Pick<Server, "onRequest">, lending: Lending): void {
  server.onRequest("codelaw/editor/models", async () => ({ models: await lending.list() }));

  server.onRequest("codelaw/editor/model", async ({ model: id, messages, tools }, token, tell) => {
    const model = await lending.model(id);
    try {
      const offered = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
      const options = { justification: t.lending, ...(offered.length > 0 ? { tools: offered } : {}) };
      const { stream } = await model.sendRequest(messages.map(messageOf), options, token);
      let called = false;
      for await (const piece of stream) {
        if (token.isCancellationRequested) break;
        called ||= piece instanceof LanguageModelToolCallPart;
        await tell(partOf(piece));
      }
      if (token.isCancellationRequested) throw new CancellationError();
      return { stop: called ? "tool_use" : "end_turn" };
    } catch (error) {
      throw refused(error, token);
    }
  });
}

/** Answer `codelaw/editor/tools` and `codelaw/editor/tool`. */
export function answerTools(server: Pick<Server, "onRequest">): void {
  server.onRequest("codelaw/editor/tools", () => ({ tools: lentTools() }));

  server.onRequest("codelaw/editor/tool", async ({ name, input }, token) => {
    if (!lentTools().some((tool) => tool.name === name)) throw new Refusal("NotFound", t.toolGone(name));
    try {
      const { content } = await lm.invokeTool(name, { input, toolInvocationToken: undefined }, token);
      return { parts: toolParts(content) };
    } catch (error) {
      throw refused(error, token);
    }
  });
}

/** Whose tools are those of the editor's own chat: they need it, or do what codelaw does inside its fence. */
const OF_CHAT = new Set(["github.copilot", "github.copilot-chat"]);

/** The tools that extensions have registered; the editor's own, and what it makes of MCP servers, are none of these. */
function lentTools(): LentToolFacts[] {
  const manifests = extensions.all.filter(({ id }) => !OF_CHAT.has(id.toLowerCase()));
  const names = new Set(manifests.flatMap(({ packageJSON }) => contributed(packageJSON)));
  const tools = lm.tools.filter(({ name }) => names.has(name));
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema: { ...inputSchema } }));
}

function contributed(manifest: unknown): unknown[] {
  const contributes = isRecord(manifest) ? manifest["contributes"] : undefined;
  const listed = isRecord(contributes) ? contributes["languageModelTools"] : undefined;
  return Array.isArray(listed) ? listed.map((tool) => (isRecord(tool) ? tool["name"] : undefined)) : [];
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** One more of each than the server takes, so that it says that something was left out. */
const MOST_TEXT = 1_000_001;
const MOST_PARTS = 2_001;
const MOST_IMAGES = 9;
const MOST_BYTES = 5_000_000;

/** A result in parts, no larger than a message may be. */
function toolParts(content: readonly unknown[]): ToolPart[] {
  let [room, images] = [MOST_TEXT, MOST_IMAGES];
  return content.slice(0, MOST_PARTS).map((piece) => {
    const text = textOf(piece);
    if (text !== undefined) {
      const kept = text.slice(0, room);
      room -= kept.length;
      return { kind: "text", text: kept };
    }
    if (!isData(piece)) return { kind: "other" };
    const { mimeType, data } = piece;
    const shown = mimeType.startsWith("image/") && data.length <= MOST_BYTES && images-- > 0;
    return shown
      ? { kind: "image", mediaType: mimeType, data: Buffer.from(data).toString("base64") }
      : { kind: "other", mediaType: mimeType };
  });
}

function textOf(piece: unknown): string | undefined {
  if (piece instanceof LanguageModelTextPart) return piece.value;
  return isData(piece) && TEXTUAL.test(piece.mimeType) ? new TextDecoder().decode(piece.data) : undefined;
}

const TEXTUAL = /^text\/|[/+]json\b/;

/** Whether it is a `LanguageModelDataPart`, which older editors do not have. */
const isData = (piece: unknown): piece is { mimeType: string; data: Uint8Array } =>
  isRecord(piece) && typeof piece["mimeType"] === "string" && piece["data"] instanceof Uint8Array;

/** By whom it is brought, and its own id there. */
const idOf = ({ vendor, id }: LanguageModelChat): string => `${vendor}/${id}`;

function messageOf({ role, parts }: LentMessage): LanguageModelChatMessage {
  const content = parts.map((part): Piece => {
    switch (part.kind) {
      case "call":
        return new LanguageModelToolCallPart(part.callId, part.name, part.input);
      case "result":
        return new LanguageModelToolResultPart(part.callId, [new LanguageModelTextPart(part.text)]);
      default:
        return new LanguageModelTextPart(part.text);
    }
  });
  const { Assistant, User } = LanguageModelChatMessageRole;
  return new LanguageModelChatMessage(role === "assistant" ? Assistant : User, content);
}

function partOf(piece: unknown): LentPart {
  if (piece instanceof LanguageModelTextPart) return { kind: "text", text: piece.value };
  if (!(piece instanceof LanguageModelToolCallPart)) return { kind: "other" };
  return { kind: "call", callId: piece.callId, name: piece.name, input: piece.input };
}

/** What the editor says of an answer that did not come, by its own code; what caused it is said as well. */
function refused(error: unknown, token: CancellationToken): unknown {
  if (token.isCancellationRequested || error instanceof CancellationError) return new CancellationError();
  if (!(error instanceof Error)) return new Refusal("Unknown", String(error));
  const cause = error.cause instanceof Error ? ` ${error.cause.message}` : "";
  const code = error instanceof LanguageModelError ? error.code : "Unknown";
  return new Refusal(code, `${error.message}${cause}`.trim().slice(0, 500));
}
