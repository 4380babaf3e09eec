// @vitest-environment jsdom
import { screen } from "@testing-library/preact";
import { expect, test } from "vitest";
import type { TodoItem } from "../../src/protocol/types";
import { TodoList } from "../../webview/parts/Todo";
import { open, violations } from "./panel";

const item = (content: string, status: TodoItem["status"]): TodoItem => ({ content, status });
const ITEMS = [
  item("Read it", "completed"),
  item("Drop it", "cancelled"),
  item("Write tests", "pending"),
  item("Fix the parser", "in_progress"),
];
const summary = (): string | undefined => document.querySelector(".todo summary")?.textContent ?? undefined;

test.each([
  ["what is in progress", ITEMS, "1/3 done. Fix the parser"],
  ["else what is next", ITEMS.slice(0, 3), "1/2 done. Write tests"],
  ["else that all is done", ITEMS.slice(0, 2), "1/1 done. All done"],
])("folded it is one line that tells %s", (_, items, words) => {
  open(() => <TodoList items={items} />);
  expect(summary()).toBe(words);
  expect(document.querySelector("details")?.open).toBe(false);
});

test("nothing is shown without items", () => {
  open(() => <TodoList items={[]} />);
  expect(document.querySelector(".todo")).toBeNull();
});

test("each item tells its status by an icon and in words, and axe finds nothing", async () => {
  const { container } = open(() => <TodoList items={ITEMS} />);
  document.querySelector("details")?.setAttribute("open", "");
  const told = screen
    .getAllByRole("listitem")
    .map((one) => [one.textContent, one.querySelector("svg")?.dataset["icon"]]);
  expect(told).toEqual([
    ["Done: Read it", "check"],
    ["Dropped: Drop it", "dash"],
    ["To do: Write tests", "circle"],
    ["In progress: Fix the parser", "half"],
  ]);
  expect(await violations(container)).toEqual([]);
});
