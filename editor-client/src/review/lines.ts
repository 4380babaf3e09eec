// Which lines differ between two texts. Pure.

/** Lines `from` to `to` of the one text stand where `start` to `end` of the other stand; the ends are not part of it. */
export interface Chunk {
  from: number;
  to: number;
  start: number;
  end: number;
}

/** Lines that were taken out and put in, up to which the shortest way is looked for. */
const MOST_STEPS = 1200;

/** The lines of a text; what ends with a break has an empty last one, so that they make the text again. */
export const linesOf = (text: string): string[] => text.split(/\r\n|\r|\n/);

/** What has to be done to `one` to make `other` of it, in order; neighbouring lines are one chunk. */
export function chunksOf(one: readonly string[], other: readonly string[]): Chunk[] {
  let top = 0;
  while (top < one.length && top < other.length && one[top] === other[top]) top += 1;
  let bottom = 0;
  const most = Math.min(one.length, other.length) - top;
  while (bottom < most && one[one.length - 1 - bottom] === other[other.length - 1 - bottom]) bottom += 1;
  const a = one.slice(top, one.length - bottom);
  const b = other.slice(top, other.length - bottom);
  if (a.length === 0 && b.length === 0) return [];
  const whole = [{ from: 0, to: a.length, start: 0, end: b.length }];
  const found = a.length === 0 || b.length === 0 ? whole : (shortest(a, b) ?? anchored(a, b));
  const all = found.map(({ from, to, start, end }) => ({
    from: from + top,
    to: to + top,
    start: start + top,
    end: end + top,
  }));
  return lowered(all, one, other);
}

/**
 * What only adds or only removes, as far down as it can stand where the lines below are like its own: in whatever way
 * it was found, and whatever was done elsewhere, it is the same place.
 */
function lowered(chunks: readonly Chunk[], one: readonly string[], other: readonly string[]): Chunk[] {
  const found: Chunk[] = [];
  let below = one.length + 1;
  for (const { from, to, start, end } of [...chunks].reverse()) {
    const [lines, first, last] = from === to ? [other, start, end] : [one, from, to];
    const free = from === to || start === end ? below - to - 1 : 0;
    let by = 0;
    while (by < free && lines[first + by] === lines[last + by]) by += 1;
    found.push({ from: from + by, to: to + by, start: start + by, end: end + by });
    below = from + by;
  }
  return found.reverse();
}

/** Myers' way; null when it would take too long. */
function shortest(a: readonly string[], b: readonly string[]): Chunk[] | null {
  const most = Math.min(a.length + b.length, MOST_STEPS);
  const reach = new Int32Array(2 * most + 3);
  const past: Int32Array[] = [];
  for (let steps = 0; steps <= most; steps += 1) {
    past.push(reach.slice(most - steps, most + steps + 3));
    for (let lane = -steps; lane <= steps; lane += 2) {
      const at = lane + most + 1;
      const left = reach[at - 1] ?? 0;
      const right = reach[at + 1] ?? 0;
      let x = lane === -steps || (lane !== steps && left < right) ? right : left + 1;
      while (x < a.length && x - lane < b.length && a[x] === b[x - lane]) x += 1;
      reach[at] = x;
      if (x >= a.length && x - lane >= b.length) return walkBack(a.length, b.length, past);
    }
  }
  return null;
}

function walkBack(rows: number, columns: number, past: readonly Int32Array[]): Chunk[] {
  const found: Chunk[] = [];
  let x = rows;
  let y = columns;
  for (let steps = past.length - 1; steps > 0; steps -= 1) {
    const reach = past[steps] ?? new Int32Array();
    // The slice begins one lane before the smallest.
    const at = (lane: number): number => reach[lane + steps + 1] ?? 0;
    const lane = x - y;
    const down = lane === -steps || (lane !== steps && at(lane - 1) < at(lane + 1));
    const before = down ? lane + 1 : lane - 1;
    const px = at(before);
    const py = px - before;
    const [last] = found;
    const step = down ? { from: px, to: px, start: py, end: py + 1 } : { from: px, to: px + 1, start: py, end: py };
    if (last !== undefined && step.to === last.from && step.end === last.start) {
      last.from = step.from;
      last.start = step.start;
    } else found.unshift(step);
    x = px;
    y = py;
  }
  return found;
}

/** Between lines that both have exactly once, in the same order; the rest counts as changed as a whole. */
function anchored(a: readonly string[], b: readonly string[]): Chunk[] {
  const there = onceIn(b);
  const pairs: [number, number][] = [];
  for (const [line, x] of onceIn(a)) {
    const y = there.get(line);
    if (y !== undefined) pairs.push([x, y]);
  }
  const found: Chunk[] = [];
  let from = 0;
  let start = 0;
  for (const [x, y] of [...rising(pairs), [a.length, b.length] as const]) {
    if (x > from || y > start) found.push({ from, to: x, start, end: y });
    from = x + 1;
    start = y + 1;
  }
  return found;
}

function onceIn(lines: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  const twice = new Set<string>();
  for (const [place, line] of lines.entries()) {
    if (found.has(line)) twice.add(line);
    else found.set(line, place);
  }
  for (const line of twice) found.delete(line);
  return found;
}

/** The longest row of pairs in which both numbers rise. */
function rising(pairs: readonly [number, number][]): [number, number][] {
  const ends: number[] = [];
  const before: (number | undefined)[] = [];
  for (const [place, pair] of pairs.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[ends[middle] ?? 0]?.[1] ?? 0) < pair[1]) low = middle + 1;
      else high = middle;
    }
    before.push(low === 0 ? undefined : ends[low - 1]);
    ends[low] = place;
  }
  const found: [number, number][] = [];
  for (let place = ends.at(-1); place !== undefined; place = before[place]) {
    const pair = pairs[place];
    if (pair !== undefined) found.unshift(pair);
  }
  return found;
}
