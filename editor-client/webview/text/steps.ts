// What of a turn is its way and what its outcome: the way folds into one line when the turn is over.
import type { Call, Item } from "../state";
import { t } from "../language";

/** Calls that stand for themselves: so few are not folded. */
const FEW = 1;
/** Tools whose `path` is one file. */
const FILE_TOOLS = /^(?:Read|Edit|MultiEdit|Write)$/u;

/** What stands in the log by itself, or the steps between two such things; `id` stays while they grow. */
export type Part = { kind: "item"; item: Item } | { kind: "steps"; id: string; items: Item[]; foldable: boolean };

/** The parts of a turn, in order: thoughts, calls and what was said between them are steps. */
export function partsOf(items: readonly Item[]): Part[] {
  const lastWork = items.findLastIndex(({ kind }) => kind === "call" || kind === "thought");
  const parts: Part[] = [];
  items.forEach((item, place) => {
    if (!isStep(item, place < lastWork)) {
      parts.push({ kind: "item", item });
      return;
    }
    const open = parts[parts.length - 1];
    if (open?.kind === "steps") open.items.push(item);
    else parts.push({ kind: "steps", id: `steps-${item.id}`, items: [item], foldable: false });
  });
  for (const part of parts) if (part.kind === "steps") part.foldable = callsOf(part.items).length > FEW;
  return parts;
}

function isStep(item: Item, worksOn: boolean): boolean {
  switch (item.kind) {
    case "thought":
    case "call":
      return true;
    case "hook":
      return item.run.status !== "failed";
    case "answer":
      return worksOn;
    default:
      return false; // what the user said, and what they are warned of
  }
}

const callsOf = (items: readonly Item[]): Call[] => items.filter((item) => item.kind === "call");

/** `12 steps · 3 files · 1 command`. */
export function stepsInWords(items: readonly Item[]): string {
  const calls = callsOf(items);
  const steps = new Set(items.filter(({ kind }) => kind !== "hook").map(({ step }) => step)).size;
  const files = new Set(calls.filter(({ call }) => FILE_TOOLS.test(call.tool)).map(fileOf)).size;
  const commands = calls.filter(({ call }) => call.tool === "Bash").length;
  const failed = calls.filter(({ call }) => call.status === "failed").length;
  return [
    t.steps(steps),
    ...(files === 0 ? [] : [t.fileCount(files)]),
    ...(commands === 0 ? [] : [t.commandCount(commands)]),
    ...(failed === 0 ? [] : [t.failedCount(failed)]),
  ].join(" · ");
}

function fileOf({ call }: Call): string {
  const path = call.args?.["path"];
  return typeof path === "string" ? path : call.title;
}
