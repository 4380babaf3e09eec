// The words of the extension outside of its panel, in English: messages, questions, pickers and the status bar.
import { numbersOf } from "../numbers";
import { review } from "./review";
import { server } from "./server";

const { figure } = numbersOf("en");

export const host = {
  server,
  review,

  // Words of many places.
  open: "Open",
  openFileFirst: "Open a file first.",
  notRunning: "The server is not running.",

  // The status bar.
  phases: {
    searching: "looking for the server",
    missing: "the server is not installed",
    installing: "installing",
    starting: "starting",
    ready: "ready",
    crashed: "the server has crashed",
    stopped: "stopped",
  },
  asks: (count: number) => (count === 1 ? "asks a question" : `asks ${figure(count)} questions`),
  running: "running",
  offline: "offline",
  offlineModel: "Offline model: set an API key to use a real one.",
  windowUsed: (share: string) => `${share} of the window used`,
  contextOf: (used: string, whole: string, share: string) => `Context: ${used} of ${whole} tokens (${share})`,
  modelAndMode: (model: string, mode: string) => `Model: ${model} · ${mode}`,
  lastTurn: (tokens: string) => `Last turn: ${tokens} tokens`,

  // Approvals as notifications.
  show: "Show",
  allowOnce: "Allow once",
  reject: "Reject",
  run: (command: string) => `Run ${command}`,
  codelawAsks: (what: string) => `codelaw asks: ${what}`,
  asksNoLonger: "codelaw no longer asks that: it was answered or withdrawn.",
  newChat: "New chat",
  hasAnswered: (chats: number) => (chats === 1 ? "has answered" : `has answered in ${figure(chats)} chats`),
  turnFinished: (title: string, answer: string) =>
    `codelaw has answered${title === "" ? "" : ` in “${title}”`}${answer === "" ? "." : `: ${answer}`}`,
  turnFailed: (title: string, reason: string) => `codelaw has failed${title === "" ? "" : ` in “${title}”`}: ${reason}`,
  turnStopped: (title: string) => `codelaw has stopped${title === "" ? "" : ` in “${title}”`} before the end.`,

  // What the editor lends.
  lending: "codelaw answers in a chat for which you have chosen this model.",
  modelGone: (id: string) => `There is no model ${id} any more.`,
  toolGone: (name: string) => `There is no tool ${name} any more.`,

  // Questions about the code at hand.
  askAbout: (label: string) => `Ask About ${label}`,
  yourQuestion: "Your question; the selection goes along.",
  selectFirst: "Select what codelaw is to explain.",
  selectToAsk: "Open a file and select what you want to ask about.",
  noProblem: "No problem is reported here. Put the cursor on one, or ask about the selection.",
  fixWhich: "Fix Which Problem?",
  openAsChat: "Open as Chat",

  // Edits of a selection.
  editWhat: (label: string) => `Edit ${label}`,
  editAgain: "What should be different?",
  editPrompt: "Say what these lines should be. Nothing changes before you accept it.",
  editRuns: "codelaw is writing…",
  editStop: "Stop",
  editAccept: "Accept",
  editReject: "Reject",
  editOther: "Again…",
  editCompare: "Compare",
  editNothing: (name: string) => `codelaw would change nothing in these lines of ${name}.`,
  editLost: (name: string) => `These lines of ${name} have changed meanwhile, so nothing was put in their place.`,

  // The message of a commit.
  messageRuns: "codelaw writes a commit message",
  noMessage: "There is no message.",
  noGit: "The editor's git extension is missing or switched off.",
  noRepository: "Open a folder of a git repository first.",
  whichRepository: "The Message of Which Repository?",
  replaceMessage: "The box has a message already.",
  replace: "Replace",
  inLine: (line: number) => `line ${line}`,

  // Documents and files.
  fileOrMenu: "Open a file first, or use the menu of a file in the explorer.",
  cannotChange: (name: string) => `${name} cannot be changed here. Copy the text instead.`,
  notSaved: (names: string) => `Not saved: ${names}. Save them, then accept again.`,
  exportChat: "Export Chat",
  chatIsIn: (name: string) => `The chat is in ${name}.`,
  addFiles: "Add Files to Chat",
  addThem: "Add to Chat",
  notFound: (names: string) => `Not found: ${names}`,
  noFile: (name: string) => `There is no file “${name}” in the workspace.`,
  openIt: (path: string) => `Open ${path}?`,
  liesOutside: "It lies outside of the workspace.",
  onlyWeb: (url: string) => `Only web addresses are opened, not “${url}”.`,

  // Changes side by side.
  beforeNotReady: "The server keeps what files were before a turn, and it is not ready.",
  removed: (name: string) => `${name} (removed by codelaw)`,
  beforeAndNow: (name: string) => `${name} (before codelaw ↔ now)`,
  nowAndProposed: (name: string) => `${name} (now ↔ proposed by codelaw)`,
  previewCut: "This change is too long for its preview to be whole, so it cannot be compared here.",
  theFile: "The file",
  anotherFile: (name: string) => `${name} is another one than codelaw has read; the diff does not fit it.`,

  // The law.
  folderFirst: (law: string) => `Open a folder first: its law is the file ${law} in it.`,
  whichFolder: "The law of which folder?",
  searchTitle: "Search code",
  searchHint: "What it does, in words or names: where retries are counted",
  nothingFound: "Nothing was found. Try other words.",
  whichLaw: "Which of these laws?",
  createLaw: (name: string) => `Create ${name}`,
  noLaw: (folder: string, law: string) => `${folder} has no law yet: rules in ${law} that go with every message.`,
  create: "Create",
  newLaw: `# Law

What is written here goes with every message to the model. Keep it short: one rule in one line.

- Write tests for what you change, and run them.
- Ask before adding a dependency.
`,

  // The API key.
  setKey: "codelaw: Set API Key",
  keyKept: "Kept in the editor's secret storage, not in settings. Without a key, an offline model answers.",
  keyEmpty: "Paste the key of your model's vendor.",
  keyBroken: "A key has no spaces or line breaks.",
  keyLong: "This is too long for a key.",
  keyForeign: "A key has only letters, digits and signs of ASCII.",

  // The panel's page.
  notAsked: (method: string) => `${method} was not asked as it should be.`,
  reload: "Reload the window.",
};

/** Every table has these words. */
export type HostWords = typeof host;
