// The words about what turns did to files, to be kept or undone, in English.
import { numbersOf } from "../numbers";

const { figure } = numbersOf("en");
const files = (count: number): string => (count === 1 ? "1 file" : `${figure(count)} files`);
const changes = (count: number): string => (count === 1 ? "1 change" : `${figure(count)} changes`);
const lines = (first: number, last: number): string => (last <= first ? `line ${first}` : `lines ${first}-${last}`);

export const review = {
  changesBy: "Changes by codelaw",
  nothing: "Nothing of what codelaw did waits to be reviewed.",
  turnUndone: "Nothing is left to review: what this turn did to files is undone.",
  tooOld: "This server is too old for that. Update it.",
  firstOf: (shown: number, all: number) =>
    `${figure(shown)} of ${files(all)} are compared here; the panel lists them all.`,
  noText: (count: number, names: string) => `Not compared, because they are not text: ${files(count)} (${names}).`,
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

  // Remarks on lines.
  remark: "Remark for codelaw",
  remarkHint: "What should be different here? All remarks are sent together.",
  you: "You",
  notSent: "Not sent yet",
  placeChanged: "Not sent yet; these lines were changed since",
  placeGone: "Not sent yet; these lines are gone",
  noRemarks:
    "There are no remarks to send. Write some beside lines of a review, or of a file that codelaw has changed.",
  tooMany: "No more remarks are taken here: there are a hundred, or the file is too large. Send those that there are.",
  remarks: (count: number) =>
    count === 1 ? "I have a remark on your changes." : `I have ${count} remarks on your changes.`,
  onLines: (file: string, first: number, last: number) => `${file}, ${lines(first, last)}:`,
  onOld: (file: string, first: number, last: number) => `${file} as it was before your changes, ${lines(first, last)}:`,
  onChanged: (file: string, first: number, last: number) =>
    `${file}, ${lines(first, last)}, which were changed after I had written this:`,
  onRewritten: (file: string, first: number, last: number) =>
    `${file}, what were ${lines(first, last)} when I wrote this and are not there any more:`,
  onDeleted: (file: string, first: number, last: number) =>
    `${file}, which was deleted after I had written this, what were ${lines(first, last)}:`,
};

/** The shape of every other table. */
export type ReviewWords = typeof review;
