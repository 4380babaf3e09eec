// The words about what turns did to files, to be kept or undone, in German.
import type { ReviewWords } from "../en/review";
import { numbersOf } from "../numbers";

const { figure } = numbersOf("de");
const files = (count: number): string => (count === 1 ? "1 Datei" : `${figure(count)} Dateien`);
const changes = (count: number): string => (count === 1 ? "1 Änderung" : `${figure(count)} Änderungen`);

export const review: ReviewWords = {
  changesBy: "Änderungen von codelaw",
  nothing: "Von codelaw wartet keine Änderung auf Durchsicht.",
  turnUndone: "Hier gibt es nichts mehr zu sehen: Was dieser Beitrag an Dateien tat, ist zurückgenommen.",
  tooOld: "Dafür ist dieser Server zu alt. Aktualisieren Sie ihn.",
  firstOf: (shown: number, all: number) =>
    `Hier werden ${figure(shown)} von ${files(all)} verglichen; das Panel nennt alle.`,
  noText: (count: number, names: string) => `Nicht verglichen, weil sie kein Text sind: ${files(count)} (${names}).`,
  undoAll: (count: number) => `Zurücknehmen, was codelaw in ${files(count)} getan hat?`,
  undoDetail: "Spätere Änderungen an anderen Stellen bleiben.",
  undo: "Zurücknehmen",
  leftAlone: (count: number, reason: string) =>
    count === 1 ? `Unverändert gelassen: ${reason}` : `${files(count)} blieben, wie sie sind. ${reason}`,

  // In the open file.
  accept: "Übernehmen",
  reject: "Verwerfen",
  waits: (count: number) => `${changes(count)} von codelaw`,
  acceptFile: "Datei übernehmen",
  rejectFile: "Datei verwerfen",
  compare: "Vergleichen",
  touched: "Von Ihnen seither geändert: übernehmen Sie es, oder ändern Sie es von Hand",
  removedLines: (count: number) => (count === 1 ? "1 Zeile entfernt" : `${figure(count)} Zeilen entfernt`),
  replaced: "Vor codelaw:",
  moved: "Diese Stelle wurde inzwischen geändert, darum geschah nichts. Sehen Sie noch einmal hin.",
  noChangeHere: "An der Schreibmarke wartet keine Änderung von codelaw.",
  noMore: "In dieser Datei wartet keine andere Änderung von codelaw.",
};
