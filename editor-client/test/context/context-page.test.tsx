// @vitest-environment jsdom
import { fireEvent, screen, waitFor, within } from "@testing-library/preact";
import { describe, expect, test, vi } from "vitest";
import { ContextPage } from "../../webview/parts/ContextPage";
import { compactionInWords } from "../../webview/text/compaction";
import { ARCHIVE, expectAccessible, inspected, REPORT, show, stateOf } from "./panel";

const state = inspected(stateOf("edit"));
const part = (container: Element, layer: string) => container.querySelector(`.segment[data-layer="${layer}"]`)!;
const places = (element: Element) => ["x", "width"].map((name) => parseFloat(element.getAttribute(name)!));

describe("the bar of the window", () => {
  test("shows every group at its place and with its share, what is free, and the trigger", () => {
    const { container } = show(<ContextPage state={state} />);
    expect(places(part(container, "L1"))).toEqual([0, 1.5]);
    expect(places(part(container, "law"))).toEqual([1.5, 0.45]);
    expect(places(part(container, "summaries"))).toEqual([1.95, 1.2]);
    expect(places(part(container, "history"))[1]).toBeCloseTo(26.17, 2);
    expect(places(part(container, "turn"))[1]).toBeCloseTo(7.225, 3);
    const [x, width] = places(part(container, "free"));
    expect(x! + width!).toBeCloseTo(100, 6);
    expect(container.querySelector(".context-bar .trigger")!.getAttribute("x1")).toBe("80%");
  });

  test("tells groups by pattern and by name, not by colour alone", () => {
    const { container } = show(<ContextPage state={state} />);
    const fills = ["L1", "law", "summaries", "history", "turn"].map((layer) =>
      part(container, layer).getAttribute("fill"),
    );
    expect(new Set(fills).size).toBe(5);
    const lines = [...container.querySelectorAll("pattern path")].map((path) => path.getAttribute("d"));
    expect(new Set(lines).size).toBe(5);
    const bar = screen.getByRole("img", { name: /73.1k of 200k tokens/ });
    expect(bar.getAttribute("aria-label")).toContain(
      "Law 900, Summaries 2.4k, History 52.3k, This turn 14.4k, free 127k",
    );
    expect(bar.getAttribute("aria-label")).toContain("Compacted from 160k");
  });

  test("a context that is larger than the window still fits in the bar", () => {
    const report = { ...REPORT, contextWindow: 50_000, threshold: 40_000 };
    const { container } = show(<ContextPage state={inspected(state, { report })} />);
    const [x, width] = places(part(container, "turn"));
    expect(x! + width!).toBeCloseTo(100, 6);
    expect(places(part(container, "free"))[1]).toBe(0);
  });

  test("an entry of the legend leads to the sections of its group", () => {
    const scrolled = vi.fn();
    Element.prototype.scrollIntoView = scrolled;
    show(<ContextPage state={state} />);
    fireEvent.click(screen.getByRole("button", { name: /^Law/ }));
    expect(scrolled).toHaveBeenCalledOnce();
    expect(document.activeElement!.textContent).toContain("Law");
  });
});

describe("the sections", () => {
  test("unfold to the exact text, which is not read as Markdown or HTML", () => {
    const { container } = show(<ContextPage state={state} />);
    const question = container.querySelector<HTMLDetailsElement>('details[data-section="question"]')!;
    expect(question.querySelector("pre")).toBeNull();
    question.open = true;
    fireEvent(question, new Event("toggle"));
    expect(question.querySelector("pre")!.textContent).toBe("What <b>now</b>?");
    expect(question.querySelector("b")).toBeNull();
  });

  test("show a long text in part, and whole when asked", () => {
    const { container, told } = show(<ContextPage state={state} />);
    const history = container.querySelector<HTMLDetailsElement>('details[data-section="history"]')!;
    history.open = true;
    fireEvent(history, new Event("toggle"));
    expect(history.querySelector("pre")!.textContent).toHaveLength(20_000);
    fireEvent.click(within(history).getByRole("button", { name: "Copy" }));
    expect(told).toEqual([{ kind: "copy", text: "x".repeat(48_000) }]);
    fireEvent.click(within(history).getByRole("button", { name: "Show all (48k characters)" }));
    expect(history.querySelector("pre")!.textContent).toHaveLength(48_000);
  });

  test("say what is cut and cached, what was left out and why, and which part is over its share", () => {
    const { container } = show(<ContextPage state={state} />);
    const badges = (name: string) =>
      [...container.querySelectorAll(`[data-section="${name}"] .badge`)].map((one) => one.textContent);
    expect([badges("scratchpad"), badges("core"), badges("todo_recap")]).toEqual([["cut"], ["cached"], []]);
    expect(container.querySelector(".dropped")!.textContent).toBe("Memory: It took longer than 500 ms.");
    expect(container.querySelector('.budget tr[data-over="true"]')!.textContent).toBe("Inputover14.4k9.18k");
    expect(container.querySelector(".strategy")!.textContent).toContain("layered: 12 of 26 rounds (48 messages)");
  });
});

describe("compaction", () => {
  const compact = () => vi.fn(() => Promise.resolve());
  const phase = (wanted: string) =>
    inspected(stateOf("compaction", ({ event }) => event.kind === "compaction" && event.phase === wanted));

  test("shows its progress and can be cancelled while it runs", () => {
    const stop = compact();
    const { container, again } = show(<ContextPage state={phase("started")} />, { stop });
    expect(screen.getByText(/choosing what to archive/)).toBeTruthy();
    expect(screen.getByRole("progressbar", { name: "Compacting" })).toBeTruthy();
    expect(screen.getByRole<HTMLButtonElement>("button", { name: "Compact" }).disabled).toBe(true);
    again(<ContextPage state={phase("summarising")} />);
    expect(screen.getByText(/the model writes a summary/)).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: "Cancel compaction" }));
    expect(stop).toHaveBeenCalledOnce();
    expect(container.querySelectorAll(".archived-cut button:not(:disabled)")).toHaveLength(0);
  });

  test("tells how it ended in words", () => {
    const { container } = show(<ContextPage state={phase("finished")} />);
    const words = container.querySelector(".compaction-words")!.textContent;
    expect(words).toMatch(
      /[\d.]+k? → [\d.]+k? tokens in [\d.]+ s\. 2 rounds archived, \d+ kept\. Summary by the model\./,
    );
    expect(screen.queryByRole("progressbar")).toBeNull();
  });

  test("is begun by its button, once", async () => {
    let done = () => {};
    const compacting = vi.fn(() => new Promise<void>((resolve) => (done = resolve)));
    show(<ContextPage state={state} />, { compact: compacting });
    const button = screen.getByRole<HTMLButtonElement>("button", { name: "Compact" });
    button.click();
    await waitFor(() => expect(button.disabled).toBe(true));
    button.click();
    expect(compacting).toHaveBeenCalledOnce();
    done();
    await waitFor(() => expect(button.disabled).toBe(false));
  });

  test("a message of the server's is told word for word, and why nothing was done", () => {
    const report = {
      compacted: true,
      reason: "threshold" as const,
      roundsArchived: 14,
      roundsKept: 10,
      tokensBefore: 161_000,
      tokensAfter: 62_000,
      summary: "none" as const,
      seconds: 120.4,
      thinned: 3,
      message: "Summary generation timed out, keeping recent history only.",
    };
    expect(compactionInWords("finished", report).join(" ")).toBe(
      "161k → 62k tokens in 2 min 0 s. 14 rounds archived, 10 kept; 3 old results shortened to one line. " +
        "Cut without a summary. Summary generation timed out, keeping recent history only.",
    );
    const nothing = { ...report, compacted: false, message: "" };
    expect(compactionInWords("finished", { ...nothing, reason: "rounds_not_enough" })[0]).toContain("too few finished");
    expect(compactionInWords("cancelled", { ...nothing, reason: "cancelled" })[0]).toContain("as it was");
    expect(compactionInWords("failed", { ...nothing, reason: "summary_failed" })).toEqual([
      "The history is as it was.",
    ]);
  });

  test("is undone only after it was said what that means", async () => {
    const restore = compact();
    const { container } = show(<ContextPage state={state} />, { restore });
    const cuts = [...container.querySelectorAll("[data-checkpoint-id]")];
    expect(cuts.map((cut) => cut.getAttribute("data-checkpoint-id"))).toEqual(["second", "first"]);
    const older = within(cuts[1] as HTMLElement);
    fireEvent.click(older.getByRole("button", { name: "Undo compaction" }));
    expect(restore).not.toHaveBeenCalled();
    const question = cuts[1]!.querySelector(".confirm")!;
    expect(question.textContent).toContain("14 rounds will be sent in full again");
    expect(question.textContent).toContain("The newer one goes with it.");
    const yes = older.getByRole("button", { name: "Yes, undo" });
    await waitFor(() => expect(document.activeElement).toBe(yes));
    fireEvent.keyDown(yes, { key: "Escape" });
    const back = await older.findByRole("button", { name: "Undo compaction" });
    await waitFor(() => expect(document.activeElement).toBe(back));
    fireEvent.click(back);
    fireEvent.click(older.getByRole("button", { name: "Yes, undo" }));
    expect(restore).toHaveBeenCalledExactlyOnceWith("first");
  });

  test("the archived summary can be read", () => {
    const { container } = show(<ContextPage state={state} />);
    for (const [id, text] of [
      ["first", "## Goal\nMend add."],
      ["second", "Nothing stands in its place."],
    ]) {
      const details = container.querySelector<HTMLDetailsElement>(`[data-checkpoint-id="${id}"] details`)!;
      details.open = true;
      fireEvent(details, new Event("toggle"));
      expect(details.querySelector("pre, p")!.textContent).toBe(text);
    }
    expect(ARCHIVE.checkpoints).toHaveLength(2);
  });
});

describe("the page", () => {
  test("is left by its button and by Escape, and reads again", () => {
    const inspect = vi.fn(() => Promise.resolve());
    const { container, dispatched } = show(<ContextPage state={state} />, { inspect });
    expect(document.activeElement!.textContent).toBe("Context");
    fireEvent.click(screen.getByRole("button", { name: "Back to the chat" }));
    fireEvent.keyDown(container.querySelector(".context-body")!, { key: "Escape" });
    expect(dispatched).toEqual([
      { kind: "page", page: "chat" },
      { kind: "page", page: "chat" },
    ]);
    fireEvent.click(screen.getByRole("button", { name: "Refresh" }));
    expect(inspect).toHaveBeenCalledOnce();
  });

  test("says what is estimated, and what the vendor counts when it is asked to", () => {
    const count = vi.fn(() => Promise.resolve());
    const { container, again } = show(<ContextPage state={state} />, { count });
    const said = () => container.querySelector(".counted")!.textContent.replace(/ Count exactly$/u, "");
    expect(container.querySelector("#window-title")!.textContent).toContain("About 37 % of 200k tokens");
    expect(said()).toBe("All figures are estimates.");
    fireEvent.click(screen.getByRole("button", { name: "Count exactly" }));
    expect(count).toHaveBeenCalledOnce();
    const shown = (change: Partial<typeof REPORT>) =>
      again(<ContextPage state={inspected(state, { report: { ...REPORT, ...change } })} />);
    shown({ exactTokens: 70_000 });
    expect(said()).toBe("The vendor counts 70,000 tokens. The estimate, which the parts add up to, is 4.4 % above it.");
    shown({ exactTokens: 73_095 });
    expect(said()).toContain("is just that.");
    shown({ exactProblem: "Nobody counts tokens where this model is asked." });
    expect(said()).toBe("Nobody counts tokens where this model is asked. All figures are estimates.");
  });

  test("Escape in a question closes the question alone", () => {
    const { dispatched } = show(<ContextPage state={state} />);
    fireEvent.click(screen.getAllByRole("button", { name: "Undo compaction" })[0]!);
    fireEvent.keyDown(screen.getByRole("button", { name: "Yes, undo" }), { key: "Escape" });
    expect(dispatched).toEqual([]);
  });

  test("leads to the strategies", () => {
    const { dispatched } = show(<ContextPage state={state} />);
    fireEvent.click(screen.getByRole("button", { name: "Change the strategy" }));
    expect(dispatched).toEqual([
      { kind: "page", page: "chat" },
      { kind: "choosing", what: "strategy" },
    ]);
  });

  test("keeps what it shows while it reads, and tells what went wrong", () => {
    const problem = { code: "store_unavailable", message: "The disk is full.", hint: "Free some space." };
    const { container, again } = show(<ContextPage state={inspected(state, { loading: true })} />);
    expect(container.querySelector(".context-bar")).not.toBeNull();
    expect(container.querySelector(".context-page")!.getAttribute("aria-busy")).toBe("true");
    again(<ContextPage state={inspected(state, { report: null, problem })} />);
    expect(screen.getByRole("alert").textContent).toBe("The disk is full. Free some space.");
  });

  test("has no fault that axe can see, whatever is unfolded", async () => {
    const { container } = show(<ContextPage state={state} />);
    for (const details of container.querySelectorAll("details")) {
      details.open = true;
      fireEvent(details, new Event("toggle"));
    }
    fireEvent.click(screen.getAllByRole("button", { name: "Undo compaction" })[0]!);
    await expectAccessible(container);
  });
});
