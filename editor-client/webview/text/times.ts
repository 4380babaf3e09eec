// How long a turn took: what the model and the tools needed, and apart from it what it waited for the user.
import type { Turn } from "../state";

/** Seconds. */
export interface Times {
  worked: number;
  waited: number;
}

/** The times of a turn up to `until`, in seconds since the epoch. */
export function timesOf({ at, items }: Pick<Turn, "at" | "items">, until: number): Times {
  const asked = items
    .flatMap((item) => (item.kind === "call" && item.asked !== null ? [item.asked] : []))
    .map(({ from, to }) => [from, Math.min(to ?? until, until)] as const)
    .sort(([one], [other]) => one - other);
  let waited = 0;
  let counted = at;
  // Questions that wait side by side are one wait.
  for (const [from, to] of asked) {
    waited += Math.max(0, to - Math.max(from, counted));
    counted = Math.max(counted, to);
  }
  return { worked: Math.max(0, until - at - waited), waited };
}

/** When it ended, or where nobody said so when the last thing of it happened; null where that is not known. */
export function endOf({ at, items, endedAt }: Pick<Turn, "at" | "items" | "endedAt">): number | null {
  // What comes later, as the news that it was reverted, is not part of its time.
  if (at > 0 && endedAt !== null) return Math.max(at, endedAt);
  const last = items.reduce((most, item) => Math.max(most, item.at, item.kind === "call" ? (item.endedAt ?? 0) : 0), 0);
  return at > 0 && last > at ? last : null;
}
