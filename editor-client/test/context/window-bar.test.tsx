// @vitest-environment jsdom
import { fireEvent } from "@testing-library/preact";
import { describe, expect, test, vi } from "vitest";
import { WindowBar } from "../../webview/parts/WindowBar";
import { initial, reduce } from "../../webview/store";
import { amount, percent } from "../../src/amounts";
import { billInWords, billOf } from "../../webview/text/bill";
import { expectAccessible, inspected, REPORT, show, stateOf, turnsOf } from "./panel";

const bar = (container: Element) => container.querySelector("button.window-bar")!;
const label = (container: Element) => bar(container).getAttribute("aria-label")!;

describe("the window bar", () => {
  test("tells the newest model call's share of the window, and what turn and chat have used", async () => {
    const state = stateOf("edit");
    const { contextTokens, contextWindow } = state.chat!.usage!;
    const { container } = show(<WindowBar state={state} />);
    const share = percent(contextTokens, contextWindow);
    expect(label(container)).toContain(`Context: ${share} of ${amount(contextWindow)} tokens`);
    const turn = turnsOf(state).at(-1)!.result!.usage.totalTokens;
    expect(label(container)).toContain(`Last turn: ${amount(turn)} tokens`);
    expect(container.querySelector(".window-share")!.textContent).toContain(share);
    const used = container.querySelector(".window-used")!.getAttribute("width");
    expect(used).toBe(`${(100 * contextTokens) / contextWindow}%`);
    await expectAccessible(container);
  });

  test("sums up the chat's turns, and says at least where earlier ones are not loaded", () => {
    const state = stateOf("compaction");
    const total = turnsOf(state).reduce((sum, { result }) => sum + result!.usage.totalTokens, 0);
    expect(turnsOf(state).length).toBeGreaterThan(2);
    expect(label(show(<WindowBar state={state} />).container)).toContain(`Chat: ${amount(total)} tokens`);
    const part = { ...state, chat: { ...state.chat!, earlier: true } };
    const { container } = show(<WindowBar state={part} />);
    expect(label(container)).toContain(`Chat: at least ${amount(total)} tokens`);
    expect(container.querySelector(".window-bill")!.getAttribute("data-bill")).toContain(`≥ ${amount(total)}`);
  });

  test("tells about the size after a compaction until the next model call", () => {
    const state = stateOf("compaction", ({ event }) => event.kind === "compaction" && event.phase === "finished");
    expect(label(show(<WindowBar state={state} />).container)).toContain("Context: about ");
    expect(label(show(<WindowBar state={stateOf("compaction")} />).container)).not.toContain("about");
  });

  test("marks from where the chat is compacted, once a report of that window told it", () => {
    const state = inspected(stateOf("plain"), { counts: false });
    const { contextWindow } = state.chat!.usage!;
    const report = { ...REPORT, contextWindow, threshold: contextWindow / 2 };
    const known = show(<WindowBar state={{ ...state, context: { ...state.context, report } }} />).container;
    expect(known.querySelector(".trigger")!.getAttribute("x1")).toBe("50%");
    const other = { ...report, contextWindow: contextWindow + 1 };
    const unknown = show(<WindowBar state={{ ...state, context: { ...state.context, report: other } }} />).container;
    expect(unknown.querySelector(".trigger")).toBeNull();
  });

  test("says what the page of the context says, until something else was sent", () => {
    const record = stateOf("plain");
    const before = { ...record, server: { ...record.server, phase: "ready" as const } };
    const report = { ...REPORT, totalTokens: 12_300, contextWindow: 100_000 };
    const looked = reduce(before, { kind: "context", report, archive: null, problem: null });
    expect(label(show(<WindowBar state={looked} />).container)).toContain("Context: about 12 % of 100k tokens");
    const chat = looked.chat!;
    const event = { ...chat.usage!, contextTokens: 30_000, contextWindow: 100_000 };
    const turnId = chat.entries.findLast(({ kind }) => kind === "turn")!.id;
    const said = { chatId: chat.chat.id, turnId, seq: chat.lastSeq + 1, at: 1, event };
    const sent = reduce(looked, { kind: "events", events: [said] });
    expect(label(show(<WindowBar state={sent} />).container)).toContain("Context: 30 % of 100k tokens");
  });

  test("leads to the context, also before the first message", () => {
    const inspect = vi.fn(() => Promise.resolve());
    const { container } = show(<WindowBar state={initial(null)} />, { inspect });
    expect(label(container)).toBe("Context: nothing sent yet");
    fireEvent.click(bar(container));
    expect(inspect).toHaveBeenCalledOnce();
  });
});

describe("amounts", () => {
  test("have three digits and a unit", () => {
    expect([0, 999, 1000, 12_345, 161_234, 200_000, 999_499, 999_500, 1_048_576].map(amount)).toEqual([
      "0",
      "999",
      "1k",
      "12.3k",
      "161k",
      "200k",
      "999k",
      "1M",
      "1.05M",
    ]);
  });

  test("small parts are not nothing", () => {
    expect([percent(0, 10), percent(1, 1000), percent(1, 8), percent(5, 0)]).toEqual(["0 %", "< 1 %", "13 %", "0 %"]);
  });

  test("a price that only some turns have is a least price", () => {
    const [turn] = turnsOf(stateOf("plain"));
    const priced = { ...turn!, result: { ...turn!.result!, usage: { ...turn!.result!.usage, costUsd: 0.25 } } };
    const free = { ...turn!, result: { ...turn!.result!, usage: { ...turn!.result!.usage, costUsd: undefined } } };
    const { totalTokens } = priced.result.usage;
    expect(billInWords(billOf([priced], false))).toBe(`${amount(totalTokens)} tokens, $0.25`);
    expect(billInWords(billOf([priced, free as never], false))).toBe(
      `at least ${amount(2 * totalTokens)} tokens, $0.25`,
    );
    expect(billInWords(billOf([free as never], false))).toBe(`${amount(totalTokens)} tokens`);
  });
});
