// @vitest-environment jsdom
import { describe, expect, test } from "vitest";
import { questionsOf, walk } from "../../webview/text/recall";
import { turnOf } from "./panel";

const ASKED = ["one", "two\nlines", "three"];
const up = (recalled: number | null, text: string, caret = text.length) =>
  walk(ASKED, recalled, text, { up: true, caret });
const down = (recalled: number | null, text: string, caret = text.length) =>
  walk(ASKED, recalled, text, { up: false, caret });

describe("the arrows in the message field", () => {
  test("walk through all questions, and down to the empty field again", () => {
    expect([up(null, ""), up(2, "three"), up(1, "two\nlines", 0), up(0, "one")]).toEqual([2, 1, 0, null]);
    expect([down(0, "one"), down(1, "two\nlines"), down(2, "three")]).toEqual([1, 2, 3]);
  });

  test("belong to the field in a draft, and between the lines of a question", () => {
    expect([up(null, "draft"), down(null, ""), up(2, "three, mended")]).toEqual([null, null, null]);
    expect([up(1, "two\nlines"), down(1, "two\nlines", 0)]).toEqual([null, null]);
    expect(walk([], null, "", { up: true, caret: 0 })).toBeNull();
  });

  test("meet what was asked twice in a row once", () => {
    const entries = ["a", "b", "b", "", "c"].map((text, place) => turnOf(String(place), text));
    expect(questionsOf({ entries })).toEqual(["a", "b", "c"]);
  });
});
