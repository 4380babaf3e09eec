// Lends the server the models of the editor: Copilot's, and those that the user has brought (P-7).
import {
  CancellationError,
  type CancellationToken,
  type Disposable,
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
import type { LentMessage, LentModelFacts, LentPart } from "../protocol/types";
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

/** What the editor says of a reply that did not come, by its own code; what caused it is said as well. */
function refused(error: unknown, token: CancellationToken): unknown {
  if (token.isCancellationRequested || error instanceof CancellationError) return new CancellationError();
  if (!(error instanceof Error)) return new Refusal("Unknown", String(error));
  const cause = error.cause instanceof Error ? ` ${error.cause.message}` : "";
  const code = error instanceof LanguageModelError ? error.code : "Unknown";
  return new Refusal(code, `${error.message}${cause}`.trim().slice(0, 500));
}
