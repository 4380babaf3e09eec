// @vitest-environment jsdom
import { cleanup, fireEvent, render } from "@testing-library/preact";
import { afterEach, describe, expect, it } from "vitest";
import type { ToolCall } from "../../src/protocol/types";
import { Hands } from "../../webview/hands";
import { App } from "../../webview/parts/App";
import type { State } from "../../webview/state";
import { endOf, timesOf } from "../../webview/text/times";
import { partsOf, stepsInWords } from "../../webview/text/steps";
import { violations } from "../input/panel";
import { READY, rig } from "./extension";
import { ended, events, heard, record, run, showing, started } from "./streams";

afterEach(cleanup);

const call = (callId: string, tool: string, step: number, status: ToolCall["status"], more: object = {}): object => ({
  kind: "tool_call",
  callId,
  tool,
  title: tool,
  status,
  step,
  ...more,
});
const WAY = [
  { kind: "thought", delta: "Let me see.", step: 1 },
  call("a", "Read", 1, "completed", { args: { path: "a.py" } }),
  { kind: "answer", delta: "Now the other.", step: 2 },
  call("b", "Edit", 2, "completed", { args: { path: "a.py" } }),
  call("c", "Bash", 3, "failed", { summary: "exit code 1", args: { command: "make" } }),
  { kind: "answer", delta: "It is done.", step: 4 },
];
const said = (...what: object[]): State =>
  run(showing(record("c")), { kind: "server", server: READY }, heard(...events("c", "t1", 1, started("Go"), ...what)));
const turnIn = (state: State) => {
  const turn = state.chat!.entries[0]!;
  if (turn.kind !== "turn") throw new Error("a turn is first");
  return turn;
};

function show(state: State) {
  const hands = rig(state);
  const view = (one: State) => (
    <Hands.Provider value={hands}>
      <App state={one} />
    </Hands.Provider>
  );
  const { container, rerender } = render(view(state));
  const line = () => container.querySelector<HTMLButtonElement>(".steps-line");
  const inside = () => container.querySelector<HTMLElement>(".steps-inside")!;
  return { container, line, inside, again: (next: State) => rerender(view(next)) };
}

describe("the steps of a turn", () => {
  it("are one part, and what it came to is another", () => {
    const parts = partsOf(turnIn(said(...WAY)).items);
    expect(parts.map((part) => (part.kind === "steps" ? part.items.length : part.item.kind))).toEqual([5, "answer"]);
  });

  it("are counted: steps, files, commands and what failed", () => {
    expect(stepsInWords(turnIn(said(...WAY)).items.slice(0, 5))).toBe("3 steps · 1 file · 1 command · 1 failed");
  });

  it("leave what the user said and was warned of in its place", () => {
    const steer = { kind: "steer", id: "s", state: "told", step: 2, text: "And b.py" };
    const warning = { kind: "notice", level: "warning", code: "law_changed", message: "The law has changed." };
    const parts = partsOf(turnIn(said(...WAY.slice(0, 2), steer, ...WAY.slice(3, 5), warning)).items);
    expect(parts.map((part) => (part.kind === "steps" ? "steps" : part.item.kind))).toEqual([
      "steps",
      "steer",
      "steps",
      "notice",
    ]);
  });

  it("are shown while it runs, and fold into a line that opens when it has ended", async () => {
    const { container, line, inside, again } = show(said(...WAY));
    expect(line()).toBeNull();
    expect(inside().hidden).toBe(false);
    again(said(...WAY, ended("c", "t1", "It is done.")));
    expect(inside().hidden).toBe(true);
    expect(line()!.getAttribute("aria-expanded")).toBe("false");
    expect(container.querySelector(".turn > .answer")!.textContent.trim()).toBe("It is done.");
    expect(await violations(container)).toEqual([]);
    fireEvent.click(line()!);
    expect(inside().hidden).toBe(false);
    expect(inside().querySelector(".call-problem")!.textContent).toBe("exit code 1");
  });

  it("stay where somebody reads in them", () => {
    const { container, inside, again } = show(said(...WAY));
    container.querySelector<HTMLDetailsElement>(".thought")!.open = true;
    again(said(...WAY, ended("c", "t1")));
    expect(inside().hidden).toBe(false);
  });

  it.each(["cancelled", "failed", "step_limit"])("stay when it did not come to its end: %s", (reason) => {
    const { line, inside } = show(said(...WAY, ended("c", "t1", "", reason)));
    expect([line(), inside().hidden]).toEqual([null, false]);
  });

  it("do not fold when there is nothing to gain", () => {
    const { line, inside } = show(said(...WAY.slice(0, 2), ended("c", "t1")));
    expect([line(), inside().hidden]).toEqual([null, false]);
  });
});

describe("the time of a turn", () => {
  it("is the model's and the tools', and what it waited for the user is told apart", () => {
    const edit = (status: ToolCall["status"]) => call("b", "Edit", 1, status);
    const [first, ...more] = events(
      "c",
      "t1",
      1,
      started("Go"),
      edit("awaiting_approval"),
      edit("running"),
      edit("completed"),
      ended("c", "t1"),
    );
    const at = (seconds: number, event: (typeof more)[number]) => ({ ...event, at: first!.at + seconds });
    const timed = [2, 32, 33, 34].map((seconds, place) => at(seconds, more[place]!));
    const state = run(showing(record("c")), heard(first!, ...timed));
    expect(timesOf(turnIn(state), endOf(turnIn(state))!)).toEqual({ worked: 4, waited: 30 });
    expect(show(state).container.querySelector(".figures")!.textContent).toContain("4.0 s · waited 30 s for you");
  });

  it("ends with its result, whatever is told of it later", () => {
    const [first, answer, end, later] = events(
      "c",
      "t1",
      1,
      started("Go"),
      { kind: "answer", delta: "It goes.", step: 1 },
      ended("c", "t1"),
      { kind: "notice", level: "info", code: "reverted", message: "Undone in a.py." },
    );
    const at = (seconds: number, event: typeof first) => ({ ...event!, at: first!.at + seconds });
    const state = run(showing(record("c")), heard(first!, at(2, answer), at(9, end), at(60, later)));
    expect(show(state).container.querySelector(".figures")!.textContent).toContain("9.0 s");
  });

  it("counts questions side by side once", () => {
    const items = said(call("a", "Edit", 1, "awaiting_approval"), call("b", "Edit", 1, "awaiting_approval")).chat!
      .entries[0]!.items;
    const asked = items.map((item, place) => ({ ...item, asked: { from: 10 + place, to: 20 + place } }) as typeof item);
    expect(timesOf({ at: 0, items: asked }, 30)).toEqual({ worked: 19, waited: 11 });
  });
});
