// @vitest-environment jsdom
import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { describe, expect, test } from "vitest";
import { Pickers } from "../../webview/parts/Pickers";
import type { State } from "../../webview/state";
import { chatOf, modelOf, type Opened, open as draw, press, shownChat, type as write, violations } from "./panel";

const part = (state: State) => <Pickers state={state} />;
const MODELS = [modelOf("claude-sonnet", 200_000, true), modelOf("claude-opus", 1_000_000), modelOf("offline", 32_000)];
const open = (start: Partial<State> = {}, answers: Parameters<typeof draw>[2] = {}): Opened =>
  draw(part, { models: MODELS, chat: shownChat("c1"), ...start }, answers);
const button = (name: RegExp): HTMLElement => screen.getByRole("button", { name });
const changes = (panel: Opened) => panel.asked("codelaw/chat/update").map(({ params }) => params);
const titles = (): (string | null)[] => [...document.querySelectorAll(".choice-title")].map((one) => one.textContent);

test("the buttons say what is in force", () => {
  const panel = open();
  expect(button(/^Mode: Agent$/)).toBeTruthy();
  expect(button(/^Model: claude-sonnet$/)).toBeTruthy();
  expect(screen.queryByRole("button", { name: /^Strategy/ }), "the usual one is no matter").toBeNull();
  panel.change({ chat: null });
  expect(screen.queryByRole("button", { name: /^Strategy/ })).toBeNull();
  panel.change({ next: { mode: "plan", model: "claude-opus", strategy: "auto", effort: null } });
  expect(
    ["Mode: Plan", "Model: claude-opus", "Strategy: auto"].map((name) => screen.getByRole("button", { name })),
  ).toHaveLength(3);
});

describe("a list", () => {
  test("opens at what is in force, and keys choose", () => {
    const panel = open();
    button(/^Mode:/).focus();
    press("Enter");
    const list = screen.getByRole("listbox", { name: "Mode" });
    expect(document.activeElement).toBe(list);
    expect(document.getElementById(list.getAttribute("aria-activedescendant") ?? "")?.textContent).toContain("Agent");
    expect(screen.getByRole("option", { selected: true }).textContent).toContain("Agent");
    press("ArrowDown");
    press("ArrowDown");
    press("Enter");
    expect(changes(panel)).toEqual([{ chatId: "c1", mode: "plan" }]);
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(document.activeElement).toBe(button(/^Mode:/));
  });

  test("has the seven strategies with a line each, and a letter leads to the next that begins with it", () => {
    const panel = open({ choosing: "strategy" });
    expect(titles()).toEqual([
      "layered",
      "full",
      "last-n",
      "summary+recent",
      "span-retrieval",
      "sliding-window",
      "auto",
    ]);
    expect([...document.querySelectorAll(".choice-hint")].every((hint) => hint.textContent.length > 10)).toBe(true);
    press("s");
    press("s");
    press(" ");
    expect(changes(panel)).toEqual([{ chatId: "c1", strategy: "span-retrieval" }]);
  });

  test("Escape, Tab and a click elsewhere close it without a choice", () => {
    const panel = open();
    for (const close of [() => press("Escape"), () => press("Tab"), () => button(/^Model:/).focus()]) {
      fireEvent.click(button(/^Mode:/));
      expect(screen.getByRole("listbox")).toBeTruthy();
      close();
      expect(screen.queryByRole("listbox")).toBeNull();
    }
    expect(changes(panel)).toEqual([]);
  });

  test("is opened from the outside, too, and one at a time", () => {
    const panel = open();
    panel.change({ choosing: "strategy" });
    expect(screen.getByRole("listbox", { name: "Strategy" })).toBe(document.activeElement);
    panel.change({ choosing: "mode" });
    expect(screen.getAllByRole("listbox")).toHaveLength(1);
    press("Escape");
    expect(panel.state().choosing).toBeNull();
  });

  test("choosing what is in force changes nothing", () => {
    const panel = open();
    fireEvent.click(button(/^Mode:/));
    press("Enter");
    expect(changes(panel)).toEqual([]);
  });

  test("without a chat the choice is for the next one", () => {
    const panel = open({ chat: null });
    fireEvent.click(button(/^Mode:/));
    fireEvent.click(screen.getAllByRole("option")[1]!);
    expect(panel.state().next.mode).toBe("ask");
    expect(panel.posted.filter(({ kind }) => kind === "request")).toEqual([]);
  });
});

describe("models that the editor lends", () => {
  const lent = { ...modelOf("editor/copilot/gpt", 64_000), provider: "editor", source: "editor" } as const;
  const all = () => screen.getByRole("listbox").textContent;

  test("stand under a heading of their own, and are chosen like others", async () => {
    const panel = open({ models: [modelOf("claude-able", 200_000, true), lent] });
    fireEvent.click(button(/^Model:/));
    expect(all()).toMatch(/claude-able.*From VS Code.*copilot/);
    expect(await violations(document.body)).toEqual([]);
    fireEvent.click(screen.getAllByRole("option")[1]!);
    expect(changes(panel)).toEqual([{ chatId: "c1", model: lent.name }]);
  });

  test("come first where no other could answer", () => {
    open({ models: [{ ...modelOf("offline", 32_000, true), provider: "offline" }, lent] });
    fireEvent.click(button(/^Model:/));
    expect(all()).toMatch(/From VS Code.*copilot.*offline/);
  });
});

describe("models of several providers", () => {
  const priced = {
    ...modelOf("claude-able", 200_000, true),
    priceIn: 2,
    priceOut: 10,
    effort: ["low", "max"],
  } as const;
  const local = { ...modelOf("ollama/qwen3:8b", 4096), provider: "ollama" };
  const texts = () => [...screen.getByRole("listbox").children].map(({ textContent }) => textContent);

  test("stand under their providers, with window, price and effort", async () => {
    open({ models: [{ ...priced, provider: "anthropic", effort: [...priced.effort] }, local] });
    fireEvent.click(button(/^Model:/));
    expect(texts()).toEqual([
      "anthropic",
      "claude-able200k tokens · $2.00 in, $10.00 out per million · effort low – max · default",
      "ollama",
      "ollama/qwen3:8b4.1k tokens",
    ]);
    expect(await violations(document.body)).toEqual([]);
  });

  test("say what another one costs that would have to read the chat", () => {
    const chat = shownChat("c1");
    const usage = { contextTokens: 50_000, contextWindow: 200_000 } as NonNullable<typeof chat.usage>;
    const other = { ...priced, name: "claude-other", current: false, effort: [...priced.effort] };
    open({ models: [{ ...priced, effort: [...priced.effort] }, other], chat: { ...chat, usage } });
    fireEvent.click(button(/^Model:/));
    const hints = [...document.querySelectorAll(".choice-hint")].map(({ textContent }) => textContent);
    expect(hints.filter((hint) => hint.includes("reading this chat costs about $0.10"))).toHaveLength(
      chat.chat.model === "claude-able" ? 1 : 2,
    );
  });

  test("need no heading where there is one", () => {
    open({ models: [{ ...priced, provider: "anthropic", effort: [...priced.effort] }] });
    fireEvent.click(button(/^Model:/));
    expect(texts()).toHaveLength(1);
  });

  test("come first where they can answer and the one in force cannot", () => {
    open({ models: [{ ...modelOf("offline", 32_000, true), provider: "offline" }, local] });
    fireEvent.click(button(/^Model:/));
    expect(texts()[1]).toMatch(/^ollama\/qwen3/);
  });

  test("are asked for when the list is opened, and what is wrong with a list is said", async () => {
    const cut = "OpenRouter lists 10000 models: the first 500 are shown, type any other.";
    const panel = open({ models: [local] }, { "codelaw/model/list": () => ({ models: [local], problems: [cut] }) });
    fireEvent.click(button(/^Model:/));
    expect(panel.asked("codelaw/model/list").map(({ params }) => params)).toEqual([{ discover: true }]);
    await waitFor(() => expect(screen.getByText(cut)).toBeTruthy());
  });
});

describe("the effort", () => {
  const able = {
    ...modelOf("claude-able", 200_000, true),
    effort: ["low", "high", "max"],
    defaultEffort: "high",
  } as const;
  const models = [{ ...able, effort: [...able.effort] }, modelOf("claude-opus", 200_000)];

  test("can be chosen where the model takes one, and the default is named", () => {
    const panel = open({ models, chat: null });
    fireEvent.click(button(/^Effort: default$/));
    expect(titles()).toEqual(["default", "low", "high", "max"]);
    expect(screen.getByText("What the model does by itself: high")).toBeTruthy();
    fireEvent.click(screen.getAllByRole("option")[3]!);
    expect(panel.state().next.effort).toBe("max");
    expect(button(/^Effort: max$/)).toBeTruthy();
  });

  test("of a chat is the server's, and is taken back by the default", () => {
    const chat = shownChat("c1");
    const panel = open({ models, chat: { ...chat, chat: { ...chat.chat, model: "claude-able", effort: "low" } } });
    fireEvent.click(button(/^Effort: low$/));
    fireEvent.click(screen.getAllByRole("option")[0]!);
    expect(changes(panel)).toEqual([{ chatId: "c1", effort: "default" }]);
  });

  test("is no matter of a model that takes none, nor stays when another model is chosen", () => {
    const panel = open({ models, chat: null, next: { mode: null, model: null, strategy: null, effort: "max" } });
    fireEvent.click(button(/^Model:/));
    fireEvent.click(screen.getAllByRole("option")[1]!);
    expect(panel.state().next).toEqual({ mode: null, model: "claude-opus", strategy: null, effort: null });
    expect(screen.queryByRole("button", { name: /^Effort/ })).toBeNull();
  });
});

describe("the models", () => {
  const field = (): HTMLInputElement => screen.getByRole("combobox", { name: /Find a model/ });

  test("are read anew when the list opens, with their windows", async () => {
    const list = () => ({ models: [...MODELS, modelOf("claude-haiku", 200_000)] });
    open({ models: [] }, { "codelaw/model/list": list });
    fireEvent.click(button(/^Model:/));
    expect(document.activeElement).toBe(field());
    await waitFor(() => expect(titles()).toEqual(["claude-sonnet", "claude-opus", "offline", "claude-haiku"]));
    expect(screen.getByText("1M tokens")).toBeTruthy();
    expect(screen.getByText("200k tokens · default")).toBeTruthy();
  });

  test("the window of the chosen one is raised by a click, with the price said", () => {
    const large = {
      ...modelOf("claude-large", 200_000, true),
      largestWindow: 1_000_000,
      priceIn: 0.1,
      priceRead: 0.01,
    };
    const models = [
      { ...large, priceSteps: [{ above: 100_000, input: 5, output: 5 }] },
      modelOf("claude-small", 200_000),
    ];
    const panel = open({ models, chat: null });
    fireEvent.click(button(/^Model:/));
    const words = "Raise its window from 200k to 1M tokens: a full request costs $0.05 from the cache, $0.50 anew";
    fireEvent.click(screen.getByRole("button", { name: words }));
    expect(panel.posted).toContainEqual({ kind: "raiseWindow", model: "claude-large" });
    expect(screen.queryByRole("dialog")).toBeNull();
    panel.change({ next: { mode: null, model: "claude-small", strategy: null, effort: null } });
    fireEvent.click(button(/^Model:/));
    expect(screen.queryByRole("button", { name: /window/ })).toBeNull();
  });

  test("are filtered by typing, and chosen by keys", () => {
    const panel = open();
    fireEvent.click(button(/^Model:/));
    write(field(), "CLAUDE");
    expect(titles()).toEqual(["claude-sonnet", "claude-opus", "CLAUDE"]);
    press("ArrowDown");
    press("Enter");
    expect(changes(panel)).toEqual([{ chatId: "c1", model: "claude-opus" }]);
    expect(document.activeElement).toBe(button(/^Model:/));
  });

  test("may have any other name", () => {
    const panel = open();
    fireEvent.click(button(/^Model:/));
    write(field(), " my-model:7b ");
    expect(titles()).toEqual(["my-model:7b"]);
    press("Enter");
    expect(changes(panel)).toEqual([{ chatId: "c1", model: "my-model:7b" }]);
  });

  test("that cannot be listed are said to be so, and a name can be typed all the same", async () => {
    const refusal = { code: "model_unavailable", message: "No network.", hint: "" };
    const panel = open(
      { models: [], chat: shownChat("c1", { chat: chatOf("c1") }) },
      { "codelaw/model/list": () => refusal },
    );
    fireEvent.click(button(/^Model:/));
    await waitFor(() => expect(screen.getByText("The models cannot be listed: No network.")).toBeTruthy());
    press("Enter");
    expect(screen.getByRole("dialog")).toBeTruthy();
    write(field(), "x");
    press("Enter");
    expect(changes(panel)).toEqual([{ chatId: "c1", model: "x" }]);
  });
});

test("axe finds nothing in the pickers, closed and open", async () => {
  const panel = open();
  expect(await violations(panel.container)).toEqual([]);
  for (const choosing of ["mode", "model", "strategy"] as const) {
    panel.change({ choosing });
    expect(await violations(panel.container)).toEqual([]);
  }
});
