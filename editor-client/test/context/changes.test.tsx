// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { describe, expect, test, vi } from "vitest";
import { Changes } from "../../webview/parts/Changes";
import type { Turn } from "../../webview/state";
import { expectAccessible, show, stateOf, turnsOf } from "./panel";

const changed = turnsOf(stateOf("edit")).find(({ result }) => result !== null && result.changes.length > 0)!;
/** As it was before it was reverted. */
const recorded: Turn = { ...changed, reverted: false };
const withChanges = (...changes: NonNullable<Turn["result"]>["changes"]): Turn => ({
  ...recorded,
  result: { ...recorded.result!, changes },
});
const turn = withChanges(
  { uri: "file:///w/src/a%20b.py", path: "src/a b.py", kind: "modified", added: 12, removed: 1 },
  { uri: "file:///w/gone.txt", path: "gone.txt", kind: "deleted", added: 0, removed: 40 },
);
const details = (container: Element) => container.querySelector<HTMLDetailsElement>(".changes")!;

describe("the changes of a turn", () => {
  test("are listed as the server tells them", async () => {
    const { container } = show(<Changes chatId="c" turn={recorded} accepted={false} />);
    const rows = [...container.querySelectorAll(".change")].map((row) => row.getAttribute("data-path"));
    expect(rows).toEqual(recorded.result!.changes.map(({ path }) => path));
    await expectAccessible(container);
  });

  test("can be compared and opened; what is gone can be compared alone", () => {
    const { told, container } = show(<Changes chatId="c" turn={turn} accepted={false} />);
    fireEvent.click(screen.getByRole("button", { name: "Diff of src/a b.py" }));
    fireEvent.click(screen.getByRole("button", { name: "Open src/a b.py" }));
    expect(told).toEqual([
      { kind: "diff", chatId: "c", turnId: turn.id, uri: "file:///w/src/a%20b.py", path: "src/a b.py" },
      { kind: "open", uri: "file:///w/src/a%20b.py", path: "src/a b.py" },
    ]);
    expect(screen.queryByRole("button", { name: "Open gone.txt" })).toBeNull();
    expect(container.querySelector("summary")!.textContent).toBe("2 files changed+12 −41");
  });

  test("that a turn made to one file are one row", () => {
    const change = { uri: "file:///w/a.py", path: "a.py", added: 2, removed: 1 };
    const twice = withChanges({ ...change, kind: "created" }, { ...change, kind: "modified" });
    const { container } = show(<Changes chatId="c" turn={twice} accepted={false} />);
    expect([...container.querySelectorAll(".change")].map((row) => row.getAttribute("data-kind"))).toEqual(["created"]);
    expect(container.querySelector("summary")!.textContent).toBe("1 file changed+4 −2");
  });

  test("a name that hides something shows what it hides", () => {
    const hostile = withChanges({ uri: "file:///x", path: "a\u202egpj.exe", kind: "created", added: 1, removed: 0 });
    const { container } = show(<Changes chatId="c" turn={hostile} accepted={false} />);
    expect(container.querySelector(".change-path")!.textContent).toContain("U+202E");
  });

  test("fold when they are accepted, and can still be reverted", async () => {
    const accept = vi.fn();
    const { container, again } = show(<Changes chatId="c" turn={turn} accepted={false} />, { accept });
    expect(details(container).open).toBe(true);
    fireEvent.click(screen.getByRole("button", { name: "Accept" }));
    expect(accept).toHaveBeenCalledExactlyOnceWith(turn);
    again(<Changes chatId="c" turn={turn} accepted={true} />);
    await waitFor(() => expect(details(container).open).toBe(false));
    expect(container.querySelector("summary .badge")!.textContent).toBe("accepted");
    expect(screen.queryByRole("button", { name: "Accept", hidden: true })).toBeNull();
    expect(screen.getByRole("button", { name: "Revert turn", hidden: true })).toBeTruthy();
  });

  test("are reverted after a question, and say so", async () => {
    const revert = vi.fn(() => Promise.resolve([]));
    const { container, again } = show(<Changes chatId="c" turn={turn} accepted={false} />, { revert });
    fireEvent.click(screen.getByRole("button", { name: "Revert turn" }));
    expect(revert).not.toHaveBeenCalled();
    const question = screen.getByRole("button", { name: "Yes, revert" }).closest(".confirm")!;
    expect(question.textContent).toContain("Put these 2 files back as the turn found them?");
    fireEvent.click(screen.getByRole("button", { name: "No" }));
    fireEvent.click(screen.getByRole("button", { name: "Revert turn" }));
    fireEvent.click(screen.getByRole("button", { name: "Yes, revert" }));
    expect(revert).toHaveBeenCalledExactlyOnceWith(turn);
    again(<Changes chatId="c" turn={{ ...turn, reverted: true }} accepted={false} />);
    await waitFor(() => expect(container.querySelector("summary .badge")!.textContent).toBe("reverted"));
    expect(screen.queryByRole("button", { name: "Revert turn", hidden: true })).toBeNull();
    expect(details(container).open).toBe(false);
  });

  test("what could not be reverted is told with its reasons, and can be tried again", async () => {
    const conflicts = [{ uri: "file:///w/src/a%20b.py", reason: "src/a b.py was changed since, at the same lines." }];
    const { container } = show(<Changes chatId="c" turn={turn} accepted={false} />, {
      revert: () => Promise.resolve(conflicts),
    });
    fireEvent.click(screen.getByRole("button", { name: "Revert turn" }));
    fireEvent.click(screen.getByRole("button", { name: "Yes, revert" }));
    await waitFor(() => expect(screen.getByRole("status").textContent).toContain(conflicts[0]!.reason));
    expect(screen.getByRole("button", { name: "Revert turn" })).toBeTruthy();
    await expectAccessible(container);
  });
});
