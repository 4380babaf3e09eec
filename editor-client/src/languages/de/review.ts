// The words about what turns did to files, to be kept or undone, in German.
import type { ReviewWords } from "../en/review";
import { numbersOf } from "../numbers";

const { figure } = numbersOf("de");
const files = (count: number): string => (count === 1 ? "1 Datei" : `${figure(count)} Dateien`);
const changes = (count: number): string => (count === 1 ? "1 Änderung" : `${figure(count)} Änderungen`);
const lines = (first: number, last: number): string => (last <= first ? `Zeile ${first}` : `Zeilen ${first}-${last}`);

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

  // Remarks on lines.
  remark: "Anmerkung für codelaw",
  remarkHint: "Was soll hier anders sein? Alle Anmerkungen gehen zusammen ab.",
  you: "Sie",
  notSent: "Noch nicht gesendet",
  placeChanged: "Noch nicht gesendet; diese Zeilen wurden seither geändert",
  placeGone: "Noch nicht gesendet; diese Zeilen gibt es nicht mehr",
  noRemarks:
    "Es gibt keine Anmerkungen zu senden. Schreiben Sie welche neben die Zeilen einer Durchsicht oder einer von codelaw geänderten Datei.",
  tooMany:
    "Mehr Anmerkungen gehen hier nicht: Es sind hundert, oder die Datei ist zu groß. Senden Sie erst die vorhandenen.",
  remarks: (count: number) =>
    count === 1 ? "Ich habe eine Anmerkung zu Ihren Änderungen." : `Ich habe ${count} Anmerkungen zu Ihren Änderungen.`,
  onLines: (file: string, first: number, last: number) => `${file}, ${lines(first, last)}:`,
  onOld: (file: string, first: number, last: number) =>
    `${file}, wie sie vor Ihren Änderungen war, ${lines(first, last)}:`,
  onChanged: (file: string, first: number, last: number) =>
    `${file}, ${lines(first, last)}, geändert, nachdem ich dies geschrieben hatte:`,
  onRewritten: (file: string, first: number, last: number) =>
    `${file}, damals ${lines(first, last)}, die es nicht mehr gibt:`,
  onDeleted: (file: string, first: number, last: number) =>
    `${file}, inzwischen gelöscht, damals ${lines(first, last)}:`,
};
