// Where a link of a model's leads: to the web, to a file, or nowhere.

export interface FileLink {
  kind: "file";
  path: string;
  line?: number;
  endLine?: number;
}
export type Target = FileLink | { kind: "web"; url: string } | { kind: "dead" };

const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const FORBIDDEN = /^(?:javascript|vbscript|data|command|vscode[\w-]*|file|blob|about|mailto|https?):/i;
const DRIVE = /^[a-z]:[\\/]/i;
/** `:12`, `:12-20`, `:12:5`, `#L12`, `#L12-L20` behind a path. */
const PLACE = /(?::(\d{1,7})(?:-(\d{1,7})|:\d{1,7})?|#L(\d{1,7})(?:C\d+)?(?:-L?(\d{1,7})(?:C\d+)?)?)$/;
const NAME = String.raw`[\p{L}\p{N}_.@+-]+`;
/** A path in running text: with a folder and an extension, or a name with an extension and a line. */
const IN_TEXT = new RegExp(
  String.raw`(?<![\p{L}\p{N}_/.:@+-])(?:(?:~|\.{1,2})?/?(?:${NAME}/)+${NAME}\.[A-Za-z]\w{0,9}(?::\d{1,7}(?:-\d{1,7})?)?|${NAME}\.[A-Za-z]\w{0,9}:\d{1,7}(?:-\d{1,7})?)(?![\p{L}\p{N}_/])`,
  "gu",
);
const EXTENSION = /\.[A-Za-z]\w{0,9}$/;
const WELL_KNOWN = new RegExp(
  String.raw`\.(?:bash|c|cc|cfg|cpp|cs|css|csv|go|h|hpp|htm|html|ini|java|js|json|jsonl|jsx|kt|lock|lua|md|mjs|cjs|php|ps1|py|pyi|rb|rs|rst|scss|sh|sql|swift|toml|ts|tsx|txt|vue|xml|yaml|yml|zig)$`,
  "i",
);

/** What the address of a Markdown link leads to. */
export function targetOf(address: string): Target {
  const plain = address.trim();
  if (/^https?:\/\//i.test(plain)) return URL.canParse(plain) ? { kind: "web", url: plain } : { kind: "dead" };
  if (plain === "" || plain.startsWith("#")) return { kind: "dead" };
  const path = decoded(/^file:\/\/\//i.test(plain) ? plain.slice("file://".length) : plain);
  if (SCHEME.test(path) && !DRIVE.test(path) && (!PLACE.test(path) || FORBIDDEN.test(path))) return { kind: "dead" };
  return fileTarget(path) ?? { kind: "dead" };
}

/** A path with a place behind it. */
export function fileTarget(text: string): FileLink | null {
  const place = PLACE.exec(text);
  const path = place === null ? text.replace(/#.*$/, "") : text.slice(0, place.index);
  // A path of another machine would be asked for over the network.
  if (/^[\\/]{2}/.test(path)) return null;
  if (path === "" || path.length > 1000 || /[\u0000-\u001f]/.test(path) || (path.includes(":") && !DRIVE.test(path))) {
    return null;
  }
  const line = place?.[1] ?? place?.[3];
  const endLine = place?.[2] ?? place?.[4];
  return {
    kind: "file",
    path,
    ...(line === undefined ? {} : { line: Number(line) }),
    ...(endLine === undefined ? {} : { endLine: Number(endLine) }),
  };
}

/** The file that a piece of inline code names, if it looks like one: spaces are allowed where there is a folder. */
export function fileInCode(code: string): FileLink | null {
  if (code.length > 300 || /[\n`<>|*?"{}()=;,$]|^\s|\s$|^-|\/\//.test(code)) return null;
  const target = fileTarget(code);
  if (target === null || !EXTENSION.test(target.path)) return null;
  if (target.path.includes("/") || target.path.includes("\\")) return target;
  return target.line !== undefined || (WELL_KNOWN.test(target.path) && !target.path.includes(" ")) ? target : null;
}

/** The files that running text names, with where they stand in it. */
export function filesInText(text: string): { from: number; to: number; target: FileLink }[] {
  if (!text.includes(".")) return [];
  return [...text.matchAll(IN_TEXT)].flatMap((match) => {
    const target = fileTarget(match[0]);
    return target === null ? [] : [{ from: match.index, to: match.index + match[0].length, target }];
  });
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a lone percent sign is part of a name
  }
}
