// @vitest-environment jsdom
import { fireEvent, screen } from "@testing-library/preact";
import { describe, expect, test } from "vitest";
import type { ChangedFile } from "../../src/messages";
import { PendingFiles } from "../../webview/parts/PendingFiles";
import type { State } from "../../webview/state";
import { reduce } from "../../webview/store";
import { expectAccessible, show, stateOf } from "./panel";

const file = (path: string, kind: ChangedFile["kind"] = "modified"): ChangedFile => ({
  uri: `file:///w/${encodeURIComponent(path)}`,
  path,
  kind,
  isText: true,
});
const chatId = stateOf("edit").chat!.chat.id;
const waiting = (files: ChangedFile[], total = files.length, id = chatId): State =>
  reduce(stateOf("edit"), { kind: "pending", chatId: id, files, total });

describe("the files that wait", () => {
  test("are kept, undone and compared, all at once or one by one", async () => {
    const { told, container } = show(<PendingFiles state={waiting([file("a b.py"), file("gone.py", "deleted")])} />);
    expect(container.querySelector("summary")!.textContent).toBe("2 files changed");
    fireEvent.click(screen.getByRole("button", { name: "Keep all" }));
    fireEvent.click(screen.getByRole("button", { name: "Review" }));
    fireEvent.click(screen.getByRole("button", { name: "Keep a b.py", hidden: true }));
    fireEvent.click(screen.getByRole("button", { name: "Undo gone.py", hidden: true }));
    fireEvent.click(screen.getByRole("button", { name: "Open a b.py", hidden: true }));
    expect(screen.queryByRole("button", { name: "Open gone.py", hidden: true })).toBeNull();
    const review = { kind: "review", chatId };
    expect(told).toEqual([
      { ...review, what: "keep" },
      { ...review, what: "show" },
      { ...review, what: "keep", uris: ["file:///w/a%20b.py"] },
      { ...review, what: "undo", uris: ["file:///w/gone.py"] },
      { kind: "open", uri: "file:///w/a%20b.py", path: "a b.py" },
    ]);
    await expectAccessible(container);
  });

  test("are all undone after a question only", () => {
    const { told } = show(<PendingFiles state={waiting([file("a.py")])} />);
    fireEvent.click(screen.getByRole("button", { name: "Undo all" }));
    expect(told).toEqual([]);
    fireEvent.click(screen.getByRole("button", { name: "Yes, undo" }));
    expect(told).toEqual([{ kind: "review", chatId, what: "undo" }]);
  });

  test("are not undone while a turn runs", () => {
    const state = waiting([file("a.py")]);
    show(<PendingFiles state={{ ...state, chat: { ...state.chat!, running: "t" } }} />);
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Undo all" }).disabled).toBe(true);
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Keep all" }).disabled).toBe(false);
  });

  test("count those that are not listed, and names show what they hide", () => {
    const { container } = show(<PendingFiles state={waiting([file("a\u202egpj.exe"), file("new\nline")], 5000)} />);
    expect(container.querySelector("summary")!.textContent).toBe("5,000 files changed");
    expect(container.querySelector(".pending-more")!.textContent).toBe("and 4,998 more files");
    expect(container.querySelector(".pending-list")!.textContent).toContain("U+202E");
  });

  test("are not shown where none wait, nor those of another chat", () => {
    const { container, again } = show(<PendingFiles state={waiting([])} />);
    expect(container.textContent).toBe("");
    again(<PendingFiles state={waiting([file("a.py")], 1, "other")} />);
    expect(container.textContent).toBe("");
    again(<PendingFiles state={stateOf("edit")} />);
    expect(container.textContent).toBe("");
  });
});
