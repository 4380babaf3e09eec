// The only place where HTML goes into the page: it comes from `htmlOf`, `highlighted` or `ansiHtml`, sanitised.
import type { FromPanel } from "../../src/messages";
import type { TargetedMouseEvent } from "preact";
import { useHands } from "../hands";
import { sanitised } from "./rendering";

/** HTML in an element of its own; links and buttons in it are told to the extension. */
export function Html({
  html,
  as: Tag = "div",
  class: name,
}: {
  html: string;
  as?: "div" | "code" | "span";
  class?: string;
}) {
  const { panel } = useHands();
  const click = (event: TargetedMouseEvent<HTMLElement>): void => {
    const message = messageFor(event.target);
    if (message === null) return;
    event.preventDefault();
    event.stopPropagation();
    if (message !== "nothing") panel.tell(message);
  };
  return <Tag class={name} onClick={click} dangerouslySetInnerHTML={{ __html: html }} />;
}

/** As `Html`, for HTML that nobody has sanitised yet. */
export function ForeignHtml({ html, as = "code" }: { html: string; as?: "code" | "span" }) {
  return <Html html={sanitised(html)} as={as} />;
}

function messageFor(clicked: EventTarget | null): FromPanel | "nothing" | null {
  if (!(clicked instanceof Element)) return null;
  const button = clicked.closest("button[data-do]");
  if (button !== null) {
    const text = button.closest(".code")?.querySelector("pre")?.textContent ?? "";
    return button.getAttribute("data-do") === "insert" ? { kind: "insert", text } : { kind: "copy", text };
  }
  const link = clicked.closest("a");
  if (link === null) return null;
  const url = link.getAttribute("data-url");
  if (url !== null) return { kind: "openExternal", url };
  const path = link.getAttribute("data-path");
  if (path === null) return "nothing";
  const number = (name: string): number | undefined => {
    const value = link.getAttribute(name);
    return value === null ? undefined : Number(value);
  };
  const line = number("data-line");
  const endLine = number("data-end-line");
  return { kind: "open", path, ...(line === undefined ? {} : { line }), ...(endLine === undefined ? {} : { endLine }) };
}
