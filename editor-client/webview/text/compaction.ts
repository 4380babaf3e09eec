// Compactions in words.
import type { CompactionReport } from "../../src/protocol/types";
import type { Compaction } from "../state";
import { amount } from "./amounts";
import { many, span } from "./words";

const WHY_NOT: Partial<Record<CompactionReport["reason"], string>> = {
  rounds_not_enough: "There is nothing to archive yet: the chat has too few finished rounds.",
  below_low_water: "There is nothing to do: the chat is small enough already.",
  paused: "Compactions are paused after three failures; one that you ask for tries again.",
  cancelled: "The compaction was cancelled. The history is as it was.",
};

/** What a compaction does just now, or how it ended: one or more sentences. */
export function compactionInWords(phase: Compaction["phase"], report: CompactionReport | null): string[] {
  if (phase === "started") return ["Compacting: choosing what to archive…"];
  if (phase === "summarising") return ["Compacting: the model writes a summary…"];
  if (report === null) return [phase === "finished" ? "The chat was compacted." : "The history is as it was."];
  if (!report.compacted) {
    return [report.message === "" ? (WHY_NOT[report.reason] ?? "The history is as it was.") : report.message];
  }
  const { roundsArchived, roundsKept, tokensBefore, tokensAfter, seconds, thinned, summary, message } = report;
  const done = roundsArchived > 0 ? `${many(roundsArchived, "round")} archived, ${roundsKept} kept` : "";
  const shortened = thinned > 0 ? `${many(thinned, "old result")} shortened to one line` : "";
  return [
    `${amount(tokensBefore)} → ${amount(tokensAfter)} tokens in ${span(seconds)}.`,
    `${[done, shortened].filter((part) => part !== "").join("; ")}.`,
    ...(roundsArchived > 0 ? [summary === "model" ? "Summary by the model." : "Cut without a summary."] : []),
    ...(message === "" ? [] : [message]),
  ].filter((sentence) => sentence !== ".");
}
