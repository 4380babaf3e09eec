import { beforeEach, expect, it, vi } from "vitest";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Texts } = await import("../../src/editor/texts");

beforeEach(() => fake.reset());

const shownUri = (): fake.Uri => {
  const shown = fake.editor.done.findLast(({ what }) => what === "showTextDocument")?.with[0];
  return (shown as { uri: fake.Uri }).uri;
};

it("shows a text in a document that only it writes, under a name that a file may have", async () => {
  const texts = new Texts();
  await texts.show({ title: "make -C ../x stdout", text: "one\ntwo\n" });
  const uri = shownUri();
  expect(uri.path).toMatch(/^\/1\/[^/]+\.txt$/);
  expect(texts.provideTextDocumentContent(uri as never)).toBe("one\ntwo\n");
});

it("keeps the newest ones", async () => {
  const texts = new Texts();
  await texts.show({ title: "first", text: "first" });
  const first = shownUri();
  for (let count = 0; count < 20; count += 1) await texts.show({ title: "more", text: String(count) });
  expect(texts.provideTextDocumentContent(first as never)).toBe("");
  expect(texts.provideTextDocumentContent(shownUri() as never)).toBe("19");
});
