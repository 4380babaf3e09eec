// Figures and states in words.
import type { TurnResult, Usage } from "../../src/protocol/types";
import { amount } from "./amounts";

const STOPPED: Record<string, string> = {
  finished: "",
  cancelled: "Stopped",
  step_limit: "Stopped at the limit of steps",
  token_limit: "Stopped at the limit of tokens",
  refused: "Refused",
  failed: "Failed",
};

/** Why a turn ended; empty where it came to its end. */
export function stopped(reason: string): string {
  return STOPPED[reason] ?? `Ended (${reason})`;
}

/** A time span: `0.4 s`, `12 s`, `3 min 5 s`. */
export function span(seconds: number): string {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** An amount of US dollars, also a very small one. */
export function cost(dollars: number): string {
  if (dollars === 0) return "$0";
  return dollars < 0.01 ? "< $0.01" : `$${dollars.toFixed(2)}`;
}

/** `3 steps`. */
export function many(count: number, one: string): string {
  return `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
}

/** The figures of a turn that has ended, the shortest that say it. */
export function figures(result: TurnResult, seconds: number | null): string[] {
  const { usage, steps } = result;
  return [
    many(steps, "step"),
    `${amount(usage.totalTokens)} tokens`,
    ...(usage.costUsd === undefined ? [] : [cost(usage.costUsd)]),
    ...(seconds === null ? [] : [span(seconds)]),
  ];
}

/** What the tokens of a turn were. */
export function inFull({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }: Usage): string {
  const count = (value: number): string => value.toLocaleString("en");
  return `${count(inputTokens)} in, ${count(cacheReadTokens)} read from the cache, ${count(cacheWriteTokens)} written to it, ${count(outputTokens)} out`;
}
