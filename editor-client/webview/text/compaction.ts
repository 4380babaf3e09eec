// Compactions in words.
import type { CompactionReport } from "../../src/protocol/types";
import type { Compaction } from "../state";
import { amount } from "../../src/amounts";
import { span } from "./words";
import { t } from "../language";

const WHY_NOT: Partial<Record<CompactionReport["reason"], string>> = {
  rounds_not_enough: t.tooFewRounds,
  below_low_water: t.smallEnough,
  paused: t.compactionsPaused,
  cancelled: t.compactionCancelled,
};

/** What a compaction does just now, or how it ended: one or more sentences. */
export function compactionInWords(phase: Compaction["phase"], report: CompactionReport | null): string[] {
  if (phase === "started") return [t.choosing];
  if (phase === "summarising") return [t.summarising];
  if (report === null) return [phase === "finished" ? t.wasCompacted : t.asItWas];
  if (!report.compacted) {
    return [report.message === "" ? (WHY_NOT[report.reason] ?? t.asItWas) : report.message];
  }
  const { roundsArchived, roundsKept, tokensBefore, tokensAfter, seconds, thinned, summary, message } = report;
  const done = roundsArchived > 0 ? t.archivedKept(roundsArchived, roundsKept) : "";
  const shortened = thinned > 0 ? t.shortenedOld(thinned) : "";
  return [
    t.cameDown(amount(tokensBefore), amount(tokensAfter), span(seconds)),
    `${[done, shortened].filter((part) => part !== "").join("; ")}.`,
    ...(roundsArchived > 0 ? [summary === "model" ? t.byTheModel : t.withoutSummary] : []),
    ...(message === "" ? [] : [message]),
  ].filter((sentence) => sentence !== ".");
}
