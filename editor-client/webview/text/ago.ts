// How long ago something was.
import { t } from "../language";

const STEPS: [limit: number, seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [60, 1, "second"],
  [3600, 60, "minute"],
  [86_400, 3600, "hour"],
  [7 * 86_400, 86_400, "day"],
  [30 * 86_400, 7 * 86_400, "week"],
  [365 * 86_400, 30 * 86_400, "month"],
  [Number.POSITIVE_INFINITY, 365 * 86_400, "year"],
];
const FORMAT = new Intl.RelativeTimeFormat(t.locale, { numeric: "auto", style: "short" });

/** `at` seen from `now`, both in seconds since the epoch: "5 min. ago"; below a minute "now". */
export function ago(at: number, now: number): string {
  const past = Math.max(0, now - at);
  if (past < 60) return t.now;
  const step = STEPS.find(([limit]) => past < limit);
  return step === undefined ? "" : FORMAT.format(-Math.floor(past / step[1]), step[2]);
}
