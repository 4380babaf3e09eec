import { describe, expect, test } from "vitest";
import { server as words } from "../../src/languages/en/server";
import { METHODS, VERSION } from "../../src/protocol/types";
import { announced as read } from "../../src/server/announced";

const announced = (answer: unknown) => read(answer, words);
const server = (codelaw: unknown, version = "0.1.0") => ({
  serverInfo: { name: "codelaw", version },
  capabilities: { experimental: { codelaw } },
});

describe("servers of other versions", () => {
  test("one of this version needs no words", () => {
    expect(announced(server({ version: VERSION, methods: METHODS }))).toEqual({
      version: "0.1.0",
      methods: [...METHODS],
      message: "",
    });
  });

  test("an older one works with what both know, and what it lacks is named", () => {
    const methods = METHODS.filter((method) => method !== "codelaw/chat/fork");
    const said = announced(server({ version: VERSION, methods }, "0.0.9"));
    expect(said.methods).not.toContain("codelaw/chat/fork");
    expect(said.message).toContain("0.0.9");
    expect(said.message).toContain("chat/fork");
  });

  test("a newer one works, and the extension's update is named", () => {
    const said = announced(server({ version: VERSION + 1, methods: [...METHODS, "codelaw/chat/sing"] }));
    expect(said.message).toContain("Update the extension");
    expect(said.methods).toContain("codelaw/chat/sing");
  });

  test.each([[undefined], [null], ["text"], [{ capabilities: { experimental: [] } }], [server("no object")]])(
    "one that announces %j is told to be updated and breaks nothing",
    (answer) => {
      const said = announced(answer);
      expect(said.methods).toEqual([]);
      expect(said.message).toContain("Update the server");
    },
  );

  test("what is not a name of a method is left out", () => {
    expect(announced(server({ version: VERSION, methods: [...METHODS, 3, null] })).methods).toEqual([...METHODS]);
  });
});
