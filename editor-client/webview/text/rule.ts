// Permission rules in words.
import { t } from "../language";

const PREFIX = /^Bash\((.+):\*\)$/su;
const SPECIFIC = /^([A-Za-z_]\w*)\((.+)\)$/su;

/** What a rule would allow, as the object of "allow": `commands that begin with "git diff"`. */
export function ruleInWords(rule: string): string {
  const prefix = PREFIX.exec(rule)?.[1];
  if (prefix !== undefined) return t.commandsWith(prefix);
  const [, tool, specifier] = SPECIFIC.exec(rule) ?? [];
  if (tool === undefined || specifier === undefined) return rule === "Bash" ? t.everyCommand : t.everyCall(rule);
  if (tool === "Bash") return t.exactlyThis;
  const doing = tool === "Edit" || tool === "Write" ? t.changesOf : t.callsFor(tool);
  const path = specifier.replace(/\[([*?[{])\]/gu, "$1").replaceAll("\\\\", "\\");
  if (path.endsWith("/**")) return t.filesBelow(doing, path.slice(0, -3));
  return t.onePath(doing, path.replace(/^\//u, ""));
}
