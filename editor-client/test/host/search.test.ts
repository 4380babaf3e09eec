import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { FoundPlace } from "../../src/protocol/types";
import type { Wire } from "../../src/server/wire";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { searchCode } = await import("../../src/editor/search");

const place = (path: string, line: number, symbol?: string): FoundPlace => ({
  uri: `file:///w/${path}`,
  path,
  range: { start: { line, character: 0 }, end: { line: line + 3, character: 0 } },
  ...(symbol === undefined ? {} : { symbol }),
  kind: "function",
  lines: ["  def retry():", "    pass"],
  why: "defines retry",
  score: 1,
});

let asked: { query: string; token: { isCancellationRequested: boolean }; answer: (places: FoundPlace[]) => void }[];
const wire = {
  request: (_: string, params: { query: string }, token: { isCancellationRequested: boolean }) =>
    new Promise((resolve) => {
      const answer = (places: FoundPlace[]): void => resolve({ places, indexed: { files: 1, fresh: true } });
      asked.push({ query: params.query, token, answer });
    }),
} as unknown as Wire;

const typed = async (value: string): Promise<void> => {
  fake.editor.box!.type(value);
  await vi.advanceTimersByTimeAsync(1000);
};
const opened = (): unknown[] => fake.editor.done.filter(({ what }) => what === "vscode.open").map((one) => one.with);

beforeEach(() => {
  vi.useFakeTimers();
  fake.reset();
  fake.editor.folders = [{ uri: fake.Uri.file("/w"), name: "w", index: 0 }];
  fake.editor.files.set("/w/a.py", "");
  asked = [];
});
afterEach(() => vi.useRealTimers());

describe("the search of the palette", () => {
  it("asks once the user pauses, and opens the place that is picked", async () => {
    const done = searchCode(wire);
    const box = fake.editor.box!;
    box.type("re");
    await typed("retry count ");
    expect(asked.map(({ query }) => query)).toEqual(["retry count"]);
    asked[0]!.answer([place("a.py", 4, "retry"), place("b.md", 0)]);
    await vi.advanceTimersByTimeAsync(0);
    expect(box.items.map(({ label, description }) => [label, description])).toEqual([
      ["retry", "a.py:5 defines retry"],
      ["b.md:1", "defines retry"],
    ]);
    box.pick(0);
    await done;
    await vi.advanceTimersByTimeAsync(0);
    expect(opened()).toHaveLength(1);
    expect(opened()[0]).toMatchObject([{ path: "/w/a.py" }, { selection: { start: { line: 4 }, end: { line: 6 } } }]);
  });

  it("takes back what was asked before, and shows no answer to it", async () => {
    void searchCode(wire);
    await typed("one");
    await typed("two");
    expect(asked.map(({ token }) => token.isCancellationRequested)).toEqual([true, false]);
    asked[0]!.answer([place("old.py", 0)]);
    await vi.advanceTimersByTimeAsync(0);
    expect(fake.editor.box!.items).toEqual([]);
    await typed("");
    expect(asked[1]!.token.isCancellationRequested).toBe(true);
    expect(fake.editor.box!.busy).toBe(false);
  });

  it("says that nothing was found, and why the server refused", async () => {
    const failing = { request: () => Promise.reject(new Error("the folder is gone")) } as unknown as Wire;
    void searchCode(wire);
    await typed("nowhere");
    asked[0]!.answer([]);
    await vi.advanceTimersByTimeAsync(0);
    expect(fake.editor.box!.title).toContain("Nothing was found");
    void searchCode(failing);
    await typed("x");
    expect(fake.editor.box!.title).toContain("the folder is gone");
  });

  it("draws no icon that a file's words name, and hides nothing", async () => {
    void searchCode(wire);
    await typed("x");
    asked[0]!.answer([place("$(flame)\u202e.py", 0)]);
    await vi.advanceTimersByTimeAsync(0);
    expect(fake.editor.box!.items[0]!.label).toBe("$ (flame)⟨U+202E⟩.py:1");
  });
});
