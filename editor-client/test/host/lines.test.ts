import { describe, expect, it } from "vitest";
import { findLines, moved, placeOf, replaced } from "../../src/editor/lines";

const document = (text: string) => {
  const lines = text.split("\n");
  return { lineCount: lines.length, lineAt: (line: number) => ({ text: lines[line] ?? "" }) };
};
const spot = (line: number, character: number) => ({ line, character });
const TEXT = "a\nb\nc\nb\nd";

describe("the lines of a selection", () => {
  it.each([
    [spot(1, 2), spot(1, 2), { first: 1, end: 2 }],
    [spot(1, 2), spot(3, 1), { first: 1, end: 4 }],
    [spot(1, 0), spot(3, 0), { first: 1, end: 3 }],
  ])("from %j to %j", (start, end, place) => {
    expect(placeOf({ start, end })).toEqual(place);
  });
});

describe("lines are found again", () => {
  it.each([
    [["b"], 1, { first: 1, end: 2 }],
    [["b"], 3, { first: 3, end: 4 }],
    [["c"], 0, { first: 2, end: 3 }],
    [["b", "d"], 0, { first: 3, end: 5 }],
    [["b"], 0, null],
    [["z"], 1, null],
    [["d", ""], 4, null],
    [[""], 0, null],
  ])("%j, last seen in line %i", (lines, first, place) => {
    expect(findLines(document(TEXT), lines, first)).toEqual(place);
  });
});

it.each([
  [0, 0, "x\ny\n", 7],
  [0, 2, "", 3],
  [4, 4, "x\n", 6],
  [5, 5, "x\n", 5],
  [8, 9, "", 5],
])("a change of the lines %i to %i moves those below it", (start, end, text, line) => {
  expect(moved(5, [{ range: { start: { line: start }, end: { line: end } }, text }])).toBe(line);
});

it.each([
  [["x", "y"], "a\nx\ny\nc\nb\nd"],
  [[], "a\nc\nb\nd"],
])("%j stands in the place of a line", (lines, text) => {
  expect(replaced(document(TEXT), { first: 1, end: 2 }, lines)).toBe(text);
});
