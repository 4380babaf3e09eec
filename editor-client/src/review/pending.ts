// Which files of a chat wait for the user: values in, values out.
import type { TurnChange } from "../protocol/types";

/** A file that turns of a chat have changed, and that nobody has kept or undone since. */
export interface PendingFile {
  uri: string;
  path: string;
  kind: TurnChange["kind"];
  /** Of the newest change. */
  number: number;
  /** Changes with this number and smaller ones are kept. */
  above: number;
  isText: boolean;
  renamedFrom?: string;
  /** Ids of the turns whose changes wait, oldest first. */
  turns: string[];
}

/** What a user has seen of a file: its changes up to the number, and of the newer ones these parts. */
export interface FileMark {
  number: number;
  parts: string[];
}

/** What a user has seen of a chat; `all` holds for every file. */
export interface ChatMarks {
  all: number;
  files: Record<string, FileMark>;
}

export const NO_MARKS: ChatMarks = { all: 0, files: {} };

/** The number up to which the changes of a file are kept. */
export const keptUpTo = (marks: ChatMarks, uri: string): number =>
  Math.max(marks.all, Object.hasOwn(marks.files, uri) ? (marks.files[uri]?.number ?? 0) : 0);

/** The files that wait, by their newest change; `accepted` are turns of the chat whose changes are kept as a whole. */
export function pendingOf(
  changes: readonly TurnChange[],
  marks: ChatMarks,
  accepted: ReadonlySet<string>,
): PendingFile[] {
  const files = new Map<string, { above: number; own: TurnChange[] }>();
  for (const change of changes) {
    const { uri, number, turnId } = change;
    const there = files.get(uri) ?? { above: keptUpTo(marks, uri), own: [] };
    files.set(uri, there);
    if (!accepted.has(turnId) && number > there.above) there.own.push(change);
    else if (there.own.length === 0) there.above = Math.max(there.above, number);
  }
  const found: PendingFile[] = [];
  for (const { above, own } of files.values()) {
    const file = netOf(own);
    if (file !== null) found.push({ ...file, above });
  }
  return found.sort((one, other) => one.number - other.number);
}

/** Which number of a file marks all of it that waits as kept. */
export const marksOf = (files: readonly PendingFile[]): Record<string, FileMark> =>
  Object.fromEntries(files.map(({ uri, number }) => [uri, { number, parts: [] }]));

/** The marks with others beside them, as few as say the same. */
export function marked(
  marks: ChatMarks,
  files: Readonly<Record<string, FileMark>>,
  changes: readonly TurnChange[],
): ChatMarks {
  const both: ChatMarks = { all: marks.all, files: { ...marks.files, ...files } };
  const waits = changes.some(({ uri, number }) => number > keptUpTo(both, uri));
  if (!waits) return { all: Math.max(marks.all, ...changes.map(({ number }) => number)), files: {} };
  const known = new Set(changes.map(({ uri }) => uri));
  const left = Object.entries(both.files).filter(([uri, mark]) => known.has(uri) && tells(mark, both.all));
  return { all: both.all, files: Object.fromEntries(left) };
}

const tells = ({ number, parts }: FileMark, all: number): boolean => number > all || parts.length > 0;

/** All in all; null where a file was made and is gone again. */
function netOf(own: readonly TurnChange[]): Omit<PendingFile, "above"> | null {
  const [first] = own;
  const last = own.at(-1);
  if (first === undefined || last === undefined) return null;
  const made = first.kind === "created";
  if (made && last.kind === "deleted") return null;
  const { uri, path, number } = last;
  const renamedFrom = made ? first.renamedFrom : undefined;
  return {
    uri,
    path,
    number,
    kind: made ? "created" : last.kind === "deleted" ? "deleted" : "modified",
    isText: own.every(({ isText }) => isText),
    turns: own.map(({ turnId }) => turnId),
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
  };
}
