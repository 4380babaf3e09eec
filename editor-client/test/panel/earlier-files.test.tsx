// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { expect, test, vi } from "vitest";
import type { CheckpointState } from "../../src/protocol/types";
import { EarlierFiles } from "../../webview/parts/EarlierFiles";
import { expectAccessible, show } from "../context/panel";

const EDITING = { chatId: "c", turnId: "t2", before: "t1" };
const NOTHING: CheckpointState = { files: [], restored: [], conflicts: [], undoable: false };
const FILES: CheckpointState["files"] = [
  { uri: "file:///w/a.py", path: "a.py", does: "modify", changed: false },
  { uri: "file:///w/b\u202e.py", path: "b\u202e.py", does: "modify", changed: true, lost: "b.py was changed since." },
  { uri: "file:///w/c.py", path: "c.py", does: "delete", changed: true },
];

test("files are restored with what would be lost in sight, and that is undone", async () => {
  let now: CheckpointState = { ...NOTHING, files: FILES };
  const checkpoint = vi.fn(() => Promise.resolve(now));
  const restoreFiles = vi.fn(() => {
    now = { ...NOTHING, undoable: true };
    return Promise.resolve({ ...now, files: FILES, conflicts: [{ uri: "file:///w/c.py", reason: "c.py is locked." }] });
  });
  const undoRestore = vi.fn(() => {
    now = { ...NOTHING, files: FILES };
    return Promise.resolve(now);
  });
  const { container } = show(<EarlierFiles editing={EDITING} />, { checkpoint, restoreFiles, undoRestore });
  await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(3));
  expect(checkpoint).toHaveBeenCalledExactlyOnceWith("c", "t2");
  expect(container.textContent).toContain("3 files are others now");
  expect(container.textContent).toContain("would be lost: b.py was changed since.");
  expect(container.textContent).not.toContain("\u202e");
  await expectAccessible(container);
  fireEvent.click(screen.getByRole("button", { name: "Restore files, and lose those changes" }));
  await waitFor(() => expect(container.textContent).toContain("The files are as they were before this message."));
  expect(restoreFiles).toHaveBeenCalledExactlyOnceWith("c", "t2", ["file:///w/b\u202e.py"]);
  expect(container.textContent).toContain("c.py is locked.");
  await expectAccessible(container);
  fireEvent.click(screen.getByRole("button", { name: "Undo the restore" }));
  await waitFor(() => expect(container.querySelectorAll("li")).toHaveLength(3));
  expect(undoRestore).toHaveBeenCalledExactlyOnceWith("c", "t2");
});

test("files are kept, and nothing is said where all are as they were", async () => {
  const restoreFiles = vi.fn(() => Promise.resolve(NOTHING));
  const files = [FILES[0]!];
  const { container } = show(<EarlierFiles editing={EDITING} />, {
    checkpoint: () => Promise.resolve({ ...NOTHING, files }),
    restoreFiles,
  });
  fireEvent.click(await screen.findByRole("button", { name: "Keep files" }));
  expect(container.querySelector(".earlier-files")).toBeNull();
  expect(restoreFiles).not.toHaveBeenCalled();
});
