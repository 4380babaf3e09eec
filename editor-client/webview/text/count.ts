// Which figures of a context report are estimates, and what the vendor counts.
import type { ContextReport } from "../../src/protocol/types";
import { t } from "../language";

/** One or two sentences; where the vendor has counted, how far the estimate is off. */
export function countInWords({ totalTokens, exactTokens, exactProblem }: ContextReport): string {
  if (exactTokens === undefined) {
    return [exactProblem ?? "", t.allEstimates].filter((sentence) => sentence !== "").join(" ");
  }
  const off = (100 * Math.abs(totalTokens - exactTokens)) / Math.max(1, exactTokens);
  const side = totalTokens > exactTokens ? t.estimateAbove : t.estimateBelow;
  return t.vendorCounts(exactTokens, off < 0.05 ? t.justThat : side(off));
}
