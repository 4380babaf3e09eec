// Keeps the marks of what was found while the user goes from place to place.
import type { Place } from "../text/finding";
import { mark, rangesIn, unmark } from "./marks";
import { Elements } from "./unfold";

/** So many places are marked at once, around the one at hand. */
const WINDOW = 400;

/** The marks of one text in a log as it is drawn now; when the log changes, another one is made. */
export class Marker {
  readonly #log: Element;
  readonly #needle: string;
  readonly #places: readonly Place[];
  readonly #elements: Elements;
  readonly #ranges = new Map<Element, Range[]>();
  /** The first place that is marked, and the marks. */
  #window: { from: number; marks: Range[] } | null = null;

  constructor(log: Element, needle: string, places: readonly Place[]) {
    this.#log = log;
    this.#needle = needle;
    this.#places = places;
    this.#elements = new Elements(log);
  }

  /** Draw the marks; gives where the place at hand is, or its element where its text cannot be marked. */
  draw(current: Place | null, index: number): Range | Element | null {
    const element = current === null ? null : this.#elements.of(current);
    // It may just have been unfolded.
    if (element !== null) this.#ranges.delete(element);
    const ranges = element === null ? [] : this.#of(element);
    const range = ranges[current?.nth ?? 0] ?? ranges[0] ?? null;
    unmark(this.#log);
    mark(this.#around(index), range);
    element?.setAttribute("data-found", range === null ? "whole" : "text");
    return range ?? element;
  }

  #around(index: number): Range[] {
    const from = Math.max(0, Math.floor((index - WINDOW / 4) / (WINDOW / 2)) * (WINDOW / 2));
    if (this.#window?.from === from) return this.#window.marks;
    const near = this.#places.slice(from, from + WINDOW);
    const elements = new Set(near.flatMap((place) => this.#elements.of(place) ?? []));
    this.#window = { from, marks: [...elements].flatMap((element) => this.#of(element)) };
    return this.#window.marks;
  }

  #of(element: Element): Range[] {
    const known = this.#ranges.get(element) ?? rangesIn(element, this.#needle);
    this.#ranges.set(element, known);
    return known;
  }
}
