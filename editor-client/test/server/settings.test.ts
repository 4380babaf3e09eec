import { describe, expect, test } from "vitest";
import manifest from "../../package.json";
import { guardedKeys, type Inspected, serverKeys, settingsFor } from "../../src/server/settings";

const keys = ["model.name", "context.threshold", "models", "permissions.allow"];
const guarded = guardedKeys(manifest);
const read = (set: Record<string, Inspected>, options = { trusted: true, apiKey: undefined as string | undefined }) =>
  settingsFor(keys, (key) => set[key], { ...options, guarded });

describe("what the server is told of the editor's settings", () => {
  test("only what somebody has set, nested by the dots", () => {
    const set = { "model.name": { globalValue: "claude-x" }, "context.threshold": { workspaceValue: 0.7 } };
    expect(read(set)).toEqual({ model: { name: "claude-x" }, context: { threshold: 0.7 } });
  });

  test("nothing is said where nothing is set, so that the user's file counts", () => {
    expect(read({ "model.name": { defaultValue: "claude" } as Inspected })).toEqual({});
  });

  test("the workspace wins over the user, and tables are laid over each other", () => {
    const set = {
      "model.name": { globalValue: "one", workspaceValue: "two" },
      "models": { globalValue: { a: { contextWindow: 1 }, b: {} }, workspaceValue: { a: { contextWindow: 2 } } },
    };
    expect(read(set)).toEqual({ model: { name: "two" }, models: { a: { contextWindow: 2 }, b: {} } });
  });

  test("a folder that is not trusted says nothing", () => {
    const set = { "model.name": { globalValue: "one", workspaceValue: "two" } };
    expect(read(set, { trusted: false, apiKey: undefined })).toEqual({ model: { name: "one" } });
  });

  test("a folder cannot loosen permissions, though the user trusts it and the editor lets it through", () => {
    const set = { "permissions.allow": { globalValue: ["Read(**)"], workspaceValue: ["Bash(*)"] } };
    expect(read(set)).toEqual({ permissions: { allow: ["Read(**)"] } });
    expect(read({ "permissions.allow": { workspaceValue: ["Bash(*)"] } })).toEqual({});
  });

  test("false and zero are values, null is none", () => {
    const set = {
      "model.name": { globalValue: null },
      "context.threshold": { globalValue: 0 },
      "permissions.allow": { globalValue: false },
    };
    expect(read(set)).toEqual({ context: { threshold: 0 }, permissions: { allow: false } });
  });

  test("a field of the settings page that was emptied is not set, and every nullable text has such a field", () => {
    expect(read({ "model.name": { globalValue: "" } })).toEqual({});
    const all = manifest.contributes.configuration.flatMap(({ properties }) => Object.entries(properties));
    const settings = new Map<string, { type?: unknown; default?: unknown; enum?: unknown }>(all);
    expect(settings.get("codelaw.model.baseUrl")).toMatchObject({ type: "string", default: "" });
    const unseen = [...settings].filter(
      ([, { type, enum: values }]) => Array.isArray(type) && type.includes("string") && values === undefined,
    );
    expect(unseen.map(([name]) => name)).toEqual([]);
  });

  test("the key of the secret storage is put in", () => {
    const set = { "model.name": { globalValue: "one" } };
    expect(read(set, { trusted: true, apiKey: "sk" })).toEqual({ model: { name: "one", apiKey: "sk" } });
  });

  test("the extension's own settings and secrets are not among the server's keys", () => {
    const all = serverKeys(manifest);
    expect(all).toContain("model.name");
    expect(all).toContain("permissions.allow");
    expect(all.filter((key) => /^(server|panel)\.|apiKey|authToken/i.test(key))).toEqual([]);
  });

  test("a manifest of another shape gives no keys", () => {
    for (const strange of [
      null,
      {},
      { contributes: [] },
      { contributes: { configuration: [null, { properties: 3 }] } },
    ]) {
      expect(serverKeys(strange)).toEqual([]);
    }
  });
});
