import { beforeEach, expect, it, vi } from "vitest";
import type { Model } from "../../src/protocol/types";
import type { Wire } from "../../src/server/wire";
import * as fake from "./vscode";

vi.mock("vscode", () => import("./vscode"));
const { raiseWindow } = await import("../../src/chat/raising");

beforeEach(() => fake.reset());

const row = (name: string, largestWindow?: number): Model => ({
  name,
  contextWindow: 200_000,
  maxOutput: 1,
  provider: "anthropic",
  current: false,
  family: "some",
  source: "profile",
  ...(largestWindow === undefined ? {} : { largestWindow }),
});
const wire = (...models: Model[]) => ({ request: () => Promise.resolve({ models }) }) as unknown as Wire;
const set = (): unknown => fake.editor.settings.get("models")?.globalValue;

it("sets what the server says that the model has, beside what the user has set", async () => {
  fake.editor.settings.set("models", { globalValue: { large: { vision: true }, other: { contextWindow: 1 } } });
  await raiseWindow(wire(row("large", 1_000_000)), "large");
  expect(set()).toEqual({ large: { vision: true, contextWindow: 1_000_000 }, other: { contextWindow: 1 } });
});

it("sets nothing for a model that has no more, or that nobody knows", async () => {
  await raiseWindow(wire(row("small")), "small");
  await raiseWindow(wire(row("small", 1_000_000)), "made-up");
  expect(set()).toBeUndefined();
});
