// The elements of what stands in the log, and how they are unfolded.
import { type Place, QUESTION, TROUBLE } from "../text/finding";

/** The elements of a log, as it is drawn now. */
export class Elements {
  readonly #entries: ReadonlyMap<string, HTMLElement>;
  readonly #items = new Map<HTMLElement, ReadonlyMap<string, HTMLElement>>();

  constructor(log: Element) {
    this.#entries = byName(log, "entry");
  }

  entry(id: string): HTMLElement | null {
    return this.#entries.get(id) ?? null;
  }

  /** The element that has the place; null where a fold keeps it out of the page. */
  of({ entry, item }: Place): HTMLElement | null {
    const around = this.entry(entry);
    if (around === null) return null;
    if (item === QUESTION) return around.querySelector<HTMLElement>(".question-text");
    if (item === TROUBLE) return around.querySelector<HTMLElement>(".turn-trouble");
    const items = this.#items.get(around) ?? byName(around, "item");
    this.#items.set(around, items);
    return items.get(item) ?? null;
  }
}

function byName(place: Element, key: "entry" | "item"): Map<string, HTMLElement> {
  const all = [...place.querySelectorAll<HTMLElement>(`[data-${key}]`)];
  return new Map(all.map((one) => [one.dataset[key] ?? "", one]));
}

/** Unfolds what hides a place; gives its element once it is there. */
export function reveal(log: Element, place: Place): HTMLElement | null {
  const elements = new Elements(log);
  const element = elements.of(place);
  const folded = element ?? (place.within === null ? null : elements.of({ ...place, item: place.within }));
  if (folded !== null) unfold(folded);
  return element;
}

/** Show what is folded around an element, and the element itself where it folds. What is unfolded is drawn later. */
function unfold(element: Element): void {
  for (let node: Element | null = element; node !== null; node = node.parentElement) {
    if (node instanceof HTMLDetailsElement && !node.open) node.open = true;
    if (node instanceof HTMLElement && node.hidden && node.previousElementSibling instanceof HTMLButtonElement) {
      node.previousElementSibling.click();
    }
  }
}
