import { describe, expect, test } from "vitest";
import { ago } from "../../webview/text/ago";
import { ruleInWords } from "../../webview/text/rule";
import { hasHidden, pieces } from "../../webview/text/visible";

describe("characters that are not seen", () => {
  test.each([
    ["a direction override", "rm \u202edist", "U+202E RIGHT-TO-LEFT OVERRIDE"],
    ["a direction isolate", "rm \u2066dist", "U+2066 LEFT-TO-RIGHT ISOLATE"],
    ["a zero width space", "rm\u200b dist", "U+200B ZERO WIDTH SPACE"],
    ["a no-break space", "rm\u00a0dist", "U+00A0 NO-BREAK SPACE"],
    ["an escape", "rm \u001b[2K", "U+001B ESCAPE"],
    ["a carriage return in a line", "rm dist\recho ok", "U+000D CARRIAGE RETURN"],
    ["a filler of Hangul", "rm \u3164", "U+3164 HANGUL FILLER"],
    ["a tag", "rm \u{e0041}", "U+E0041"],
    ["a variation selector", "rm\ufe0f", "U+FE0F"],
    ["an unpaired surrogate", "rm \ud800", "U+D800"],
  ])("%s is shown by its code, and nothing is lost", (_, text, name) => {
    expect(
      pieces(text)
        .filter((piece) => piece.hidden !== undefined)
        .map((piece) => piece.hidden),
    ).toEqual([name]);
    expect(
      pieces(text)
        .map((piece) => piece.text)
        .join(""),
    ).toBe(text);
  });

  test.each(["git diff\n\t--stat\r\nls", "שלום עולם", "naïve 漢字 🙂 𝒜", ""])("%j stays as it is", (text) => {
    expect(hasHidden(text)).toBe(false);
  });
});

test.each([
  ["Bash(git diff:*)", "commands that begin with “git diff”"],
  ["Bash(npm run build && ls)", "exactly this command"],
  ["Bash", "every command"],
  ["Edit(src/**)", "changes of files in “src” and below"],
  ["Edit(a [[]1].py)", "changes of “a [1].py”"],
  ["Edit(/a.py)", "changes of “a.py”"],
  ["WebFetch(docs/**)", "calls of WebFetch for files in “docs” and below"],
  ["Rename", "every call of Rename"],
])("the rule %s allows %s", (rule, words) => {
  expect(ruleInWords(rule)).toBe(words);
});

test.each([
  [0, "now"],
  [59, "now"],
  [-30, "now"],
  [61, "1 min. ago"],
  [7200, "2 hr. ago"],
  [86_400, "yesterday"],
  [86_400 * 10, "last wk."],
  [86_400 * 800, "2 yr. ago"],
])("%i seconds ago is said as %s", (seconds, words) => {
  expect(ago(10_000_000_000 - seconds, 10_000_000_000)).toBe(words);
});
