import { describe, expect, test } from "vitest";
import { canBeMentioned, complete, mentionAt, spell } from "../../webview/text/mention";

/** A text with the caret at the bar. */
const typed = (marked: string): { text: string; caret: number } => {
  const caret = marked.indexOf("|");
  return { text: marked.slice(0, caret) + marked.slice(caret + 1), caret };
};
const shown = ({ text, caret }: { text: string; caret: number }): string =>
  `${text.slice(0, caret)}|${text.slice(caret)}`;

describe("which mention the caret is in", () => {
  test.each([
    ["@|", ""],
    ["@src/a|", "src/a"],
    ["see @src/a.py|", "src/a.py"],
    ["see (@src|)", "src"],
    ['"@src|"', "src"],
    ["@a.py and @b|", "b"],
    ["@src/ma|in.py and more", "src/ma"],
    ["first\n@second|", "second"],
    ['@"my fi|', "my fi"],
    ['@"my file.txt" @"other |', "other "],
    ["@докум|", "докум"],
    ["שלום @src|", "src"],
    ["🙂@src|", "src"],
    ["שלום@src|", "src"],
    ["请阅读@src|", "src"],
    ["ファイル@src/a|を読む", "src/a"],
    ["ファイル@a.pyを、次に@b|", "b"],
    ["see @symbol:|", "symbol:"],
    ["see @symbol:Shape.ar|", "symbol:Shape.ar"],
    ["see @symbol:größe|", "symbol:größe"],
    ["see @git:HEAD~|", "git:HEAD~"],
    ['see @"symbol:operator =|', "symbol:operator ="],
    ['请看@"我的 文|', "我的 文"],
  ])("%s asks for %j", (marked, prefix) => {
    const { text, caret } = typed(marked);
    expect(mentionAt(text, caret)?.prefix).toBe(prefix);
  });

  test.each([
    ["a letter before it: an address", "me@example|"],
    ["a digit before it", "4@src|"],
    ["an underscore before it", "_@src|"],
    ["a dot before it", "a.@src|"],
    ["a hyphen before it", "a-@src|"],
    ["a space behind it", "@src |"],
    ["the caret before it", "|@src"],
    ["a colon behind what is not a kind", "@see:me|"],
    ["a closed quotation", '@"my file.txt"|'],
    ["a quotation of another line", '@"my\nfile|'],
    ["nothing", "|"],
  ])("%s is none", (_, marked) => {
    const { text, caret } = typed(marked);
    expect(mentionAt(text, caret)).toBeNull();
  });
});

describe("what a mention becomes", () => {
  test.each([
    ["@re|", "README.md", "@README.md |"],
    ["see @re| now", "README.md", "see @README.md| now".replace("| ", " |")],
    ["see @re|, please", "README.md", "see @README.md|, please"],
    ["see @re|ad and go on", "README.md", "see @README.md |and go on"],
    ["(@re|)", "README.md", "(@README.md|)"],
    ["@my|", "my file.txt", '@"my file.txt" |'],
    ['@"my f|', "my file.txt", '@"my file.txt" |'],
    ['@"my fi|le.txt" is it', "my file.txt", '@"my file.txt" |is it'],
    ['@"re| and "this" stays', "README.md", '@README.md |and "this" stays'],
    ["@об|", "обзор.md", '@"обзор.md" |'],
    ["@a|", "a.", '@"a." |'],
    ["שלום @sr| עולם", "src/a.py", "שלום @src/a.py |עולם"],
    ["请阅读@re|的内容", "README.md", "请阅读@README.md|的内容"],
    ["请阅读@re|。", "README.md", "请阅读@README.md|。"],
    ["ファイル@re|adを", "README.md", "ファイル@README.md|を"],
    ["请看@文|的内容", "文档.md", '请看@"文档.md"|的内容'],
    ["请看@文|档.md的内容", "文档.md", '请看@"文档.md"|的内容'],
    ["请看@re|", "README.md", "请看@README.md |"],
    ["@re|'", "README.md", "@README.md|'"],
    ["@src/a|", "work/src/a.py", "@work/src/a.py |"],
  ])("%s with %s is %s", (marked, path, wanted) => {
    const { text, caret } = typed(marked);
    const begun = mentionAt(text, caret)!;
    expect(shown(complete(text, begun, { path, kind: "file" }))).toBe(wanted);
  });

  test.each([
    ["@sr|", "src", "@src/|"],
    ["@sr| and more", "src/", "@src/| and more"],
    ["@my|", "my files", '@"my files/|"'],
    ['@"my files/de|"', "my files/deep er", '@"my files/deep er/|"'],
  ])("in the folder of %s one goes on inside: %s gives %s", (marked, path, wanted) => {
    const { text, caret } = typed(marked);
    const next = complete(text, mentionAt(text, caret)!, { path, kind: "folder" });
    expect(shown(next)).toBe(wanted);
    expect(mentionAt(next.text, next.caret)?.prefix).toBe(`${path.replace(/\/$/, "")}/`);
  });

  test("letterless names are quoted, since bare they would be no mention", () => {
    expect(spell("__")).toBe('@"__"');
    expect(spell("a/b-c_d.py")).toBe("@a/b-c_d.py");
  });

  test("names with a quotation mark or a line break cannot be mentioned", () => {
    expect(["a.py", 'a"b.py', "a\nb"].map(canBeMentioned)).toEqual([true, false, false]);
  });
});

describe("a mention that is not a path", () => {
  const become = (marked: string, path: string, kind: "special" | "symbol"): string => {
    const { text, caret } = typed(marked);
    const begun = mentionAt(text, caret);
    if (begun === null) throw new Error("no mention");
    return shown(complete(text, begun, { path, kind }));
  };
  test.each([
    ["@|", "problems:", "special", "@problems: |"],
    ["why @gi| now", "git:diff", "special", "why @git:diff |now"],
    ["@sy|", "symbol:", "special", "@symbol:|"],
    ["@symbol:ar|", "symbol:area", "symbol", "@symbol:area |"],
    ["@symbol:gr|", "symbol:größe", "symbol", '@"symbol:größe" |'],
    ["@symbol:op|", "symbol:operator =", "symbol", '@"symbol:operator =" |'],
  ] as const)("%s becomes %s of the kind %s", (marked, path, kind, expected) => {
    expect(become(marked, path, kind)).toBe(expected);
  });
});
