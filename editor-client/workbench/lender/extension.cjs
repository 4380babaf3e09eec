// A stranger's extension that brings a model into the editor, which answers by the tests' loopback vendor, and a tool.
const vscode = require("vscode");

const URL = process.env.LENDER_URL;
const LOOP = { id: "loop", name: "Loop", family: "loop", version: "1", maxInputTokens: 190000, maxOutputTokens: 8000 };
/** What an HTTP status of the vendor's means in the editor's words. */
const ERRORS = { 403: "NoPermissions", 404: "NotFound", 429: "Blocked" };

const blockOf = (part) => {
  if (part instanceof vscode.LanguageModelTextPart) return { type: "text", text: part.value };
  if (part instanceof vscode.LanguageModelToolCallPart)
    return { type: "tool_use", id: part.callId, name: part.name, input: part.input };
  if (!(part instanceof vscode.LanguageModelToolResultPart)) throw new Error("an unknown part");
  const content = part.content.map((one) => ({ type: "text", text: one.value }));
  return { type: "tool_result", tool_use_id: part.callId, content };
};

/** As the vendor takes them: the first message is the system prompt, and roles alternate. */
const bodyOf = (messages, tools = []) => {
  const turns = [];
  for (const { role, content } of messages.slice(1)) {
    const name = role === vscode.LanguageModelChatMessageRole.User ? "user" : "assistant";
    const last = turns.at(-1);
    if (last?.role === name) last.content.push(...content.map(blockOf));
    else turns.push({ role: name, content: content.map(blockOf) });
  }
  const listed = tools.map((tool) => ({
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema ?? { type: "object" },
  }));
  return {
    model: "loop",
    max_tokens: 8000,
    stream: true,
    system: messages[0].content.map(blockOf),
    messages: turns,
    ...(listed.length > 0 ? { tools: listed } : {}),
  };
};

async function* eventsOf(response) {
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data: ")) yield JSON.parse(line.slice(6));
  }
}

async function respond(_model, messages, options, progress, token) {
  const abort = new AbortController();
  token.onCancellationRequested(() => abort.abort());
  const response = await fetch(`${URL}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "lent", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(bodyOf(messages, options.tools)),
    signal: abort.signal,
  });
  if (!response.ok) {
    const words = await response.text();
    const code = ERRORS[response.status];
    throw code === undefined ? new Error(words) : vscode.LanguageModelError[code](words);
  }
  let call;
  for await (const event of eventsOf(response)) {
    if (event.type === "content_block_start" && event.content_block.type === "tool_use")
      call = { id: event.content_block.id, name: event.content_block.name, json: "" };
    else if (event.delta?.type === "text_delta") progress.report(new vscode.LanguageModelTextPart(event.delta.text));
    else if (event.delta?.type === "input_json_delta") call.json += event.delta.partial_json;
    else if (event.type === "content_block_stop" && call !== undefined) {
      progress.report(new vscode.LanguageModelToolCallPart(call.id, call.name, JSON.parse(call.json || "{}")));
      call = undefined;
    }
  }
}

/** What becomes of a call by the word that is looked up. */
async function look({ input }, token) {
  if (input.word === "broken") throw new Error("The dictionary is closed.");
  if (input.word === "endless") await new Promise((resolve) => token.onCancellationRequested(resolve));
  const png = new vscode.LanguageModelDataPart(new TextEncoder().encode("no picture"), "image/png");
  const said = new vscode.LanguageModelTextPart(`${input.word} is a rule\nthat binds.`);
  return new vscode.LanguageModelToolResult([said, png]);
}

exports.activate = (context) => {
  const provider = {
    provideLanguageModelChatInformation: () => [{ ...LOOP, capabilities: { toolCalling: true } }],
    provideLanguageModelChatResponse: respond,
    provideTokenCount: (_model, text) => Math.ceil((typeof text === "string" ? text : "x".repeat(400)).length / 4),
  };
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider("lender", provider));
  context.subscriptions.push(vscode.lm.registerTool("lender_word", { invoke: look }));
};
