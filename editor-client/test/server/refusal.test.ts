import { expect, test } from "vitest";
import { server as words } from "../../src/languages/en/server";
import { Refusal, refusalOf } from "../../src/server/refusal";

const error = (code: number, data?: unknown) => Object.assign(new Error("said"), { code, data });

test.each([
  ["a refusal", error(-32803, { code: "chat_busy", message: "Busy", hint: "Wait" }), "chat_busy", "Busy", "Wait"],
  ["a withdrawn request", error(-32800), "cancelled", "The request was cancelled.", ""],
  ["a connection that was closed", error(-32097), "disconnected", "The connection to the server is gone.", ""],
  ["one that never was", error(-32099), "disconnected", "The connection to the server is gone.", ""],
  ["wrong params", error(-32602, { errors: [] }), "invalid_params", "said", ""],
])("%s keeps its meaning", (_name, thrown, code, message, hint) => {
  expect(refusalOf(thrown, words).problem).toEqual({ code, message, hint });
});

test("whatever is thrown becomes a refusal with words", () => {
  for (const thrown of [undefined, null, "text", 3, {}, new Error("")]) {
    expect(refusalOf(thrown, words).code).toBe("internal_error");
    expect(refusalOf(thrown, words).message).not.toBe("");
  }
});

test("a refusal stays the one it is", () => {
  const refusal = new Refusal("chat_busy", "Busy");
  expect(refusalOf(refusal, words)).toBe(refusal);
});
