import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

interface Setting {
  type?: string | string[];
  enum?: unknown[];
  default?: unknown;
  markdownDescription: string;
  scope: string;
  order: number;
}
interface Manifest {
  contributes: {
    configuration: { title: string; order: number; properties: Record<string, Setting> }[];
    commands: { command: string }[];
  };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const check = (script: string) =>
  promisify(execFile)(process.execPath, [`scripts/${script}`, "--check"], { cwd: root });
const manifest = JSON.parse(await readFile(`${root}/package.json`, "utf8")) as Manifest;
const settings = Object.assign({}, ...manifest.contributes.configuration.map(({ properties }) => properties)) as Record<
  string,
  Setting
>;

describe("what is generated", () => {
  test("types.ts is what the schema says", async () => {
    await expect(check("types.mjs")).resolves.toBeTruthy();
  });

  test("the settings in package.json are those of the schema", async () => {
    await expect(check("manifest.mjs")).resolves.toBeTruthy();
  });
});

describe("the settings of the extension", () => {
  test("each has a description, and a type or a choice", () => {
    expect(Object.keys(settings).length).toBeGreaterThan(50);
    for (const [name, setting] of Object.entries(settings)) {
      expect(setting.markdownDescription, name).toMatch(/\.$/);
      expect(setting.type ?? setting.enum, name).toBeDefined();
    }
  });

  test("stand in groups with a name and a place, each setting with its own place in it", () => {
    const { configuration } = manifest.contributes;
    expect(configuration.map(({ order }) => order)).toEqual(configuration.map((_group, place) => place + 1));
    expect(configuration.map(({ title }) => title)).toEqual(expect.arrayContaining(["Model", "Agents"]));
    expect(configuration.map(({ title }) => title)).not.toContain("More");
    for (const { title, properties } of configuration) {
      const places = Object.values(properties).map(({ order }) => order);
      expect(places, title).toEqual(places.map((_setting, place) => place + 1));
    }
  });

  test("a text that may be unset is a field of the settings page, and good while it is empty", () => {
    for (const name of ["codelaw.model.baseUrl", "codelaw.context.summaryModel"]) {
      expect(settings[name], name).toMatchObject({ type: "string", default: "" });
      expect(settings[name], name).not.toHaveProperty("minLength");
      expect(settings[name], name).not.toHaveProperty("pattern");
    }
  });

  test("no key and no token is among them, and the way to set the key is told", () => {
    expect(Object.keys(settings).filter((name) => /key|token$/i.test(name))).toEqual([]);
    expect(settings["codelaw.model.name"]?.markdownDescription).toContain("(command:codelaw.setKey)");
    expect(manifest.contributes.commands.map(({ command }) => command)).toContain("codelaw.setKey");
  });

  test("a folder cannot set what runs programs, opens addresses or gives permission", () => {
    const machine = /^codelaw\.(server|mcp|store|skills|hooks)\.|\.(script|path|platform)$/;
    const user = /^codelaw\.(permissions|tools|editor|prompts|law)\.|\.(baseUrl|provider)$/;
    for (const [name, { scope }] of Object.entries(settings)) {
      expect(scope, name).toBe(machine.test(name) ? "machine" : user.test(name) ? "application" : "window");
    }
    const guarded = Object.keys(settings).filter((name) => settings[name]!.scope !== "window");
    expect(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations).toEqual(guarded);
  });

  test("what may be unset takes null, also among choices", () => {
    expect(settings["codelaw.context.maxWindow"]).toMatchObject({ type: ["integer", "null"], default: null });
    expect(settings["codelaw.memory.category"]!.enum).toContain(null);
    expect(settings["codelaw.memory.category"]!.type).toContain("null");
  });
});
