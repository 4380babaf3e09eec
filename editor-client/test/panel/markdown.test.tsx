// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/preact";
import { afterEach, describe, expect, it } from "vitest";
import type { FromPanel } from "../../src/messages";
import { Hands } from "../../webview/hands";
import type { InHand } from "../../webview/panel";
import { ansiHtml, plain } from "../../webview/text/ansi";
import { NOTHING, split, type Block } from "../../webview/text/blocks";
import { fileInCode, filesInText, targetOf } from "../../webview/text/links";
import { Markdown } from "../../webview/text/Markdown";
import { htmlOf, sanitised } from "../../webview/text/rendering";

const posted: FromPanel[] = [];
const hands = { panel: { tell: (message: FromPanel) => posted.push(message) } } as unknown as InHand;
const show = (text: string, streaming = false) =>
  render(
    <Hands.Provider value={hands}>
      <Markdown text={text} streaming={streaming} />
    </Hands.Provider>,
  );

afterEach(() => {
  cleanup();
  posted.length = 0;
});

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<iframe src='https://evil.example'></iframe>",
  "<svg><a xlink:href='javascript:alert(1)'>x</a></svg>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java&#115;cript:alert(1))",
  "[x](data:text/html;base64,PHNjcmlwdD4=)",
  "[x](command:workbench.action.terminal.new)",
  "[x](vscode://evil.extension/run)",
  "[x](vscode-insiders:open)",
  "[x](vbscript:msgbox)",
  "[x](blob:https://evil.example/1)",
  "[x](//evil.example/share)",
  "[x](\\\\\\\\evil\\\\share)",
  "[x](%2F%2Fevil.example/share)",
  "[x](javascript%3Aalert(1))",
  "![x](https://evil.example/pixel.png)",
  "![x](data:image/svg+xml;base64,AAAA)",
  "![](javascript:alert(1))",
  '[x](https://evil.example/"onmouseover="alert(1))',
  '[x](https://evil.example "title\\" onclick=\\"alert(1)")',
  '<https://evil.example/"><script>alert(1)</script>>',
  "```html\n<script>alert(1)</script>\n```",
  '```"><script>alert(1)</script>\ncode\n```',
  "- ```\n  <img src=x onerror=alert(1)>\n  ```",
  "`<img src=x onerror=alert(1)>`",
  "| a |\n|---|\n| <b onclick=alert(1)>x</b> |",
  "<style>* { display: none }</style>",
  '<p style="position:fixed" id="root" name="x">x</p>',
  "<form action='https://evil.example'><input name=q></form>",
  "[a]: javascript:alert(1)\n\n[a]",
  "\u0000<script>alert(1)</script>",
];
const ACTS =
  "script,img,iframe,svg,object,embed,form,input,style,link,meta,base,video,audio,[style],[id],[name],[src],[srcset]";

describe("hostile Markdown", () => {
  it.each(HOSTILE)("does nothing: %j", (text) => {
    const { container } = show(text);
    const markdown = container.querySelector(".markdown")!;
    expect([...markdown.querySelectorAll(ACTS)]).toEqual([]);
    for (const node of markdown.querySelectorAll("*")) {
      expect([...node.attributes].filter(({ name }) => name.startsWith("on"))).toEqual([]);
      for (const name of ["href", "xlink:href"]) expect(["#", null]).toContain(node.getAttribute(name));
    }
    for (const link of markdown.querySelectorAll("a")) link.click();
    for (const message of posted) {
      if (message.kind === "openExternal") expect(message.url).toMatch(/^https?:\/\//);
      else expect(message.kind).toBe("open");
      if (message.kind === "open") expect(message.path).not.toMatch(/^\w{2,}:|^[/\\]{2}/);
    }
  });

  it("loses what acts also when it is HTML already", () => {
    expect(sanitised('<a href="javascript:x" onclick="y" class="k">t</a><img src="z">')).toBe('<a class="k">t</a>');
  });

  it("is quick however deep it goes", () => {
    const before = performance.now();
    for (const text of [
      "> ".repeat(3000) + "x",
      "- ".repeat(3000) + "x",
      "*".repeat(20_000),
      "[".repeat(20_000),
      "`".repeat(20_000),
    ]) {
      expect(htmlOf(text).length).toBeGreaterThan(0);
    }
    expect(performance.now() - before).toBeLessThan(10_000);
  });
});

describe("Markdown", () => {
  it("has the direction of its own text in every block, alignment as a class, and images as links", () => {
    const { container } = show("שלום\n\n| a | b |\n|--:|:-:|\n| 1 | 2 |\n\n![A cat](https://example.com/cat.png)");
    expect(container.querySelector("p")!.getAttribute("dir")).toBe("auto");
    expect([...container.querySelectorAll("td")].map((cell) => cell.className)).toEqual([
      "align-right",
      "align-center",
    ]);
    expect(container.querySelector("a.web")!.textContent).toBe("Image: A cat");
  });

  it("opens files at their lines and the web outside, by telling the extension", () => {
    const { container } = show(
      "See src/a.py:12, `lib/my file.ts:3-9`, [it](docs/read%20me.md#L7) and https://example.com/x.",
    );
    for (const link of container.querySelectorAll("a")) link.click();
    expect(posted).toEqual([
      { kind: "open", path: "src/a.py", line: 12 },
      { kind: "open", path: "lib/my file.ts", line: 3, endLine: 9 },
      { kind: "open", path: "docs/read me.md", line: 7 },
      { kind: "openExternal", url: "https://example.com/x" },
    ]);
  });

  it("has code with its language, to copy and to insert, also within a list", () => {
    const { container, getAllByText } = show("```python\nx = 1\n```\n\n- so:\n  ```js\n  y()\n  ```");
    expect([...container.querySelectorAll(".language")].map((label) => label.textContent)).toEqual(["python", "js"]);
    expect(container.querySelector(".hljs-number")!.textContent).toBe("1");
    for (const button of getAllByText("Copy")) button.click();
    for (const button of getAllByText("Insert at cursor")) button.click();
    expect(posted).toEqual([
      { kind: "copy", text: "x = 1" },
      { kind: "copy", text: "y()\n" },
      { kind: "insert", text: "x = 1" },
      { kind: "insert", text: "y()\n" },
    ]);
  });

  it("shows the beginning of an enormous block, and all of it when asked", () => {
    const line = "0123456789".repeat(8);
    const { container, getByText } = show("```\n" + `${line}\n`.repeat(13_000) + "```");
    expect(container.querySelector("pre")!.textContent.length).toBeLessThan(50_000);
    getByText("Show all 13,000 lines").click();
    return Promise.resolve().then(() => {
      expect(container.querySelector("pre")!.textContent).toHaveLength(13_000 * 81 - 1);
    });
  });

  it("renders again only what changed: earlier blocks stay the same nodes, and a growing fence the same text", () => {
    const first = "# Title\n\nSome text.\n\n```python\nx = 1\n";
    const { container, rerender } = show(first, true);
    const [title, code] = [container.querySelector("h1"), container.querySelector("pre span")!.firstChild];
    rerender(
      <Hands.Provider value={hands}>
        <Markdown text={`${first}y = 2\n`} streaming={true} />
      </Hands.Provider>,
    );
    expect(container.querySelector("h1")).toBe(title);
    expect(container.querySelector("pre span")!.firstChild).toBe(code);
    expect(code!.textContent).toBe("x = 1\ny = 2");
  });

  it("of many blocks grows at its end alone, and what has grown and is done need not be drawn", () => {
    const { container, rerender } = show(paragraphs(20), true);
    const grow = (text: string, streaming: boolean): void =>
      rerender(
        <Hands.Provider value={hands}>
          <Markdown text={text} streaming={streaming} />
        </Hands.Provider>,
      );
    const settled = (): boolean[] =>
      [...container.querySelectorAll(".stretch")].map(({ classList }) => classList.contains("settled"));
    grow(paragraphs(70), true);
    const first = [...container.querySelectorAll("p")].slice(0, 20);
    expect(settled()).toEqual([true, false, false]);
    grow(paragraphs(110), true);
    expect(settled()).toEqual([true, false, true, false]);
    expect([...container.querySelectorAll("p")].slice(0, 20)).toEqual(first);
    expect(container.querySelectorAll("p")).toHaveLength(110);
    expect(container.querySelector(".markdown")!.textContent.match(/\d+/g)).toEqual(numbers(110));
    cleanup();
    const { container: read } = show(paragraphs(110));
    expect(read.querySelectorAll(".stretch")).toHaveLength(4);
    expect(read.querySelectorAll(".settled"), "nobody has seen how high it is").toHaveLength(0);
  });
});

const numbers = (count: number): string[] => Array.from({ length: count }, (_, place) => `${place}`);
const paragraphs = (count: number): string =>
  numbers(count)
    .map((number) => `Paragraph ${number}.`)
    .join("\n\n");

const TEXTS = [
  "# A\n\nText *with* `code`\nand more.\n\n- one\n- two\n\n  still two\n\n1. x\n\n2. y\n",
  "```js\nlet a = '```';\n```\nAfter\n~~~\nother ``` fence\n~~~~\n\n    indented\n\nEnd",
  "| a | b |\n|---|---|\n| 1 | 2 |\n\nbroken | table\n|--\n\n> quote\nlazy\n\n---\nTitle\n===\n",
  "- a\n\n  ```py\n  in a list\n  ```\n- b\n\n```\nunclosed\n\n# no heading",
  "[ref]: https://example.com\n\nSee [ref].\r\n\r\nWindows\r\nlines\n\n   ```\n   indented fence\n   ```\n",
];
TEXTS.push(Array.from({ length: 90 }, (_, place) => `- point ${place}\n${place % 9 ? "" : "  - within\n"}`).join(""));
const shape = (blocks: readonly Block[]) => blocks.map((block) => ({ ...block }));

describe("blocks of a growing text", () => {
  it.each(TEXTS)("are those of the whole text, wherever it was cut: %j", (text) => {
    for (const size of [1, 3, 7]) {
      let cut = NOTHING;
      for (let end = size; end < text.length + size; end += size) cut = split(text.slice(0, end), cut);
      expect(shape(cut.blocks)).toEqual(shape(split(text).blocks));
    }
  });

  it.each(TEXTS)("have everything that is in the text: %j", (text) => {
    const all = split(text)
      .blocks.map((block) => (block.kind === "text" ? block.text : block.code))
      .join("\n");
    for (const word of text.match(/[a-z]{3,}/gi) ?? []) {
      if (word !== "js") expect(all).toContain(word);
    }
  });

  it("are cut within a long list of points, and not in one with numbers", () => {
    expect(split("- point\n".repeat(90)).blocks).toHaveLength(3);
    expect(split("1. point\n".repeat(90)).blocks).toHaveLength(1);
  });

  it("that are done stay the same objects", () => {
    const one = split("First.\n\nSecond.\n\nThird.\n\nFour");
    expect(split("First.\n\nSecond.\n\nThird.\n\nFourth", one).blocks.slice(0, 3)).toEqual(one.blocks.slice(0, 3));
    expect(split("First.\n\nSecond.\n\nThird.\n\nFourth", one).blocks[2]).toBe(one.blocks[2]);
  });
});

describe("links", () => {
  it.each([
    ["https://example.com", { kind: "web", url: "https://example.com" }],
    ["src/a.py", { kind: "file", path: "src/a.py" }],
    ["a.py:3", { kind: "file", path: "a.py", line: 3 }],
    ["C:\\code\\a.py:3", { kind: "file", path: "C:\\code\\a.py", line: 3 }],
    ["file:///home/me/a%20b.py#L2-L4", { kind: "file", path: "/home/me/a b.py", line: 2, endLine: 4 }],
    ["100%.txt", { kind: "file", path: "100%.txt" }],
    ["javascript:1", { kind: "dead" }],
    ["file://server/share/a.py", { kind: "dead" }],
    ["mailto:a@example.com", { kind: "dead" }],
    ["#section", { kind: "dead" }],
    ["http://", { kind: "dead" }],
  ])("%s", (address, target) => expect(targetOf(address)).toEqual(target));

  it.each(["os.path", "console.log(x)", "a/b", "--file=x/y.py", "x = y/z.py", "1.5", "https://example.com/a.html"])(
    "do not come of the code %s",
    (code) => expect(fileInCode(code)).toBeNull(),
  );

  it.each(["setup.py", "src/my file.py", "Makefile.in:4", 'it"s.py:1'])(
    "come of the code %s, or not, as a file name can be",
    (code) => expect(fileInCode(code) !== null).toBe(!code.includes('"')),
  );

  it("are looked for in time that grows no faster than the text", () => {
    expect(filesInText(`${"+".repeat(100_000)} a.`)).toEqual([]);
    expect(filesInText("+a/b".repeat(25_000) + ".")).toEqual([]);
  });

  it("are none of another machine", () => {
    expect(fileInCode("\\\\evil\\share\\a.py")).toBeNull();
    expect(fileInCode("C:\\src\\a.py")).not.toBeNull();
  });

  it("in running text have a folder or a line, and are not part of an address", () => {
    const found = filesInText("In src/a.py:1 and b.py:22, not e.g. or 1.2 or example.com/x or v1.2.3.");
    expect(found.map(({ target }) => target.path)).toEqual(["src/a.py", "b.py"]);
  });
});

describe("colours of programs", () => {
  it("become classes, without links and without what acts", () => {
    const html = ansiHtml("\u001b[31mred\u001b[0m <b>\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007")!;
    expect(html).toContain('<span class="ansi-red-fg">red</span>');
    expect(html).toContain("&lt;b&gt;link");
    expect(html).not.toContain("evil.example");
  });

  it("are left out of what is shown plain", () => {
    expect(ansiHtml("plain")).toBeNull();
    expect(plain("\u001b[1mbold\u001b[0m\u001b[2K 10 %\r20 %\n")).toBe("20 %\n");
  });
});
