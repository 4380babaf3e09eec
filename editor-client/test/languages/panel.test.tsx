// @vitest-environment jsdom
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cleanup, render, screen } from "@testing-library/preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import { panel as german } from "../../src/languages/de/panel";
import { panel as english } from "../../src/languages/en/panel";
import { LANGUAGES, panelWords } from "../../src/languages/tables";
import { visibleWords } from "./words";

const WEBVIEW = join(import.meta.dirname, "../../webview");
/** Words that nobody sees, or that are the same in every language: errors of programmers, and Unicode's names. */
const NOT_SHOWN: Record<string, RegExp> = {
  "hands.ts": /a part of the panel stands outside of the panel/,
  "panel.ts": /PanelProblem/,
  "text/words.ts": /§ min § s/,
  "text/visible.ts": /: (?:[A-Z]+[ -])*[A-Z]+$/,
};

const sources = readdirSync(WEBVIEW, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));

afterEach(() => {
  cleanup();
  document.documentElement.removeAttribute("lang");
  vi.resetModules();
});

describe("a visible word of the panel", () => {
  it.each(sources)("stands in the tables of the languages, not in %s", (name) => {
    const words = visibleWords(name, readFileSync(join(WEBVIEW, name), "utf8"));
    expect(words.filter((word) => NOT_SHOWN[name]?.test(word) !== true)).toEqual([]);
  });

  it.each([
    `const a = <p>Hello</p>;`,
    `const a = <p aria-label="close">{t.x}</p>;`,
    "const a = <p title={`Open ${x}`}>{t.x}</p>;",
    `const a = <Page name="chats" />;`,
    `const a = x ? "Reading…" : t.x;`,
    `const message = "The server is gone.";`,
    "const message = `The last of ${x}`;",
  ])("would be seen in %s", (source) => {
    expect(visibleWords("a.tsx", source)).toHaveLength(1);
  });

  it.each([
    `const a = <p class="big red" id="what-is">{t.x}</p>;`,
    "const a = <p class={`part ${x}`}>{t.x}</p>;",
    `if (event.key === "Escape") stop();`,
    `const path = "M3 8h10";`,
    `import { A } from "Some Where";`,
  ])("is none in %s", (source) => {
    expect(visibleWords("a.tsx", source)).toEqual([]);
  });
});

describe("the tables", () => {
  const words = (table: object): string[] =>
    Object.entries(table).flatMap(([key, value]) => (typeof value === "string" ? [`${key}: ${value}`] : []));

  it("say something under every key", () => {
    for (const language of LANGUAGES) {
      const table = panelWords(language);
      expect(Object.values(table)).not.toContain("");
      expect(Object.keys(table)).toEqual(Object.keys(english));
    }
  });

  it("differ where the languages do", () => {
    const same = words(german).filter((entry) => words(english).includes(entry));
    expect(same.length).toBeLessThan(words(english).length / 10);
  });

  it("write figures as their language does", () => {
    expect([english.showAllLines(12345), german.showAllLines(12345)]).toEqual([
      "Show all 12,345 lines",
      "Alle 12.345 Zeilen zeigen",
    ]);
    expect([german.steps(1), german.steps(2)]).toEqual(["1 Schritt", "2 Schritte"]);
  });
});

describe("the language", () => {
  it.each([
    ["de", german],
    ["de-AT", german],
    ["en-GB", english],
    ["qq", english],
    ["", english],
  ])("for %j is found", (tag, table) => {
    expect(panelWords(tag)).toBe(table);
  });

  it.each([
    ["de", "Woran arbeiten wir?"],
    ["en", "What shall we work on?"],
    ["qq", "What shall we work on?"],
  ])("of the page is the editor's: %s", async (lang, heading) => {
    document.documentElement.lang = lang;
    const { Hands } = await import("../../webview/hands");
    const { Welcome } = await import("../../webview/parts/Welcome");
    const { rig } = await import("../panel/extension");
    const { initial } = await import("../../webview/store");
    const { panel, actions } = rig(initial(null));
    render(
      <Hands.Provider value={{ panel, actions }}>
        <Welcome />
      </Hands.Provider>,
    );
    expect(screen.getByRole("heading").textContent).toBe(heading);
  });
});
