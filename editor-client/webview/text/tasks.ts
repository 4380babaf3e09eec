// Task lists in Markdown: `- [x] done` and `- [ ] to do` become boxes that show it and cannot be changed.
import type { MarkdownIt } from "markdown-it";

const TASK = /^\[(?<mark>[ xX])\]\s+/;
/** Something to be done stands behind the box. */
const NAMED = /^\[.\]\s+\S/;

/** What the `info` of a box's token says when it is ticked. */
const DONE = "done";

/** Boxes before the items of task lists, each with its text as the label. */
export function tasks(md: MarkdownIt): void {
  md.core.ruler.after("inline", "tasks", ({ tokens, Token }) => {
    tokens.forEach((item, place) => {
      const text = tokens[place + 2];
      if (item.type !== "list_item_open" || tokens[place + 1]?.type !== "paragraph_open" || text === undefined) return;
      const [first] = text.children ?? [];
      const found = first?.type === "text" && NAMED.test(text.content) ? TASK.exec(first.content) : null;
      if (first === undefined || found === null) return;
      first.content = first.content.slice(found[0].length);
      item.attrJoin("class", "task");
      const box = new Token("task", "", 0);
      box.info = found.groups?.["mark"] === " " ? "" : DONE;
      text.children = [box, ...(text.children ?? []), new Token("task_end", "", 0)];
    });
  });
  md.renderer.rules["task"] = (all, index) =>
    `<label><input type="checkbox" disabled${all[index]?.info === DONE ? " checked" : ""}>`;
  md.renderer.rules["task_end"] = () => "</label>";
}
