// Die Worte der Erweiterung außerhalb ihres Panels auf Deutsch.
import type { HostWords } from "../en/host";
import { numbersOf } from "../numbers";
import { review } from "./review";
import { server } from "./server";

const { figure } = numbersOf("de");

export const host: HostWords = {
  server,
  review,

  // Words of many places.
  open: "Öffnen",
  openFileFirst: "Öffnen Sie zuerst eine Datei.",
  notRunning: "Der Server läuft nicht.",

  // The status bar.
  phases: {
    searching: "der Server wird gesucht",
    missing: "der Server ist nicht installiert",
    installing: "der Server wird installiert",
    starting: "der Server startet",
    ready: "bereit",
    crashed: "der Server ist unerwartet stehen geblieben",
    stopped: "angehalten",
  },
  asks: (count: number) => (count === 1 ? "stellt eine Frage" : `stellt ${figure(count)} Fragen`),
  running: "arbeitet",
  offline: "offline",
  offlineModel: "Offline-Modell: Setzen Sie einen API-Schlüssel, um ein echtes zu nutzen.",
  windowUsed: (share: string) => `${share} des Fensters belegt`,
  contextOf: (used: string, whole: string, share: string) => `Kontext: ${used} von ${whole} Tokens (${share})`,
  modelAndMode: (model: string, mode: string) => `Modell: ${model} · ${mode}`,
  lastTurn: (tokens: string) => `Letzter Beitrag: ${tokens} Tokens`,

  // Approvals as notifications.
  show: "Zeigen",
  allowOnce: "Einmal erlauben",
  reject: "Ablehnen",
  run: (command: string) => `Ausführen: ${command}`,
  codelawAsks: (what: string) => `codelaw fragt: ${what}`,
  asksNoLonger: "codelaw fragt das nicht mehr: Es wurde beantwortet oder zurückgezogen.",
  newChat: "Neuer Chat",
  hasAnswered: (chats: number) => (chats === 1 ? "hat geantwortet" : `hat in ${figure(chats)} Chats geantwortet`),
  turnFinished: (title: string, answer: string) =>
    `codelaw hat geantwortet${title === "" ? "" : ` in „${title}“`}${answer === "" ? "." : `: ${answer}`}`,
  turnFailed: (title: string, reason: string) =>
    `codelaw ist gescheitert${title === "" ? "" : ` in „${title}“`}: ${reason}`,
  turnStopped: (title: string) => `codelaw hat${title === "" ? "" : ` in „${title}“`} vor dem Ende angehalten.`,

  // Was der Editor ausleiht.
  lending: "codelaw antwortet in einem Chat, für den Sie dieses Modell gewählt haben.",
  modelGone: (id) => `Das Modell ${id} gibt es nicht mehr.`,
  toolGone: (name) => `Das Werkzeug ${name} gibt es nicht mehr.`,

  // Questions about the code at hand.
  askAbout: (label: string) => `Zu ${label} fragen`,
  yourQuestion: "Ihre Frage; die Auswahl geht mit.",
  selectFirst: "Wählen Sie aus, was codelaw erklären soll.",
  selectToAsk: "Öffnen Sie eine Datei und wählen Sie aus, wozu Sie fragen möchten.",
  noProblem:
    "Hier ist kein Problem gemeldet. Setzen Sie die Schreibmarke auf eines, oder stellen Sie eine Frage zur Auswahl.",
  fixWhich: "Welches Problem beheben?",
  openAsChat: "Als Chat öffnen",

  // Edits of a selection.
  editWhat: (label: string) => `${label} ändern`,
  editAgain: "Was soll anders sein?",
  editPrompt: "Sagen Sie, wie diese Zeilen werden sollen. Nichts ändert sich, bevor Sie es annehmen.",
  editRuns: "codelaw schreibt …",
  editStop: "Anhalten",
  editAccept: "Annehmen",
  editReject: "Verwerfen",
  editOther: "Noch einmal …",
  editCompare: "Vergleichen",
  editNothing: (name: string) => `codelaw würde in diesen Zeilen von ${name} nichts ändern.`,
  editLost: (name: string) => `Diese Zeilen von ${name} haben sich inzwischen geändert; nichts wurde ersetzt.`,

  // The message of a commit.
  messageRuns: "codelaw schreibt eine Commit-Nachricht",
  noMessage: "Es gibt keine Nachricht.",
  noGit: "Die Git-Erweiterung des Editors fehlt oder ist abgeschaltet.",
  noRepository: "Öffnen Sie zuerst einen Ordner eines Git-Repositorys.",
  whichRepository: "Die Nachricht welches Repositorys?",
  replaceMessage: "Im Feld steht schon eine Nachricht.",
  replace: "Ersetzen",
  inLine: (line: number) => `Zeile ${line}`,

  // Documents and files.
  fileOrMenu: "Öffnen Sie zuerst eine Datei, oder nutzen Sie das Menü einer Datei im Explorer.",
  cannotChange: (name: string) => `${name} lässt sich hier nicht ändern. Kopieren Sie stattdessen den Text.`,
  notSaved: (names: string) => `Nicht gespeichert: ${names}. Speichern Sie, dann übernehmen Sie noch einmal.`,
  exportChat: "Chat exportieren",
  chatIsIn: (name: string) => `Der Chat steht in ${name}.`,
  addFiles: "Dateien zum Chat hinzufügen",
  addThem: "Zum Chat hinzufügen",
  notFound: (names: string) => `Nicht gefunden: ${names}`,
  noFile: (name: string) => `Im Arbeitsbereich gibt es keine Datei „${name}“.`,
  openIt: (path: string) => `${path} öffnen?`,
  liesOutside: "Die Datei liegt außerhalb des Arbeitsbereichs.",
  onlyWeb: (url: string) => `Nur Webadressen werden geöffnet, nicht „${url}“.`,

  // Changes side by side.
  beforeNotReady: "Was vor einem Beitrag in den Dateien stand, weiß der Server, und der ist nicht bereit.",
  removed: (name: string) => `${name} (von codelaw entfernt)`,
  beforeAndNow: (name: string) => `${name} (vor codelaw ↔ jetzt)`,
  nowAndProposed: (name: string) => `${name} (jetzt ↔ Vorschlag von codelaw)`,
  previewCut: "Diese Änderung ist zu lang für eine vollständige Vorschau und lässt sich hier nicht vergleichen.",
  theFile: "Die Datei",
  anotherFile: (name: string) => `${name} ist nicht mehr, wie codelaw sie gelesen hat; der Vergleich passt nicht dazu.`,

  // The law.
  folderFirst: (law: string) => `Öffnen Sie zuerst einen Ordner: Sein Gesetz ist die Datei ${law} darin.`,
  whichFolder: "Das Gesetz welches Ordners?",
  searchTitle: "Code suchen",
  searchHint: "Was er tut, in Worten oder Namen: wo Versuche gezählt werden",
  nothingFound: "Nichts gefunden. Versuchen Sie andere Worte.",
  whichLaw: "Welches dieser Gesetze?",
  createLaw: (name: string) => `${name} anlegen`,
  noLaw: (folder: string, law: string) =>
    `${folder} hat noch kein Gesetz: Regeln in ${law}, die mit jeder Nachricht gehen.`,
  create: "Anlegen",
  newLaw: `# Gesetz

Was hier steht, geht mit jeder Nachricht an das Modell. Fassen Sie sich kurz: je Regel eine Zeile.

- Schreibe Tests für das, was du änderst, und führe sie aus.
- Frage, bevor du eine Abhängigkeit hinzufügst.
`,

  // The API key.
  setKey: "codelaw: API-Schlüssel setzen",
  keyKept:
    "Liegt im geheimen Speicher des Editors, nicht in den Einstellungen. Ohne Schlüssel antwortet ein Offline-Modell.",
  keyEmpty: "Fügen Sie den Schlüssel des Anbieters Ihres Modells ein.",
  keyBroken: "Ein Schlüssel hat keine Leerzeichen oder Zeilenumbrüche.",
  keyLong: "Das ist zu lang für einen Schlüssel.",
  keyForeign: "Ein Schlüssel hat nur Buchstaben, Ziffern und Zeichen aus ASCII.",

  // The panel's page.
  notAsked: (method: string) => `${method} wurde nicht richtig aufgerufen.`,
  reload: "Laden Sie das Fenster neu.",
};
