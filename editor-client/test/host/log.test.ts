import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ToPanel } from "../../src/messages";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { registerLogCommands } = await import("../../src/chat/log");

interface Manifest {
  contributes: {
    commands: { command: string }[];
    menus: Record<string, { command: string; when: string }[]>;
    keybindings: { command: string; key: string }[];
  };
}
const { contributes } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as Manifest;
const said: ToPanel[] = [];

beforeEach(() => {
  fake.reset();
  said.length = 0;
  const say = (message: ToPanel): Promise<void> => {
    said.push(message);
    return Promise.resolve();
  };
  registerLogCommands({ tell: say, post: (message) => void say(message) });
});

describe("the commands of the log", () => {
  it("open the bar that finds in the page that the user is in", async () => {
    await fake.commands.executeCommand("codelaw.find");
    expect(said).toEqual([{ kind: "find" }]);
    expect(contributes.keybindings).toContainEqual(expect.objectContaining({ command: "codelaw.find", key: "ctrl+f" }));
  });

  it("say to the pages what was chosen of whose menu", async () => {
    await fake.commands.executeCommand("codelaw.log.quote", { codelawMenu: "m1", webview: "codelaw.panel" });
    await fake.commands.executeCommand("codelaw.log.openFile", { codelawMenu: "m2" });
    expect(said).toEqual([
      { kind: "menu", menu: "m1", what: "quote" },
      { kind: "menu", menu: "m2", what: "file" },
    ]);
  });

  it.each([undefined, null, "m1", {}, { codelawMenu: 1 }])("do nothing without a menu: %j", async (context) => {
    await fake.commands.executeCommand("codelaw.log.copy", context);
    expect(said).toEqual([]);
  });

  it("are all in the menu, only there, and all registered", () => {
    const own = contributes.commands.map(({ command }) => command).filter((id) => id.startsWith("codelaw.log."));
    const entries = contributes.menus["webview/context"] ?? [];
    expect(entries.map(({ command }) => command)).toEqual(expect.arrayContaining(own));
    expect(entries.every(({ when }) => when.startsWith("webviewSection == 'codelaw.log'"))).toBe(true);
    const hidden = (contributes.menus["commandPalette"] ?? []).filter(({ when }) => when === "false");
    expect(hidden.map(({ command }) => command)).toEqual(expect.arrayContaining(own));
    for (const id of own) expect(fake.editor.commands.has(id)).toBe(true);
  });
});
