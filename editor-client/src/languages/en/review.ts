// The words about what turns did to files, to be kept or undone, in English.
import { numbersOf } from "../numbers";

const { figure } = numbersOf("en");
const files = (count: number): string => (count === 1 ? "1 file" : `${figure(count)} files`);
const changes = (count: number): string => (count === 1 ? "1 change" : `${figure(count)} changes`);

export const review = {
  changesBy: "Changes by codelaw",
  nothing: "Nothing of what codelaw did waits to be reviewed.",
  turnUndone: "Nothing is left to review: what this turn did to files is undone.",
  tooOld: "This server is too old for that. Update it.",
  firstOf: (shown: number, all: number) =>
    `${figure(shown)} of ${files(all)} are compared here; the panel lists them all.`,
  noText: (count: number, names: string) => `Not compared, because they are no text: ${files(count)} (${names}).`,
  undoAll: (count: number) => `Undo what codelaw did in ${files(count)}?`,
  undoDetail: "What was changed since at other places stays.",
  undo: "Undo",
  leftAlone: (count: number, reason: string) =>
    count === 1 ? `Left as it is: ${reason}` : `${files(count)} left as they are. ${reason}`,

  // In the open file.
  accept: "Accept",
  reject: "Reject",
  waits: (count: number) => `${changes(count)} by codelaw`,
  acceptFile: "Accept file",
  rejectFile: "Reject file",
  compare: "Compare",
  touched: "Changed by you since: accept or undo it by hand",
  removedLines: (count: number) => (count === 1 ? "1 line removed" : `${figure(count)} lines removed`),
  replaced: "Before codelaw:",
  moved: "This place was changed meanwhile, so nothing was done. Look at it again.",
  noChangeHere: "No change of codelaw's waits at the cursor.",
  noMore: "No other change of codelaw's waits in this file.",
};

/** The shape of every other table. */
export type ReviewWords = typeof review;
