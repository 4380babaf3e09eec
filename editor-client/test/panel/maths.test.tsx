// @vitest-environment jsdom
import { cleanup, render, waitFor } from "@testing-library/preact";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { Hands } from "../../webview/hands";
import type { InHand } from "../../webview/panel";
import { NOTHING, split } from "../../webview/text/blocks";
import { Markdown } from "../../webview/text/Markdown";
import { formulaAt, loadMaths } from "../../webview/text/maths";
import { htmlOf } from "../../webview/text/rendering";
import { violations } from "../input/panel";

const hands = { panel: { tell: () => undefined } } as unknown as InHand;
const part = (text: string, streaming = false) => (
  <Hands.Provider value={hands}>
    <Markdown text={text} streaming={streaming} />
  </Hands.Provider>
);
const page = (text: string): Element => {
  const place = document.createElement("div");
  place.innerHTML = htmlOf(text);
  return place;
};
const formulas = (text: string): string[] =>
  [...page(text).querySelectorAll("math")].map(({ textContent }) => textContent);

afterEach(cleanup);

describe("a formula", () => {
  beforeAll(loadMaths);

  it.each([
    ["$x^2$", "x2"],
    ["so $a_1 = b_1$, and", "a1=b1"],
    ["\\(n \\to \\infty\\)", "n→∞"],
    ["$\\alpha$-decay", "α"],
    ["($k$)", "k"],
    ["**$k$**", "k"],
    ["$5x + 3$", "5x+3"],
    ["$10$", "10"],
    ["it is $$y = 1$$ here", "y=1"],
    ["$$\ny = 1\n$$", "y=1"],
    ["We get\n$$\ny\n= 1\n$$\nat last", "y=1"],
    ["\\[\ny\n\\]", "y"],
    ["\\[ y \\]", "y"],
    ["- item\n\n  $$\n  y\n  $$", "y"],
    ["> $$\n> y\n> $$", "y"],
    ["| a |\n|---|\n| $y$ |", "y"],
  ])("in %j is shown as MathML", (text, words) => {
    expect(formulas(text)).toEqual([words]);
  });

  it("in a line of its own is a block that can be reached by keys, and in a line it is not", () => {
    expect(page("$$\ny\n$$").querySelector('.math-block[tabindex="0"] math[display="block"]')).not.toBeNull();
    expect(page("so $$y$$ is").querySelector('.math-inline math[display="block"]')).not.toBeNull();
    expect(page("so $y$ is").querySelector(".math-inline math:not([display])")).not.toBeNull();
  });

  it.each([
    "It costs $5 and $10.",
    "It costs $5, or 4$ there.",
    "$5/$10",
    "US$5 and US$6",
    "Set $HOME and $PATH.",
    "$HOME/$USER and ${x}",
    "between $1,000 and $2,000 (or 2,000$)",
    "from 5$ to 6$",
    "pid $$ and $$ again",
    "`$x$`",
    "```\n$x$\n```",
    "    $x$",
    "\\$x\\$",
    "$ x $",
    "a $x",
    "$`x`$",
    "foo\\(bar",
    "$$ is the pid.\n\nAnd more.",
  ])("is not in %j", (text) => {
    expect(formulas(text)).toEqual([]);
    expect(page(text).querySelector(".math-source")).toBeNull();
  });

  it("that cannot be shown is shown as it is written", () => {
    const bombs = ["def\\a", "newcommand\\a", "gdef\\a"].map(
      (by) => `\\${by}{${"x".repeat(1800)}}${"\\a".repeat(199)}`,
    );
    const endless = ["\\def\\a{\\a\\a}\\a", "\\let\\a=\\b\\a"];
    for (const tex of ["\\unknown{x}", "\\frac{a", "{".repeat(5000), "x".repeat(5000), ...endless, ...bombs]) {
      const shown = page(`$$\n${tex}\n$$`);
      expect(shown.querySelector("math")).toBeNull();
      expect(shown.querySelector(".math-source")!.textContent).toBe(tex);
    }
  });

  it.each([
    "\\href{javascript:alert(1)}{x}",
    "\\url{https://evil.example}",
    "\\includegraphics{https://evil.example/x.png}",
    "\\class{panel}{x} y",
    "\\style{position:fixed}{x} y",
    "\\id{root}{x}",
    "\\ref{root} \\label{root} x",
    "\\text{<img src=x onerror=alert(1)>}",
    "\\text{</mtext></math><script>alert(1)</script>}",
    "\\color{white}{x} \\colorbox{black}{y}",
    "\\raisebox{100em}{x} \\kern-99em y \\mathllap{zzz}",
    "\\data{a=b}{x} y",
  ])("does nothing but show: %s", (tex) => {
    const shown = page(`$${tex}$ and\n\n$$\n${tex}\n$$`);
    expect(shown.querySelector("a, img, script, iframe, style, svg, annotation-xml, maction, [id], [href]")).toBeNull();
    const names = [...shown.querySelectorAll("*")].flatMap((one) => one.getAttributeNames());
    const odd = names.filter((name) => /^on|^style$|src|href|color|background|^voffset|^data|^id$|^name$/i.test(name));
    expect(odd).toEqual([]);
  });

  it("is looked for in time that grows no faster than the text", () => {
    for (const marks of ["$a", "\\(", "$$", "\\[x", "$\\"]) expect(formulas(marks.repeat(20_000))).toEqual([]);
  });

  it("is the same text wherever the answer is cut while it grows", () => {
    const text = "We get\n$$\na\n= b\n$$\nand $c$\n\n\\[\nd\n\\]\n\n$$\nnever\n\nclosed $5";
    const shape = (all: string) => split(all).blocks.map((block) => ({ ...block }));
    for (const size of [1, 2, 3, 7]) {
      let cut = NOTHING;
      for (let end = size; end < text.length + size; end += size) cut = split(text.slice(0, end), cut);
      expect(cut.blocks.map((block) => ({ ...block }))).toEqual(shape(text));
    }
  });

  it("that is not at its end yet is source, and then a formula: nothing in between", () => {
    const text = "$$\nx_1 + *y* = z\n$$";
    const states = Array.from({ length: text.length }, (_, end) => {
      const shown = page(text.slice(0, end + 1));
      return shown.querySelector("math") !== null
        ? "formula"
        : shown.querySelector(".math-source") !== null
          ? "source"
          : "text";
    });
    const changes = states.filter((state, place) => state !== states[place - 1]);
    expect(changes).toEqual(["text", "source", "formula"]);
    expect(page("$$\nx_1 + *y*").querySelector("em")).toBeNull();
  });

  it("and a list of tasks have no fault that axe can see", async () => {
    const { container } = render(part("$$\nx\n$$\n\nand $y$\n\n- [x] done\n- [ ] to do"));
    expect(await violations(container)).toEqual([]);
  });

  it("in an answer that grows stays the same node when it is done", () => {
    const { container, rerender } = render(part("$$\nx\n$$\n\nFirst.\n\nSecond", true));
    const before = container.querySelector("math");
    expect(before).not.toBeNull();
    rerender(part("$$\nx\n$$\n\nFirst.\n\nSecond and", true));
    expect(container.querySelector("math")).toBe(before);
  });
});

it("shows formulas as soon as it can, and a text without one asks for nothing", async () => {
  const { container } = render(part("So $x$ is it."));
  await waitFor(() => expect(container.querySelector("math")).not.toBeNull());
});

it("knows where a formula ends", () => {
  expect(formulaAt("a $x$ b", 2)).toEqual({ tex: "x", display: false, end: 5 });
  expect(formulaAt("$a\\$b$", 0)).toEqual({ tex: "a\\$b", display: false, end: 6 });
  expect(formulaAt("\\[x\\]", 0)).toEqual({ tex: "x", display: true, end: 5 });
  expect(formulaAt("\\(x\\\\)", 0)).toBeNull();
  expect(formulaAt("$$x$$", 0)).toEqual({ tex: "x", display: true, end: 5 });
  expect(formulaAt("$x", 0)).toBeNull();
});

describe("a task", () => {
  it("is a box that cannot be changed, with its text as the label", () => {
    const { container } = render(
      part("- [x] *done* `a.py`\n- [ ] to do\n- [X] too\n\n  with more\n- none\n- [y] none"),
    );
    const boxes = [...container.querySelectorAll("input")];
    expect(boxes.map(({ checked, disabled, type }) => [checked, disabled, type])).toEqual([
      [true, true, "checkbox"],
      [false, true, "checkbox"],
      [true, true, "checkbox"],
    ]);
    expect(boxes.map(({ labels }) => labels?.[0]?.textContent.trim())).toEqual(["done a.py", "to do", "too"]);
    expect(container.textContent).toContain("[y] none");
  });

  it("is no link, no code, and nothing outside of a list", () => {
    for (const text of ["[x] done", "- [x](a.md)", "- `[x]` a", "- [x]", "- [x]done"]) {
      expect(page(text).querySelector("input")).toBeNull();
    }
  });
});
