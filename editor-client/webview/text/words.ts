// Figures and states in words.
import type { TurnResult, Usage } from "../../src/protocol/types";
import { amount, cost } from "../../src/amounts";
import type { Times } from "./times";
import { t } from "../language";

const STOPPED: Record<string, string> = {
  finished: "",
  cancelled: t.stopped,
  step_limit: t.stoppedAtSteps,
  token_limit: t.stoppedAtTokens,
  refused: t.refused,
  failed: t.failed,
};

/** Why a turn ended; empty where it came to its end. */
export function stopped(reason: string): string {
  return STOPPED[reason] ?? t.ended(reason);
}

/** That the model is asked again in so many seconds, and why. */
export const againInWords = (seconds: number, attempt: number, reason: string): string =>
  t.askingAgain(seconds, attempt, reason).replace(/\.\.$/, ".");

/** A time span: `0.4 s`, `12 s`, `3 min 5 s`. */
export function span(seconds: number): string {
  if (seconds < 10) return `${Math.max(0, seconds).toFixed(1)} s`;
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** The figures of a turn that has ended, the shortest that say it. */
export function figures(result: TurnResult, times: Times | null): string[] {
  const { usage, steps } = result;
  return [
    t.steps(steps),
    `${usage.estimatedTokens === undefined ? "" : "≈ "}${t.tokens(amount(usage.totalTokens))}`,
    ...(usage.costUsd === undefined ? [] : [cost(usage.costUsd)]),
    ...(usage.cacheMiss === undefined ? [] : [t.cacheMissed(usage.cacheMiss.words)]),
    ...(times === null ? [] : [span(times.worked)]),
    ...(times === null || times.waited < 1 ? [] : [t.waitedForYou(span(times.waited))]),
  ];
}

/** What the tokens of a turn were. */
export function inFull({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }: Usage): string {
  return t.usage(inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens);
}
