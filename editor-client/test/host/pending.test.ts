import { describe, expect, it } from "vitest";
import type { TurnChange } from "../../src/protocol/types";
import { type ChatMarks, marked, NO_MARKS, pendingOf } from "../../src/review/pending";

const change = (number: number, uri: string, kind: TurnChange["kind"] = "modified", turnId = "t1"): TurnChange => ({
  turnId,
  uri,
  path: uri,
  kind,
  number,
  isText: true,
});
const none = new Set<string>();
const marks = (files: Record<string, number>, all = 0): ChatMarks => ({
  all,
  files: Object.fromEntries(Object.entries(files).map(([uri, number]) => [uri, { number, parts: [] }])),
});

describe("the files that wait", () => {
  it("are what all turns did in all", () => {
    const found = pendingOf(
      [
        change(1, "a", "created"),
        change(2, "b"),
        change(3, "gone", "created"),
        change(4, "a", "modified", "t2"),
        change(5, "gone", "deleted", "t2"),
        change(6, "b", "deleted", "t2"),
        change(7, "__proto__"),
      ],
      NO_MARKS,
      none,
    );
    expect(found.map(({ uri, kind, number, turns }) => [uri, kind, number, turns])).toEqual([
      ["a", "created", 4, ["t1", "t2"]],
      ["b", "deleted", 6, ["t1", "t2"]],
      ["__proto__", "modified", 7, ["t1"]],
    ]);
  });

  it("are without what is kept, by file, by turn or in all", () => {
    const changes = [change(1, "a", "created"), change(2, "b"), change(3, "a", "modified", "t2")];
    expect(pendingOf(changes, marks({ a: 1 }), none)).toMatchObject([
      { uri: "b", above: 0 },
      { uri: "a", kind: "modified", above: 1, turns: ["t2"] },
    ]);
    expect(pendingOf(changes, NO_MARKS, new Set(["t1"]))).toMatchObject([{ uri: "a", above: 1 }]);
    expect(pendingOf(changes, marks({}, 2), none)).toMatchObject([{ uri: "a", above: 2 }]);
    expect(pendingOf(changes, marks({}, 3), none)).toEqual([]);
  });
});

describe("marks", () => {
  it("are one number as soon as nothing waits", () => {
    const changes = [change(1, "a"), change(2, "b")];
    const one = marked(NO_MARKS, { a: { number: 1, parts: [] } }, changes);
    expect(one).toEqual(marks({ a: 1 }));
    expect(marked(one, { b: { number: 2, parts: [] } }, changes)).toEqual(marks({}, 2));
    expect(marked(marks({}, 9), {}, [])).toEqual(marks({}, 9));
  });

  it("of files that nobody has changed any more are left out", () => {
    expect(marked(marks({ gone: 4, a: 1 }), {}, [change(5, "a")])).toEqual(marks({ a: 1 }));
  });
});
