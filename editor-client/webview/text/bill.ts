// How full the window of a chat is, and what its turns have used.
import type { ContextReport } from "../../src/protocol/types";
import type { ChatState, Compaction, ContextState, Turn } from "../state";
import { amount, cost } from "../../src/amounts";
import { t } from "../language";

/** How full the window is; `estimated` where no model call has counted it yet. */
export interface WindowUse {
  tokens: number;
  window: number;
  estimated: boolean;
}

/** By the page of the context, the newest model call or the compaction after it, whichever is newest; null before. */
export function windowUse(chat: ChatState | null, { report, counts }: ContextState): WindowUse | null {
  if (report !== null && counts) {
    return { tokens: report.totalTokens, window: report.contextWindow, estimated: report.exactTokens === undefined };
  }
  if (chat === null || chat.usage === null) return null;
  const { contextTokens: tokens, contextWindow: window } = chat.usage;
  const last = chat.entries[chat.entries.length - 1];
  const compacted = last?.kind === "between" ? newest(last.items.filter((item) => item.kind === "compaction")) : null;
  if (compacted?.report?.compacted === true) return { tokens: compacted.report.tokensAfter, window, estimated: true };
  return { tokens, window, estimated: false };
}

/** From how many tokens a chat with this window is compacted, where a report has told it. */
export const triggerOf = (report: ContextReport | null, window: number): number | null =>
  report !== null && report.contextWindow === window && report.threshold > 0 ? report.threshold : null;

/** The newest compaction of the turns that are loaded. */
export function newestCompaction(chat: ChatState | null): Compaction | null {
  for (const { items } of [...(chat?.entries ?? [])].reverse()) {
    const found = newest(items.filter((item) => item.kind === "compaction"));
    if (found !== null) return found;
  }
  return null;
}

const newest = (items: readonly Compaction[]): Compaction | null => items[items.length - 1] ?? null;

/** What turns have used; `atLeast` when there are more of them than are known here. */
export interface Bill {
  tokens: number;
  /** Null where no price is known. */
  dollars: number | null;
  atLeast: boolean;
  /** Some of the tokens nobody has reported. */
  estimated: boolean;
}

export const billOf = (turns: readonly Turn[], earlier: boolean): Bill => {
  const used = turns.flatMap(({ result }) => (result === null ? [] : [result.usage]));
  const priced = used.flatMap(({ costUsd }) => (costUsd === undefined ? [] : [costUsd]));
  return {
    tokens: used.reduce((sum, { totalTokens }) => sum + totalTokens, 0),
    dollars: priced.length === 0 ? null : priced.reduce((sum, one) => sum + one, 0),
    atLeast: earlier || used.length < turns.length || (priced.length > 0 && priced.length < used.length),
    estimated: used.some(({ estimatedTokens = 0 }) => estimatedTokens > 0),
  };
};

/** The last turn that has ended, and the whole chat. */
export function billsOf(chat: ChatState | null): { turn: Bill | null; chat: Bill | null } {
  const turns = (chat?.entries ?? []).filter((entry) => entry.kind === "turn");
  const ended = turns.filter(({ result }) => result !== null);
  return {
    turn: ended.length === 0 ? null : billOf(ended.slice(-1), false),
    chat: ended.length === 0 ? null : billOf(turns, chat?.earlier === true),
  };
}

/** `at least 120k tokens, $0.24`; `12k tokens, estimated`. */
export const billInWords = ({ tokens, dollars, atLeast, estimated }: Bill): string =>
  [
    `${atLeast ? t.atLeast : ""}${t.tokens(amount(tokens))}`,
    ...(dollars === null ? [] : [cost(dollars)]),
    ...(estimated ? [t.estimated] : []),
  ].join(", ");
