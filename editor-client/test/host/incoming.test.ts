import { describe, expect, it, vi } from "vitest";

vi.mock("vscode", () => import("./vscode"));
const { readMessage } = await import("../../src/chat/incoming");

describe("what the panel says", () => {
  it.each([
    [{ kind: "ready" }],
    [{ kind: "request", id: 1, method: "codelaw/chat/read", params: { chatId: "c" } }],
    [{ kind: "withdraw", id: 1 }],
    [{ kind: "decide", id: 3, reply: { optionId: "once" } }],
    [{ kind: "decide", id: 3, reply: { optionId: "no", comment: "because" } }],
    [{ kind: "decide", id: 3, reply: { cancelled: true } }],
    [{ kind: "preview", id: 3 }],
    [{ kind: "showing", chatId: null }],
    [{ kind: "showing", chatId: "c" }],
    [{ kind: "focused" }],
    [{ kind: "openTab", chatId: null }],
    [{ kind: "openTab", chatId: "c" }],
    [{ kind: "open", path: 'src/it\'s "a" file.py', line: 3 }],
    [{ kind: "open", uri: "file:///w/a.py", line: 3, endLine: 5 }],
    [{ kind: "openExternal", url: "https://example.org" }],
    [{ kind: "copy", text: "" }],
    [{ kind: "raiseWindow", model: "claude-sonnet-5-5" }],
    [{ kind: "showText", title: "make stdout", text: "one\ntwo" }],
    [{ kind: "insert", text: "x" }],
    [{ kind: "diff", chatId: "c", turnId: "t", uri: "file:///w/a.py", path: "a.py" }],
    [{ kind: "accept", chatId: "c", turnId: "t", uris: [] }],
    [{ kind: "review", chatId: "c", what: "show", turnId: "t" }],
    [{ kind: "review", chatId: "c", what: "undo", uris: ["file:///w/a%20b.py"] }],
    [{ kind: "export", chatId: "c", format: "json", title: "" }],
    [{ kind: "pickFiles" }],
    [{ kind: "dropped", uris: ["file:///w/a.py"] }],
    [{ kind: "addSelection" }],
    [{ kind: "command", command: "codelaw.setKey" }],
  ])("is taken as it is: %j", (message) => {
    expect(readMessage(message)).toEqual(message);
  });

  it.each<[string, unknown]>([
    ["no object", null],
    ["a text", "ready"],
    ["a list", [{ kind: "ready" }]],
    ["no kind", {}],
    ["a kind of Object's own", { kind: "constructor" }],
    [
      "a method that is not a request of the protocol",
      { kind: "request", id: 1, method: "workspace/applyEdit", params: {} },
    ],
    ["a method of Object's own", { kind: "request", id: 1, method: "toString", params: {} }],
    ["the end of the server", { kind: "request", id: 1, method: "shutdown", params: {} }],
    ["trust in a folder", { kind: "request", id: 1, method: "codelaw/workspace/trust", params: { folder: "/w" } }],
    ["an id that is a text", { kind: "request", id: "1", method: "codelaw/chat/list", params: {} }],
    ["an id that is not a number", { kind: "withdraw", id: NaN }],
    ["an answer without an option", { kind: "decide", id: 1, reply: {} }],
    ["an answer that is not an object", { kind: "decide", id: 1, reply: "allow" }],
    ["a place without a name", { kind: "open", line: 1 }],
    ["a name with NUL", { kind: "open", path: "a\0.py" }],
    ["a name without end", { kind: "open", path: "a".repeat(10_000) }],
    ["line 0", { kind: "open", path: "a.py", line: 0 }],
    ["half a line", { kind: "open", path: "a.py", line: 1.5 }],
    ["a line that is a text", { kind: "open", path: "a.py", line: "1" }],
    ["an address that is not text", { kind: "openExternal", url: { toString: "https://x" } }],
    ["a text that is none", { kind: "copy", text: 1 }],
    ["a text without end", { kind: "insert", text: "a".repeat(16_000_001) }],
    ["a review of nothing known", { kind: "review", chatId: "c", what: "delete" }],
    ["a review of files that are none", { kind: "review", chatId: "c", what: "keep", uris: [7] }],
    ["a diff without a path", { kind: "diff", chatId: "c", turnId: "t", uri: "file:///w/a.py" }],
    ["uris that are none", { kind: "accept", chatId: "c", turnId: "t", uris: [1] }],
    ["uris without end", { kind: "dropped", uris: new Array(201).fill("file:///w/a.py") }],
    ["another format", { kind: "export", chatId: "c", format: "exe", title: "" }],
    ["a command that is not for the panel", { kind: "command", command: "workbench.action.terminal.new" }],
    ["a command of Object's own", { kind: "command", command: "__proto__" }],
  ])("is left alone: %s", (_what, message) => {
    expect(readMessage(message)).toBeNull();
  });

  it("is made of known fields only", () => {
    const message = { kind: "open", path: "a.py", scheme: "vscode", line: 2 };
    expect(readMessage(message)).toEqual({ kind: "open", path: "a.py", line: 2 });
  });

  it("keeps no empty reason, and no option beside a cancel", () => {
    const reply = { optionId: "no", comment: "  ", cancelled: false };
    expect(readMessage({ kind: "decide", id: 1, reply })).toEqual({ kind: "decide", id: 1, reply: { optionId: "no" } });
    const both = { optionId: "yes", cancelled: true };
    expect(readMessage({ kind: "decide", id: 1, reply: both })).toEqual({
      kind: "decide",
      id: 1,
      reply: { cancelled: true },
    });
  });
});
