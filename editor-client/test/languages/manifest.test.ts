import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LANGUAGES } from "../../src/languages/tables";
import { wayOut } from "../../src/ways";

const read = (name: string): string => readFileSync(new URL(`../../${name}`, import.meta.url), "utf8");
const table = (language: string): Record<string, string> =>
  JSON.parse(read(language === "en" ? "package.nls.json" : `package.nls.${language}.json`)) as Record<string, string>;
const manifest = JSON.parse(read("package.json")) as {
  contributes: {
    viewsContainers: Record<string, { id: string }[]>;
    commands: { title: string }[];
    walkthroughs: { steps: { title: string; description: string }[] }[];
  };
};

describe("the words of package.json", () => {
  const named = [...new Set([...read("package.json").matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key))];

  it.each(LANGUAGES)("are all there in %s, and no other", (language) => {
    expect(Object.keys(table(language)).sort()).toEqual([...named].sort());
    expect(Object.values(table(language))).not.toContain("");
  });

  it("stand in the tables: of commands and of the first steps", () => {
    const { commands, walkthroughs } = manifest.contributes;
    const words = [
      ...commands.map(({ title }) => title),
      ...walkthroughs.flatMap(({ steps }) => steps.flatMap(({ title, description }) => [title, description])),
    ];
    expect(words.filter((one) => !/^%.+%$/.test(one))).toEqual([]);
  });

  it("name the same commands in every language", () => {
    const links = (text: string): string[] => [...text.matchAll(/\(command:[^)]+\)/g)].map(([link]) => link);
    for (const [key, english] of Object.entries(table("en")))
      for (const language of LANGUAGES) expect(links(table(language)[key] ?? "")).toEqual(links(english));
  });
});

describe("where the chat lives", () => {
  it("is the secondary side bar, and the activity bar where an editor knows no other", () => {
    // The first place that an editor knows takes the container; a second one of that name is left alone.
    const places = Object.entries(manifest.contributes.viewsContainers);
    expect(places.map(([place]) => place)).toEqual(["secondarySidebar", "activitybar"]);
    expect(places.map(([, [container]]) => container?.id)).toEqual(["codelaw", "codelaw"]);
  });
});

describe("what helps with an error", () => {
  it.each([
    ["en", "Set API Key"],
    ["de", "API-Schlüssel setzen"],
    ["qq", "Set API Key"],
  ])("is said in the editor's language: %s", (language, title) => {
    expect(wayOut("auth_failed", language)).toMatchObject({ title, command: "codelaw.setKey" });
  });
});
