// Marks what was found in the page, without changing its nodes.
import { startsOf } from "../text/finding";

const ALL = "codelaw-found";
const CURRENT = "codelaw-found-current";
/** What is not looked through: buttons, words for those who do not see, and formulas. */
const ASIDE =
  "button, math, .math-source, .code-bar, .visually-hidden, .thought-label, .thought-line, [aria-hidden='true']";

/** Where a text stands in an element, in the order of the page. */
export function rangesIn(element: Element, wanted: string): Range[] {
  const nodes: { node: Text; from: number }[] = [];
  let text = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) =>
    node instanceof Element
      ? node.matches(ASIDE)
        ? NodeFilter.FILTER_REJECT
        : NodeFilter.FILTER_SKIP
      : NodeFilter.FILTER_ACCEPT,
  );
  while (walker.nextNode() !== null) {
    const node = walker.currentNode;
    if (!(node instanceof Text)) continue;
    nodes.push({ node, from: text.length });
    text += node.data;
  }
  return startsOf(text, wanted).flatMap((start) => {
    const first = at(nodes, start);
    const last = at(nodes, start + wanted.length - 1);
    if (first === undefined || last === undefined) return [];
    const range = document.createRange();
    range.setStart(first.node, start - first.from);
    range.setEnd(last.node, start + wanted.length - last.from);
    return [range];
  });
}

function at(nodes: readonly { node: Text; from: number }[], place: number): { node: Text; from: number } | undefined {
  return nodes.findLast(({ from }) => from <= place);
}

/** Mark all that was found, and what the user is at. */
export function mark(found: readonly Range[], current: Range | null): void {
  if (!canMark()) return;
  CSS.highlights.set(ALL, new Highlight(...found));
  CSS.highlights.set(CURRENT, new Highlight(...(current === null ? [] : [current])));
}

/** Take all marks away, and the frame around the item at hand. */
export function unmark(log: Element | null): void {
  for (const one of log?.querySelectorAll("[data-found]") ?? []) one.removeAttribute("data-found");
  if (!canMark()) return;
  CSS.highlights.delete(ALL);
  CSS.highlights.delete(CURRENT);
}

/** Older browsers cannot: there the item itself is framed. */
const canMark = (): boolean => typeof Highlight !== "undefined" && typeof CSS !== "undefined" && "highlights" in CSS;

const SCROLLS = /^(?:auto|scroll)$/;

/** Bring a place into the middle of everything that scrolls around it. */
export function scrollTo(place: Range | Element): void {
  let box = place instanceof Range ? place.startContainer.parentElement : place.parentElement;
  for (; box !== null; box = box.parentElement) {
    const { overflowX, overflowY } = getComputedStyle(box);
    const [inner, outer] = [place.getBoundingClientRect(), box.getBoundingClientRect()];
    if (SCROLLS.test(overflowY) && (inner.top < outer.top || inner.bottom > outer.bottom)) {
      box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
    }
    if (SCROLLS.test(overflowX) && (inner.left < outer.left || inner.right > outer.right)) {
      box.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
    }
  }
}
