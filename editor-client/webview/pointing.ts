// What the menu of the log is about: what stands under the pointer, or what is selected.
import type { FromPanel, ToPanel } from "../src/messages";
import { focusComposer } from "./parts/focus";
import type { Actions, Panel } from "./panel";
import type { Call, ChatState, Item, Pointed, Turn } from "./state";
import { plain } from "./text/ansi";
import { split } from "./text/blocks";
import { wordsOf } from "./text/rendering";
import { partsOf } from "./text/toolResult";

/** What the editor is told of it, by which it shows its menu; the page's own word for it comes back with a choice. */
export const contextOf = ({ menu, file, diff, output }: Pointed): string =>
  JSON.stringify({
    webviewSection: "codelaw.log",
    preventDefaultContextMenuItems: true,
    codelawMenu: menu,
    codelawFile: file !== null,
    codelawDiff: diff !== null,
    codelawOutput: output !== null,
  });

/** What an element of the log is about. Without an item around it, it is about its turn, else about the newest one. */
export function pointedAt(target: Element, chat: ChatState, menu: string): Pointed {
  const entry = entryOf(target, chat);
  const name = target.closest<HTMLElement>("[data-item]")?.dataset["item"];
  const item = entry?.items.find(({ id }) => id === name) ?? null;
  const turn = entry?.kind === "turn" ? entry : null;
  const call = item?.kind === "call" ? item : null;
  const code = target.closest(".code pre, .output pre")?.textContent ?? null;
  const markdown = item !== null ? markdownOf(item, chat) : isQuestion(target) ? (turn?.text ?? "") : answerOf(turn);
  const words = item?.kind === "answer" || (item === null && !isQuestion(target)) ? wordsOf(markdown) : markdown;
  const selected = selectionIn(target);
  return {
    menu,
    plain: selected?.text ?? code ?? words,
    markdown: selected === null ? markdown : markdownIn(selected, chat),
    file: fileAt(target, call),
    diff: diffAt(target, turn, call, chat),
    output: call !== null && call.endedAt !== null && call.call.diff === undefined ? call.id : null,
  };
}

/** Do what was chosen of the menu. */
export async function choose(panel: Panel, actions: Actions, { menu, what }: MenuChoice): Promise<void> {
  const { pointed } = panel.state();
  if (pointed?.menu !== menu) return; // the menu of another page
  switch (what) {
    case "copy":
      panel.tell({ kind: "copy", text: pointed.plain });
      return;
    case "copyMarkdown":
      panel.tell({ kind: "copy", text: pointed.markdown });
      return;
    case "quote":
      panel.dispatch({
        kind: "composer",
        composer: { text: withQuote(panel.state().composer.text, pointed.markdown) },
      });
      focusComposer();
      return;
    case "file":
    case "diff": {
      const message = pointed[what];
      if (message !== null) panel.tell(message);
      return;
    }
    case "output":
      if (pointed.output !== null) await showOutput(panel, actions, pointed.output);
  }
}

type MenuChoice = Extract<ToPanel, { kind: "menu" }>;

/** A message with a text quoted behind it, and room for what is to be said of it. */
export function withQuote(draft: string, quoted: string): string {
  const lines = quoted.trim().split("\n");
  const quote = lines.map((line) => (line === "" ? ">" : `> ${line}`)).join("\n");
  return `${draft.trim() === "" ? "" : `${draft.trimEnd()}\n\n`}${quote}\n\n`;
}

async function showOutput(panel: Panel, actions: Actions, callId: string): Promise<void> {
  await actions.readResult(callId);
  const { chat } = panel.state();
  const content = chat?.results.get(callId);
  const call = chat?.entries.flatMap(({ items }) => items).find(({ id }) => id === callId);
  if (content === undefined || call?.kind !== "call") return;
  panel.tell({ kind: "showText", title: call.call.title, text: outputOf(content) });
}

/** What a tool gave, as one text. */
function outputOf(content: string): string {
  const { error, text, bodies } = partsOf(content);
  const parts = [error, text === error ? "" : text, ...bodies.map((body) => body.text)];
  return plain(parts.filter((part) => part !== "").join("\n\n"));
}

// ------------------------------------------------------------------------------------------------- what there is to say

function entryOf(target: Element, { entries }: ChatState): ChatState["entries"][number] | null {
  const name = target.closest<HTMLElement>("[data-entry]")?.dataset["entry"];
  return entries.find(({ id }) => id === name) ?? entries.findLast(({ kind }) => kind === "turn") ?? null;
}

const isQuestion = (target: Element): boolean => target.closest(".question") !== null;

function answerOf(turn: Turn | null): string {
  const said = turn?.items.flatMap((item) => (item.kind === "answer" ? [item.text] : [])) ?? [];
  return said.join("").trim();
}

function markdownOf(item: Item, { results }: ChatState): string {
  switch (item.kind) {
    case "thought":
    case "answer":
    case "steer":
      return item.text.trim();
    case "notice":
      return item.message;
    case "call":
      return callOf(item, results.get(item.id));
    case "hook":
      return item.run.message ?? item.run.name;
    case "compaction":
      return item.report?.message ?? "";
  }
}

function callOf({ call }: Call, result: string | undefined): string {
  const body = call.diff ?? (result === undefined ? (call.summary ?? "") : outputOf(result));
  if (body === "") return call.title;
  const longest = Math.max(2, ...[...body.matchAll(/`+/g)].map(([marks]) => marks.length));
  const fence = "`".repeat(longest + 1);
  return `${call.title}\n\n${fence}${call.diff === undefined ? "" : "diff"}\n${body.trimEnd()}\n${fence}`;
}

// --------------------------------------------------------------------------------------------------- what can be opened

function fileAt(target: Element, call: Call | null): FromPanel | null {
  const link = target.closest<HTMLElement>("a[data-path]");
  const path = link?.dataset["path"];
  if (path !== undefined) {
    const [line, endLine] = [Number(link?.dataset["line"] ?? 0), Number(link?.dataset["endLine"] ?? 0)];
    return { kind: "open", path, ...(line > 0 ? { line } : {}), ...(endLine > 0 ? { endLine } : {}) };
  }
  const changed = target.closest<HTMLElement>(".change")?.dataset["path"];
  const named = call?.call.args?.["path"];
  const file = changed ?? (typeof named === "string" && named !== "" ? named : undefined);
  return file === undefined ? null : { kind: "open", path: file };
}

function diffAt(target: Element, turn: Turn | null, call: Call | null, { chat }: ChatState): FromPanel | null {
  const named = target.closest<HTMLElement>(".change")?.dataset["path"] ?? call?.call.args?.["path"];
  const change = turn?.result?.changes.find(({ path }) => path === named);
  if (turn === null || change === undefined) return null;
  return { kind: "diff", chatId: chat.id, turnId: turn.id, uri: change.uri, path: change.path };
}

// ---------------------------------------------------------------------------------------------------- what is selected

interface Selected {
  text: string;
  range: Range;
  log: Element;
}

function selectionIn(target: Element): Selected | null {
  const log = target.closest(".log");
  const selection = getSelection();
  const text = selection?.toString() ?? "";
  if (log === null || selection === null || selection.rangeCount === 0 || text.trim() === "") return null;
  const range = selection.getRangeAt(0);
  return log.contains(range.commonAncestorContainer) ? { text, range, log } : null;
}

/** The Markdown of all blocks that the selection touches; of a piece of one block what is selected. */
function markdownIn({ text, range, log }: Selected, chat: ChatState): string {
  const touched: { source: string; words: string }[] = [];
  for (const element of log.querySelectorAll<HTMLElement>(".question-text, [data-item]")) {
    if (!range.intersectsNode(element)) continue;
    const entry = entryOf(element, chat);
    const item = entry?.items.find(({ id }) => id === element.dataset["item"]);
    if (item?.kind === "answer") {
      const shown = [...element.querySelectorAll(".markdown > .stretch > *")];
      split(item.text).blocks.forEach((block, place) => {
        const part = shown[place];
        if (part === undefined || !range.intersectsNode(part)) return;
        const source = block.kind === "text" ? block.text : `\`\`\`${block.language}\n${block.code}\n\`\`\``;
        touched.push({ source: source.trim(), words: part.textContent });
      });
    } else if (item !== undefined) touched.push({ source: markdownOf(item, chat), words: element.textContent });
    else if (entry?.kind === "turn") touched.push({ source: entry.text, words: entry.text });
  }
  const [only] = touched;
  if (only === undefined || (touched.length === 1 && squeezed(text) !== squeezed(only.words))) return text;
  return touched.map(({ source }) => source).join("\n\n");
}

const squeezed = (text: string): string => text.replace(/\s+/g, " ").trim();
