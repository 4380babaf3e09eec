import { beforeEach, describe, expect, it, vi } from "vitest";
import type { CancellationToken } from "vscode";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { answerModels, answerTools, Lending } = await import("../../src/editor/lending");

type Handler = (params: unknown, token: CancellationToken, tell: (part: unknown) => Promise<void>) => unknown;

/** A model that gives these pieces, and notes what it is asked. */
class Model {
  readonly asked: { messages: fake.LanguageModelChatMessage[]; options: Record<string, unknown> }[] = [];
  readonly vendor = "copilot";
  readonly name = "GPT X";
  readonly family = "gpt";
  readonly maxInputTokens = 64_000;
  constructor(
    readonly id: string,
    readonly pieces: (() => unknown)[] = [],
  ) {}
  sendRequest(messages: fake.LanguageModelChatMessage[], options: Record<string, unknown>): Promise<unknown> {
    this.asked.push({ messages, options });
    const { pieces } = this;
    const stream = (async function* () {
      for (const piece of pieces) yield await Promise.resolve(piece());
    })();
    return Promise.resolve({ stream });
  }
}

let changes: number;
let handlers: Map<string, Handler>;
let told: unknown[];
let cancel: fake.CancellationTokenSource;
beforeEach(() => {
  fake.reset();
  changes = 0;
  handlers = new Map();
  told = [];
  cancel = new fake.CancellationTokenSource();
  const onRequest = (method: string, handler: unknown): void => void handlers.set(method, handler as Handler);
  answerModels({ onRequest }, new Lending(() => changes++));
  answerTools({ onRequest });
});

const list = (): unknown => handlers.get("codelaw/editor/models")!({}, cancel.token, () => Promise.resolve());
const messages = [
  { role: "user", parts: [{ kind: "text", text: "L1" }] },
  { role: "assistant", parts: [{ kind: "call", callId: "c1", name: "Read", input: { path: "a" } }] },
  { role: "user", parts: [{ kind: "result", callId: "c1", text: "x", isError: false }] },
];
const ask = (more: object = {}): unknown =>
  handlers.get("codelaw/editor/model")!({ model: "copilot/x", messages, tools: [], ...more }, cancel.token, (part) => {
    told.push(part);
    return Promise.resolve();
  });
const text = (value: string) => () => new fake.LanguageModelTextPart(value);
const fails = (error: unknown) => () => {
  throw error;
};

describe("the models of the editor", () => {
  it("are listed by who brings them, and listed anew when they change", async () => {
    fake.lm.models = [new Model("x"), new Model("y")];
    expect(await list()).toEqual({
      models: ["copilot/x", "copilot/y"].map((id) => ({ id, name: "GPT X", family: "gpt", maxInputTokens: 64_000 })),
    });
    fake.lm.models = [];
    fake.modelsChanged.fire(undefined);
    expect(changes).toBe(1);
    await expect(ask()).rejects.toMatchObject({ code: "NotFound" });
  });

  it("are asked in the editor's parts, and every part of the answer is told", async () => {
    const call = () => new fake.LanguageModelToolCallPart("c2", "LS", { path: "." });
    const model = new Model("x", [text("I "), text("look."), () => ({ odd: true }), call]);
    fake.lm.models = [model];
    const tools = [{ name: "LS", description: "list", inputSchema: { type: "object" } }];
    expect(await ask({ tools })).toEqual({ stop: "tool_use" });
    expect(told).toEqual([
      { kind: "text", text: "I " },
      { kind: "text", text: "look." },
      { kind: "other" },
      { kind: "call", callId: "c2", name: "LS", input: { path: "." } },
    ]);
    const [{ messages: sent, options }] = model.asked as [Model["asked"][number]];
    expect(sent.map(({ role }) => role)).toEqual([1, 2, 1]);
    expect(sent.flatMap(({ content }) => content)).toEqual([
      new fake.LanguageModelTextPart("L1"),
      new fake.LanguageModelToolCallPart("c1", "Read", { path: "a" }),
      new fake.LanguageModelToolResultPart("c1", [new fake.LanguageModelTextPart("x")]),
    ]);
    expect(options["tools"]).toEqual(tools);
    expect(options["justification"]).toContain("you have chosen this model");
  });

  it("are asked without tools where there are none, and looked up once", async () => {
    const model = new Model("x", [text("Hi.")]);
    fake.lm.models = [model];
    expect(await ask()).toEqual({ stop: "end_turn" });
    expect(await ask()).toEqual({ stop: "end_turn" });
    expect(model.asked[0]!.options).not.toHaveProperty("tools");
    expect(fake.editor.done.filter(({ what }) => what === "selectChatModels")).toHaveLength(1);
  });

  it.each([
    [new fake.LanguageModelError("no consent", "NoPermissions"), "NoPermissions", "no consent"],
    [new fake.LanguageModelError("spent", "Blocked"), "Blocked", "spent"],
    [new fake.LanguageModelError("failed", "", new Error("400 model_not_supported")), "", "model_not_supported"],
    [new Error("socket"), "Unknown", "socket"],
    ["odd", "Unknown", "odd"],
  ])("refuse with the editor's own code: %s", async (error, code, words) => {
    fake.lm.models = [new Model("x", [text("a"), fails(error)])];
    await expect(ask()).rejects.toMatchObject({ code, message: expect.stringContaining(words) as string });
  });

  it("stop when the question is withdrawn", async () => {
    const stop = () => {
      cancel.cancel();
      return new fake.LanguageModelTextPart("too late");
    };
    fake.lm.models = [new Model("x", [text("a"), stop, text("b")])];
    await expect(ask()).rejects.toBeInstanceOf(fake.CancellationError);
    expect(told).toEqual([{ kind: "text", text: "a" }]);
  });
});

/** An extension that contributes tools of these names. */
const extension = (id: string, ...names: string[]) => ({
  id,
  packageJSON: { contributes: { languageModelTools: names.map((name) => ({ name })) } },
});
const LOOK = { name: "dict_look", description: "Looks it up.", inputSchema: { type: "object" } };
const tools = (): unknown => handlers.get("codelaw/editor/tools")!({}, cancel.token, () => Promise.resolve());
const use = (name = "dict_look"): unknown =>
  handlers.get("codelaw/editor/tool")!({ name, input: { word: "law" } }, cancel.token, () => Promise.resolve());
const bytes = (text: string) => new TextEncoder().encode(text);

describe("the tools of extensions", () => {
  beforeEach(() => {
    fake.extensions.all = [extension("them.dict", "dict_look", "gone"), { id: "odd", packageJSON: {} }];
    fake.extensions.all.push({ id: "odder", packageJSON: { contributes: { languageModelTools: [null, 3] } } });
    fake.lm.tools = [LOOK];
  });

  it("are lent, and not those of the editor's own chat", () => {
    const own = { name: "run_in_terminal", description: "" };
    const copilots = { name: "copilot_readFile", description: "" };
    const server = { name: "mcp_github_get", description: "" };
    fake.lm.tools = [own, LOOK, copilots, server, { name: "gone", description: "No schema." }];
    fake.extensions.all.push(extension("GitHub.copilot-chat", "copilot_readFile"));
    expect(tools()).toEqual({ tools: [LOOK, { name: "gone", description: "No schema.", inputSchema: {} }] });
  });

  it("are called as anybody calls them, and every part of the result is told", async () => {
    fake.lm.given = () => [
      new fake.LanguageModelTextPart("A rule."),
      { mimeType: "application/json", data: bytes('{"a": 1}') },
      { mimeType: "text/plain", data: bytes("ü") },
      { mimeType: "image/png", data: bytes("png") },
      { mimeType: "image/png", data: new Uint8Array(5_000_001) },
      { mimeType: "application/pdf", data: bytes("%PDF") },
      { value: { node: {} } },
      null,
    ];
    expect(await use()).toEqual({
      parts: [
        { kind: "text", text: "A rule." },
        { kind: "text", text: '{"a": 1}' },
        { kind: "text", text: "ü" },
        { kind: "image", mediaType: "image/png", data: "cG5n" },
        { kind: "other", mediaType: "image/png" },
        { kind: "other", mediaType: "application/pdf" },
        { kind: "other" },
        { kind: "other" },
      ],
    });
    const [called] = fake.editor.done.filter(({ what }) => what === "invokeTool");
    expect(called!.with).toEqual(["dict_look", { input: { word: "law" }, toolInvocationToken: undefined }]);
  });

  it("give no more than a message may hold", async () => {
    const image = { mimeType: "image/png", data: bytes("png") };
    fake.lm.given = () => [
      new fake.LanguageModelTextPart("x".repeat(900_000)),
      new fake.LanguageModelTextPart("x".repeat(900_000)),
      ...Array.from({ length: 3_000 }, () => image),
    ];
    const { parts } = (await use()) as { parts: { kind: string; text?: string }[] };
    expect(parts.map(({ text = "" }) => text.length).reduce((one, other) => one + other)).toBe(1_000_001);
    expect(parts.filter(({ kind }) => kind === "image")).toHaveLength(9);
    expect(parts).toHaveLength(2_001);
  });

  it("are refused when they are gone or not lent, and tell how they failed", async () => {
    await expect(use("gone")).rejects.toMatchObject({ code: "NotFound" });
    await expect(use("run_in_terminal")).rejects.toMatchObject({ code: "NotFound" });
    fake.lm.given = fails(new Error("The dictionary is closed."));
    await expect(use()).rejects.toMatchObject({ code: "Unknown", message: "The dictionary is closed." });
    fake.lm.given = fails(new fake.CancellationError());
    await expect(use()).rejects.toBeInstanceOf(fake.CancellationError);
  });
});
