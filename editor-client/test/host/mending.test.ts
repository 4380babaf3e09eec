import { beforeEach, expect, it, vi } from "vitest";
import type { SettingsFault } from "../../src/protocol/types";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { mendSettings } = await import("../../src/editor/mending");

const reading = (faults?: SettingsFault[]): never => ({ request: () => Promise.resolve({ faults }) }) as never;
const message = "It is not TOML.";

beforeEach(() => fake.reset());

it("opens the file at the line that is wrong", async () => {
  await mendSettings(reading([{ message }, { message, uri: "file:///home/me/config.toml", line: 3 }]));
  const opened = fake.editor.done.at(-1);
  expect(opened).toMatchObject({
    what: "vscode.open",
    with: [{ path: "/home/me/config.toml" }, { selection: { start: { line: 2, character: 0 } } }],
  });
});

it("opens the editor's settings where no file is wrong, or it is mended by now", async () => {
  for (const faults of [[{ message }], undefined]) {
    await mendSettings(reading(faults));
    expect(fake.editor.done.at(-1)).toMatchObject({ what: "codelaw.openSettings" });
  }
});
