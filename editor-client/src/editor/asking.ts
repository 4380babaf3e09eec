// Questions about the code at hand, by commands and by the server's own code actions.
import { type Diagnostic, languages, type TextEditor, Uri, window } from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import type { Shown } from "../chat/shown";
import type { ChatView } from "../chat/view";
import { t } from "../language";
import type { AskedDiagnostic, AskInEditor } from "../protocol/types";
import type { Wire } from "../server/wire";
import { isFields, isRange } from "../chat/incoming";
import { attachmentOf, rangeOf, selectionOf } from "./selection";
import { rangeFrom } from "./shapes";

/** Ask for the question, and send it with the selection. */
export async function askSelection(view: ChatView, shown: Shown): Promise<void> {
  const editor = editorAtHand();
  if (editor === null) return;
  const attachment = selectionOf(editor);
  const text = await window.showInputBox({
    title: t.askAbout(attachment.label),
    prompt: t.yourQuestion,
    ignoreFocusOut: true,
  });
  if (text === undefined || text.trim() === "") return;
  // While a turn runs, words to its chat would steer it.
  await view.tell({ kind: "ask", text, attachments: [attachment], newChat: shown.running });
}

/** Have the selection explained, and show the chat in which that is done. */
export async function explain(wire: Wire, view: ChatView): Promise<void> {
  const editor = editorAtHand();
  if (editor === null) return;
  if (editor.selection.isEmpty) {
    void window.showInformationMessage(t.selectFirst);
    return;
  }
  const { document, selection } = editor;
  await run(wire, view, "codelaw.editor.explain", {
    uri: document.uri.toString(),
    range: rangeOf(selection),
    version: document.version,
  });
}

/** Have the problem at the cursor fixed; with several, the one that is picked. */
export async function fix(wire: Wire, view: ChatView): Promise<void> {
  const editor = editorAtHand();
  if (editor === null) return;
  const { document } = editor;
  const { version } = document;
  const found = problemsAt(editor);
  if (found.length === 0) {
    void window.showInformationMessage(t.noProblem);
    return;
  }
  const picked = found.length === 1 ? found[0] : await pickProblem(found);
  if (picked === undefined) return;
  await run(wire, view, "codelaw.editor.fix", {
    uri: document.uri.toString(),
    range: rangeOf(picked.range),
    version,
    diagnostic: diagnosticOf(picked),
  });
}

/** Have a test written for the selection, or for what the cursor stands in. */
export async function test(wire: Wire, view: ChatView): Promise<void> {
  const editor = editorAtHand();
  if (editor === null) return;
  const { document, selection } = editor;
  await run(wire, view, "codelaw.editor.test", {
    uri: document.uri.toString(),
    range: rangeOf(selection),
    version: document.version,
  });
}

/** The server's code actions, with their chat in the panel instead of a chat file. */
export function inPanel(view: ChatView, failed: (error: unknown) => void): Pick<Middleware, "executeCommand"> {
  return {
    executeCommand: async (command, args, next): Promise<unknown> => {
      if (!command.startsWith("codelaw.editor.")) return next(command, args);
      const asked: unknown = args[0];
      if (command === "codelaw.editor.ask" && isQuestion(asked)) {
        await view.tell({ kind: "attach", attachments: [attachmentOf(Uri.parse(asked.uri), rangeFrom(asked.range))] });
        return {};
      }
      try {
        const answer: unknown = await next(command, args);
        await showChat(view, answer);
        return answer;
      } catch (error) {
        failed(error);
        return undefined;
      }
    },
  };
}

async function run(
  wire: Wire,
  view: ChatView,
  command: "codelaw.editor.explain" | "codelaw.editor.fix" | "codelaw.editor.test",
  params: AskInEditor,
): Promise<void> {
  await showChat(view, await wire.command(command, params));
}

async function showChat(view: ChatView, answer: unknown): Promise<void> {
  if (isFields(answer) && typeof answer["chatId"] === "string") {
    await view.tell({ kind: "show", page: "chat", chatId: answer["chatId"] });
  }
}

/** A question that has still to be written. */
function isQuestion(value: unknown): value is { uri: string; range: AskInEditor["range"] } {
  if (!isFields(value) || typeof value["uri"] !== "string" || !isRange(value["range"])) return false;
  return typeof value["text"] !== "string";
}

function editorAtHand(): TextEditor | null {
  const editor = window.activeTextEditor;
  if (editor !== undefined) return editor;
  void window.showInformationMessage(t.openFileFirst);
  return null;
}

/** What is reported where the selection is, or else in its lines; the gravest first. */
function problemsAt({ document, selection }: TextEditor): Diagnostic[] {
  const every = languages.getDiagnostics(document.uri);
  const here = every.filter(({ range }) => range.intersection(selection) !== undefined);
  const lines = (diagnostic: Diagnostic): boolean =>
    diagnostic.range.start.line <= selection.end.line && diagnostic.range.end.line >= selection.start.line;
  return (here.length > 0 ? here : every.filter(lines)).sort((one, other) => one.severity - other.severity);
}

async function pickProblem(found: readonly Diagnostic[]): Promise<Diagnostic | undefined> {
  const items = found.map((diagnostic) => ({
    label: diagnostic.message.split("\n", 1)[0] ?? "",
    description: `${diagnostic.source ?? ""} ${t.inLine(diagnostic.range.start.line + 1)}`.trim(),
    diagnostic,
  }));
  return (await window.showQuickPick(items, { title: t.fixWhich }))?.diagnostic;
}

function diagnosticOf({ message, range, code, source }: Diagnostic): AskedDiagnostic {
  const value = typeof code === "object" ? code.value : code;
  return {
    message,
    range: rangeOf(range),
    ...(value === undefined ? {} : { code: String(value) }),
    ...(source === undefined ? {} : { source }),
  };
}
