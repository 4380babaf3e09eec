import { describe, expect, it } from "vitest";
import { applyPatch, type FilePatch, parsePatch } from "../../src/editor/patch";

const diff = (...lines: string[]): string => ["--- a/a.py", "+++ b/a.py", ...lines].join("\n");
const one = (text: string): FilePatch => {
  const [patch] = parsePatch(text) ?? [];
  if (patch === undefined) throw new Error("no patch");
  return patch;
};

describe("a diff", () => {
  it("changes lines in the middle and leaves the rest", () => {
    const patch = one(diff("@@ -1,3 +1,4 @@", " a", "-b", "+B", "+B2", " c"));
    expect(applyPatch("a\nb\nc\nd\n", patch)).toBe("a\nB\nB2\nc\nd\n");
  });

  it("may have several hunks", () => {
    const patch = one(diff("@@ -1,2 +1 @@", "-a", " b", "@@ -5 +4,2 @@", " e", "+f"));
    expect(applyPatch("a\nb\nc\nd\ne\n", patch)).toBe("b\nc\nd\ne\nf\n");
  });

  it("makes a file", () => {
    const patch = one("--- /dev/null\n+++ b/new.py\n@@ -0,0 +1,2 @@\n+x\n+y");
    expect(patch).toMatchObject({ from: null, to: "new.py" });
    expect(applyPatch("", patch)).toBe("x\ny\n");
    expect(applyPatch("already there\n", patch)).toBeNull();
  });

  it("empties a file", () => {
    expect(applyPatch("a\nb\n", one(diff("@@ -1,2 +0,0 @@", "-a", "-b")))).toBe("");
  });

  it("knows a last line without a break", () => {
    const bare = "\\ No newline at end of file";
    expect(applyPatch("a\nb", one(diff("@@ -1,2 +1,2 @@", " a", "-b", bare, "+c", bare)))).toBe("a\nc");
    expect(applyPatch("a\nb", one(diff("@@ -1,2 +1,2 @@", " a", "-b", bare, "+b")))).toBe("a\nb\n");
    expect(applyPatch("a\nb\n", one(diff("@@ -1,2 +1,2 @@", " a", "-b", "+b", bare)))).toBe("a\nb");
    expect(applyPatch("a\nb\nc", one(diff("@@ -1,2 +1 @@", "-a", " b")))).toBe("b\nc");
  });

  it("keeps the line breaks of Windows, which diffs leave out", () => {
    expect(applyPatch("a\r\nb\r\n", one(diff("@@ -1,2 +1,3 @@", " a", "-b", "+B", "+C")))).toBe("a\r\nB\r\nC\r\n");
  });

  it("does not fit a text that is another one", () => {
    const patch = one(diff("@@ -1,2 +1,2 @@", " a", "-b", "+c"));
    expect(applyPatch("a\nx\n", patch)).toBeNull();
    expect(applyPatch("a\n", patch)).toBeNull();
    expect(applyPatch("a\nb", patch)).toBeNull();
    expect(applyPatch("", patch)).toBeNull();
  });

  it("is none when it is cut short, or something else", () => {
    expect(parsePatch(diff("@@ -1,3 +1,3 @@", " a", "-b"))).toBeNull();
    expect(parsePatch(diff())).toBeNull();
    expect(parsePatch("")).toBeNull();
    expect(parsePatch("hello")).toBeNull();
    expect(parsePatch(diff("@@ -1 +1 @@", "-a", "+b", "and more"))).toBeNull();
  });

  it("may be of several files", () => {
    const text = `${diff("@@ -1 +1 @@", "-a", "+b")}\n${diff("@@ -1 +1 @@", "-c", "+d").replaceAll("a.py", "b c.py")}`;
    const patches = parsePatch(text) ?? [];
    expect(patches.map(({ to }) => to)).toEqual(["a.py", "b c.py"]);
  });
});
