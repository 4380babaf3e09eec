// A long plain text that grows: what is new is appended to the page, and what is there stays as it is.
import { useLayoutEffect, useRef } from "preact/hooks";

/** Lines in one piece: pieces out of sight cost nothing. */
const LINES = 200;

/** A text as it is, in pieces of whole lines. */
export function Growing({ text, as: Tag = "div", class: name }: { text: string; as?: "div" | "code"; class?: string }) {
  const place = useRef<HTMLElement>(null);
  const shown = useRef<Shown>({ text: "", node: null, lines: 0 });
  useLayoutEffect(() => {
    if (place.current !== null) shown.current = update(place.current, shown.current, text);
  }, [text]);
  // Two elements have two kinds of refs; what is done with them is the same.
  return Tag === "code" ? (
    <code class={name} ref={place} />
  ) : (
    <div class={name} ref={(node) => void (place.current = node)} />
  );
}

interface Shown {
  text: string;
  /** The last piece's text, and how many lines it has. */
  node: Text | null;
  lines: number;
}

function update(place: HTMLElement, shown: Shown, text: string): Shown {
  if (text === shown.text) return shown;
  let { node, lines } = shown;
  let from = shown.text.length;
  if (!text.startsWith(shown.text)) {
    place.replaceChildren();
    [node, lines, from] = [null, 0, 0];
  }
  while (from < text.length) {
    if (node === null || lines >= LINES) {
      node = piece(place);
      lines = 0;
    }
    const { end, counted } = cut(text, from, LINES - lines);
    node.appendData(text.slice(from, end));
    lines += counted;
    from = end;
  }
  return { text, node, lines };
}

function piece(place: HTMLElement): Text {
  const span = document.createElement("span");
  span.className = "piece";
  const node = document.createTextNode("");
  span.append(node);
  place.append(span);
  return node;
}

/** The end of the first `most` lines from `from` on. */
function cut(text: string, from: number, most: number): { end: number; counted: number } {
  let end = from;
  let counted = 0;
  while (counted < most) {
    const next = text.indexOf("\n", end);
    if (next === -1) return { end: text.length, counted };
    end = next + 1;
    counted += 1;
  }
  return { end, counted };
}
