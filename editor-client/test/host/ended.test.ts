import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ChatEvent } from "../../src/protocol/types";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { Shown } = await import("../../src/chat/shown");
const { Ended } = await import("../../src/editor/ended");

const usage = { inputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1, totalTokens: 2 };
const ending = (stopReason: string, more: object = {}): ChatEvent =>
  ({
    chatId: "c",
    turnId: "t",
    seq: 9,
    at: 1,
    event: {
      kind: "turn_ended",
      result: {
        chatId: "c",
        turnId: "t",
        stopReason,
        answer: "It is done.",
        steps: 1,
        usage,
        notices: [],
        changes: [],
        ...more,
      },
    },
  }) as ChatEvent;
const FAILED = { error: { code: "auth_failed", message: "The key was not accepted.", hint: "" } };

const messages = (): unknown[] =>
  fake.editor.done.flatMap(({ what, with: [text] }) =>
    ["information", "warning", "error"].includes(what) ? [text] : [],
  );

let shown: InstanceType<typeof Shown>;
let panel: {
  sees: (chatId: string) => boolean;
  ended: number;
  open: ReturnType<typeof vi.fn<(chatId: string) => void>>;
};
let seen: string[];
let wanted: boolean;
let ended: InstanceType<typeof Ended>;

beforeEach(() => {
  fake.reset();
  shown = new Shown();
  shown.show("c");
  seen = [];
  panel = { sees: (chatId) => seen.includes(chatId), ended: 0, open: vi.fn<(chatId: string) => void>() };
  wanted = true;
  ended = new Ended(panel, shown, () => wanted);
});

describe("a turn that ends while nobody sees its chat", () => {
  it("is told and counted, and shown on demand", async () => {
    fake.editor.answers = ["Show"];
    await ended.event(ending("finished"));
    expect(messages()).toEqual(["codelaw has answered: It is done."]);
    expect(panel.ended).toBe(1);
    expect(panel.open).toHaveBeenCalledWith("c");
    seen = ["other"];
    ended.seen();
    expect(panel.ended, "another chat is in sight").toBe(1);
    seen = ["c"];
    ended.seen();
    expect(panel.ended).toBe(0);
  });

  it("that failed says why, with what helps", async () => {
    fake.editor.answers = ["Set API Key"];
    await ended.event(ending("failed", FAILED));
    expect(messages()).toEqual(["codelaw has failed: The key was not accepted."]);
    expect(fake.editor.done.at(-1)).toMatchObject({ what: "codelaw.setKey" });
    expect(panel.open).not.toHaveBeenCalled();
  });

  it("shows nothing that hides, and no link", async () => {
    await ended.event(ending("finished", { answer: "[x](command:evil)\u202e\n\nmore" }));
    expect(messages()).toEqual(["codelaw has answered: [x] (command:evil)⟨U+202E⟩ more"]);
  });

  it("is only counted where the setting is off", async () => {
    wanted = false;
    await ended.event(ending("step_limit"));
    expect([messages(), panel.ended]).toEqual([[], 1]);
  });
});

describe("nothing is told", () => {
  it("while its chat is in sight", async () => {
    seen = ["c"];
    await ended.event(ending("finished"));
    expect([messages(), panel.ended]).toEqual([[], 0]);
  });

  it("of what the user has stopped", async () => {
    await ended.event(ending("cancelled"));
    expect([messages(), panel.ended]).toEqual([[], 0]);
  });

  it("of a chat that the panel has never shown", async () => {
    await ended.event({ ...ending("finished"), chatId: "file" });
    expect([messages(), panel.ended]).toEqual([[], 0]);
  });

  it("of a chat that was deleted, also not on demand", async () => {
    shown.onDeleted((chatId) => ended.deleted(chatId));
    let answer: (chosen: string) => void = () => undefined;
    fake.editor.answers = [new Promise((resolve) => (answer = resolve))];
    const told = ended.event(ending("finished"));
    expect(panel.ended).toBe(1);
    shown.gone("c");
    expect(panel.ended).toBe(0);
    answer("Show");
    await told;
    await ended.event(ending("finished"));
    expect(panel.open).not.toHaveBeenCalled();
    expect(messages()).toHaveLength(1);
  });
});
