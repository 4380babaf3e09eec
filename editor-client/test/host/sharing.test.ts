import { expect, test } from "vitest";
import { questionsFor, unseenOf, type Viewed } from "../../src/chat/sharing";
import { question } from "./views";

const side = (chatId: string | null, visible = true): Viewed => ({ place: "side", chatId, visible });
const tab = (chatId: string | null, visible = true): Viewed => ({ place: "editor", chatId, visible });
const open = [question(1, "a"), question(2, "b"), question(3, "c")];
const ids = (all: readonly { id: number }[]): number[] => all.map(({ id }) => id);

test("a tab is asked what its chat asks, and the side bar all that no tab in sight shows", () => {
  const views = [side("a"), tab("b"), tab("c", false)];
  expect(views.map((view) => ids(questionsFor(view, views, open)))).toEqual([[1, 3], [2], [3]]);
});

test("views of one chat are asked the same", () => {
  const views = [side("a"), tab("a"), tab("a")];
  expect(views.map((view) => ids(questionsFor(view, views, open)))).toEqual([[1, 2, 3], [1], [1]]);
});

test("a view without a chat takes no question from another", () => {
  const views = [side(null), tab(null)];
  expect(views.map((view) => ids(questionsFor(view, views, open)))).toEqual([[1, 2, 3], []]);
});

test("nobody sees what is asked in views that are hidden", () => {
  expect(ids(unseenOf([side("a"), tab("b")], open))).toEqual([]);
  expect(ids(unseenOf([side("a", false), tab("b")], open))).toEqual([1, 3]);
  expect(ids(unseenOf([side("a", false), tab("b", false)], open))).toEqual([1, 2, 3]);
});
