import { describe, expect, it } from "vitest";
import { type Hunk, hunksOf, type LineEdit, rejection, withKept } from "../../src/review/hunks";
import { chunksOf, linesOf } from "../../src/review/lines";

const apply = (text: string, { from, to, text: put }: LineEdit, breaks = "\n"): string => {
  const lines = linesOf(text);
  const head = [...lines.slice(0, from.line), (lines[from.line] ?? "").slice(0, from.character)].join(breaks);
  const tail = [(lines[to.line] ?? "").slice(to.character), ...lines.slice(to.line + 1)].join(breaks);
  return head + put + tail;
};
const made = (one: readonly string[], other: readonly string[]): string[] => {
  const text: string[] = [];
  let at = 0;
  for (const { from, to, start, end } of chunksOf(one, other)) {
    text.push(...one.slice(at, from), ...other.slice(start, end));
    at = to;
  }
  return [...text, ...one.slice(at)];
};
/** Numbers that look random and are the same in every run. */
const random =
  (seed: number) =>
  (below: number): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed % below;
  };
const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join("");
const short = ({ before, after, start, end, touched }: Hunk): unknown[] => [before, after, start, end, touched];

describe("the lines that differ", () => {
  it("make the other text, whatever was done", () => {
    const any = random(7);
    for (let round = 0; round < 300; round += 1) {
      const one = Array.from({ length: any(12) }, () => "abcd"[any(4)]!);
      const other = one.flatMap((line) => (any(4) === 0 ? [] : any(5) === 0 ? [line, "x"] : [line]));
      expect(made(one, other)).toEqual(other);
    }
  });

  it("are as few as can be", () => {
    expect(chunksOf(["a", "b", "c", "d"], ["a", "c", "d", "e"])).toEqual([
      { from: 1, to: 2, start: 1, end: 1 },
      { from: 4, to: 4, start: 3, end: 4 },
    ]);
    expect(chunksOf(["a"], ["a"])).toEqual([]);
  });

  it("are found in texts without measure by the lines that stand in them once", () => {
    const one = Array.from({ length: 20_000 }, (_, line) => (line % 10 === 0 ? `mark ${line}` : `old ${line}`));
    const other = one.map((line) => line.replace("old", "new"));
    expect(made(one, other)).toEqual(other);
    expect(chunksOf(one, other).length).toBe(2000);
  });
});

describe("a part", () => {
  const before = text("one", "two", "three", "four", "five", "six", "seven");
  const after = text("one", "TWO", "three", "four", "five", "six", "6b", "seven");

  it("stands where it was made, and is taken back alone", () => {
    const [first, second] = hunksOf(before, after, after);
    expect([short(first!), short(second!)]).toEqual([
      [["two"], ["TWO"], 1, 2, false],
      [[], ["6b"], 6, 7, false],
    ]);
    expect(apply(after, rejection(after, first!, "\n")!)).toBe(after.replace("TWO", "two"));
    expect(apply(after, rejection(after, second!, "\n")!)).toBe(after.replace("6b\n", ""));
  });

  it("moves with what was typed before it", () => {
    const now = `typed\n\n${after}`.replace("four\n", "");
    const [first, second] = hunksOf(before, after, now);
    expect([first!.start, second!.start]).toEqual([3, 7]);
    expect(apply(now, rejection(now, second!, "\n")!)).toBe(now.replace("6b\n", ""));
  });

  it("stays when another one is taken back, also where it could stand a few lines further up or down", () => {
    const old = text("import os", "", "", "def f():", "    pass");
    const done = `${old.replace("os", "sys")}${text("", "", "def g():", "    pass")}`;
    const [first] = hunksOf(old, done, done);
    const now = apply(done, rejection(done, first!, "\n")!);
    expect(now).toBe(done.replace("sys", "os"));
    const [left, ...more] = hunksOf(old, done, now);
    expect(more).toEqual([]);
    expect(left!.touched).toBe(false);
    expect(apply(now, rejection(now, left!, "\n")!)).toBe(old);
  });

  it("is not forgotten while anything of it is there, whichever is taken back first", () => {
    const any = random(11);
    const line = (): string => ["a", "b", "", "}"][any(4)]!;
    for (let round = 0; round < 2000; round += 1) {
      const old = Array.from({ length: any(9) }, line);
      const done = old.flatMap((one) => (any(4) === 0 ? [] : any(4) === 0 ? [one, line()] : [one]));
      const [one, other] = [text(...old), text(...done)];
      let now = other;
      for (;;) {
        const parts = hunksOf(one, other, now);
        const edits = parts.flatMap((part) => rejection(now, part, "\n") ?? []);
        if (parts.length === 0) expect(now).toBe(one);
        const edit = edits[any(edits.length || 1)];
        if (edit === undefined) break;
        now = apply(now, edit);
      }
    }
  });

  it("in which somebody has typed is not taken back", () => {
    const now = after.replace("TWO", "TWO, mine");
    const [first, second] = hunksOf(before, after, now);
    expect(first).toMatchObject({ touched: true, start: 1, end: 2 });
    expect(rejection(now, first!, "\n")).toBeNull();
    expect(second!.touched).toBe(false);
  });

  it("that only took lines away is not taken back where something was typed beside the place", () => {
    const less = before.replace("four\n", "");
    for (const now of [less.replace("three\n", "three\nmine\n"), less.replace("five\n", "FIVE\n")]) {
      expect(hunksOf(before, less, now)).toMatchObject([{ touched: true }]);
    }
    const [part] = hunksOf(before, less, less);
    expect(apply(less, rejection(less, part!, "\n")!)).toBe(before);
  });

  it("that somebody has undone by hand is none any more", () => {
    expect(hunksOf(before, after, before)).toEqual([]);
    expect(hunksOf(before, after, after.replace("TWO", "two")).map(({ after: lines }) => lines)).toEqual([["6b"]]);
    expect(hunksOf(before, after, "")).not.toEqual([]);
  });

  it("is refused when the text is not the one in which it was found", () => {
    const [first] = hunksOf(before, after, after);
    expect(rejection(`mine\n${after}`, first!, "\n")).toBeNull();
    expect(rejection("", first!, "\n")).toBeNull();
  });

  it("keeps its name while others are kept or taken back, and is left out once it is kept itself", () => {
    const [first, second] = hunksOf(before, after, after);
    const kept = new Set([first!.id]);
    expect(hunksOf(before, after, after, kept).map(({ id }) => id)).toEqual([second!.id]);
    expect(withKept(before, after, kept)).toBe(before.replace("two", "TWO"));
    expect(withKept(before, after, new Set([first!.id, second!.id]))).toBe(after);
    expect(withKept(before, after, new Set(["other"]))).toBe(before);
  });

  it("that is there twice has two names", () => {
    const twice = text("a", "x", "b", "a", "x");
    const [first, second] = hunksOf(text("a", "b", "a"), twice, twice);
    expect(first!.id).not.toBe(second!.id);
  });

  it("at the end, without a last break, and in a text with other breaks, is taken back exactly", () => {
    const cases: [string, string][] = [
      ["a\nb", "a\nb\nc"],
      ["a\nb", "a"],
      ["a\n", "a"],
      ["a", "a\n"],
      ["", "a\n"],
      ["a\nb\n", "a\nc"],
    ];
    for (const [was, is] of cases) {
      let now = is;
      for (const hunk of hunksOf(was, is, is).reverse()) now = apply(now, rejection(now, hunk, "\n")!);
      expect(now, JSON.stringify([was, is])).toBe(was);
    }
    const crlf = "one\r\nTWO\r\nthree\r\n";
    const [part] = hunksOf("one\ntwo\nthree\n", "one\nTWO\nthree\n", crlf);
    expect(rejection(crlf, part!, "\r\n")).toEqual({
      from: { line: 1, character: 0 },
      to: { line: 2, character: 0 },
      text: "two\r\n",
    });
  });

  it("is taken back to the text before and what was typed elsewhere, whatever was done", () => {
    const any = random(11);
    let whole = 0;
    for (let round = 0; round < 300; round += 1) {
      const was = Array.from({ length: 3 + any(20) }, (_, line) => (any(3) === 0 ? "same" : `line ${line}`));
      const is = was.flatMap((line) =>
        any(6) === 0 ? [] : any(6) === 0 ? [line, "new"] : [any(6) === 0 ? `${line}!` : line],
      );
      const at = any(is.length + 1);
      let now = [...is.slice(0, at), "typed", ...is.slice(at)].join("\n");
      for (let times = 0; times < 100; times += 1) {
        const [first] = hunksOf(was.join("\n"), is.join("\n"), now).filter(({ touched }) => !touched);
        if (first === undefined) break;
        now = apply(now, rejection(now, first, "\n")!);
      }
      const lines = now.split("\n");
      expect(lines.filter((line) => line === "typed")).toHaveLength(1);
      const left = hunksOf(was.join("\n"), is.join("\n"), now);
      expect(left.every(({ touched }) => touched)).toBe(true);
      if (left.length > 0) continue;
      whole += 1;
      expect(lines.filter((line) => line !== "typed")).toEqual(was);
    }
    expect(whole).toBeGreaterThan(50);
  });
});
