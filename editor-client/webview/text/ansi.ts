// Colours of programs: escape sequences as classes.
import { AnsiUp } from "ansi_up";
import { sanitised } from "./rendering";

/** Longer output is shown without its colours. */
const MOST_COLOURED = 200_000;

const SEQUENCE = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** HTML of a program's output, or null where it has no escape sequences, or is very long. */
export function ansiHtml(output: string): string | null {
  if (!output.includes("\u001b[") || output.length > MOST_COLOURED) return null;
  const converter = new AnsiUp();
  converter.use_classes = true;
  converter.escape_html = true;
  // No links: their text may say something else than where they lead.
  converter.url_allowlist = {};
  return sanitised(converter.ansi_to_html(withoutLinks(output)));
}

/** The output without escape sequences, and with the last state of lines that were written over. */
export function plain(output: string): string {
  return output.replace(SEQUENCE, "").replace(/^.*\r(?!\n|$)/gm, "");
}

function withoutLinks(output: string): string {
  return output.replace(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, "").replace(/^.*\r(?!\n|$)/gm, "");
}
