// Permission rules in words.

const PREFIX = /^Bash\((.+):\*\)$/su;
const SPECIFIC = /^([A-Za-z_]\w*)\((.+)\)$/su;

/** What a rule would allow, as the object of "allow": `commands that begin with "git diff"`. */
export function ruleInWords(rule: string): string {
  const prefix = PREFIX.exec(rule)?.[1];
  if (prefix !== undefined) return `commands that begin with “${prefix}”`;
  const [, tool, specifier] = SPECIFIC.exec(rule) ?? [];
  if (tool === undefined || specifier === undefined) return rule === "Bash" ? "every command" : `every call of ${rule}`;
  if (tool === "Bash") return "exactly this command";
  const doing = tool === "Edit" || tool === "Write" ? "changes of" : `calls of ${tool} for`;
  const path = specifier.replace(/\[([*?[{])\]/gu, "$1").replaceAll("\\\\", "\\");
  if (path.endsWith("/**")) return `${doing} files in “${path.slice(0, -3)}” and below`;
  return `${doing} “${path.replace(/^\//u, "")}”`;
}
