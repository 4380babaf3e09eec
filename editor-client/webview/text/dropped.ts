// What was dropped on the panel.

const LISTS = ["application/vnd.code.uri-list", "text/uri-list"];

/** Whether a drag may bring files; what they are is told only when they are dropped. */
export const bringsFiles = (drag: DataTransfer): boolean =>
  [...LISTS, "Files"].some((type) => drag.types.includes(type));

/** The addresses of the dropped files, without repeats; of files from outside of the editor there is none. */
export function droppedUris(drag: DataTransfer): string[] {
  const lines = LISTS.flatMap((type) => drag.getData(type).split(/\r?\n/u));
  return [...new Set(lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#")))];
}
