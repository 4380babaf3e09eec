// Remarks of the user on lines of a review, and of open files in which something waits; sent as one question.
import {
  type Comment,
  CommentMode,
  type CommentReply,
  comments,
  type CommentThread,
  CommentThreadCollapsibleState,
  type CommentController,
  commands,
  Disposable,
  Range,
  type TextDocument,
  Uri,
  window,
  workspace,
} from "vscode";
import { isFields } from "../chat/incoming";
import { find } from "../editor/opening";
import { t } from "../language";
import type { ToPanel } from "../messages";
import { SCHEME } from "./comparing";
import type { Keeping } from "./keeping";
import { linesOf } from "./lines";
import { anchor, messageOf, type Remark } from "./remarks";
import type { Reviews } from "./reviews";

/** Remarks that wait to be sent, and characters of a text on which one is made. */
const MOST = 100;
const LARGEST = 2_000_000;
const PAUSE_MS = 200;

/** A thread of remarks, with the text on which it was begun. */
interface Begun {
  text: string;
  start: number;
  end: number;
}

/** The remarks that wait to be sent. */
export class Commenting implements Disposable {
  readonly #reviews: Reviews;
  readonly #keeping: Keeping;
  readonly #tell: (message: ToPanel) => Promise<void>;
  readonly #shown: () => { chatId: string | null; running: boolean };
  readonly #controller: CommentController;
  readonly #threads = new Map<CommentThread, Begun>();
  readonly #registered: Disposable;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    reviews: Reviews,
    keeping: Keeping,
    tell: (message: ToPanel) => Promise<void>,
    shown: () => { chatId: string | null; running: boolean },
    failed: (error: unknown) => void,
  ) {
    this.#reviews = reviews;
    this.#keeping = keeping;
    this.#tell = tell;
    this.#shown = shown;
    this.#controller = comments.createCommentController("codelaw", "codelaw");
    this.#controller.options = { prompt: t.review.remark, placeHolder: t.review.remarkHint };
    this.#offer();
    const on = (command: string, act: (one: unknown) => unknown): Disposable =>
      commands.registerCommand(command, async (one: unknown) => {
        try {
          await act(one);
        } catch (error) {
          failed(error);
        }
      });
    this.#registered = Disposable.from(
      this.#controller,
      reviews.onChange(() => this.#offer()),
      workspace.onDidChangeTextDocument(({ document }) => this.#soon(document)),
      workspace.onDidOpenTextDocument((document) => this.#soon(document)),
      on("codelaw.addRemark", (reply) => (isReply(reply) ? this.add(reply) : undefined)),
      on("codelaw.deleteRemarks", (thread) => this.#delete(thread)),
      on("codelaw.sendRemarks", () => this.send()),
    );
    try {
      this.#restore();
    } catch (error) {
      failed(error);
    }
  }

  /** Take in what the user has written below some lines. */
  async add({ thread, text }: CommentReply): Promise<void> {
    if (text.trim() === "") return;
    if (!this.#threads.has(thread)) {
      const document = await workspace.openTextDocument(thread.uri);
      if (this.#threads.size >= MOST || document.getText().length > LARGEST) {
        void window.showWarningMessage(t.review.tooMany);
        return;
      }
      const start = thread.range.start.line;
      const end = thread.range.end.line + 1;
      this.#threads.set(thread, { text: document.getText(), start, end });
    }
    thread.comments = [...thread.comments, commentOf(text)];
    show(thread);
    await this.#changed();
  }

  /** Send all remarks as one question, to the chat that has changed the first of the files. */
  async send(): Promise<void> {
    const threads = [...this.#threads].filter(([thread]) => thread.comments.length > 0);
    if (threads.length === 0) {
      void window.showInformationMessage(t.review.noRemarks);
      return;
    }
    const remarks = threads.map(([thread, begun]) => remarkOf(thread, begun));
    const now: (string | null)[] = [];
    for (const [{ uri }] of threads) now.push(await textOf(uri));
    const text = messageOf(remarks, now, t.review);
    const found = threads.map(([{ uri }]) => this.#reviews.find(fileOf(uri))?.chatId);
    const chatId = found.find((one) => one !== undefined);
    const { chatId: atHand, running } = this.#shown();
    if (chatId !== undefined && chatId !== atHand) await this.#tell({ kind: "show", page: "chat", chatId });
    // While a turn runs, words to its chat would steer it.
    await this.#tell({ kind: "ask", text, attachments: [], newChat: running && (chatId ?? atHand) === atHand });
    for (const [thread] of threads) this.#drop(thread);
    await this.#changed();
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#threads.clear();
    this.#registered.dispose();
  }

  /** Where remarks may be made; given anew, because the editor asks a provider once for a document. */
  #offer(): void {
    this.#controller.commentingRangeProvider = {
      provideCommentingRanges: (document: TextDocument) => {
        const { uri, lineCount } = document;
        const offered = uri.scheme === SCHEME || this.#reviews.find(uri.toString()) !== null;
        return offered ? [new Range(0, 0, lineCount - 1, 0)] : [];
      },
    };
  }

  /** Move the remarks with their lines, a moment after the last keystroke. */
  #soon(document: TextDocument): void {
    const name = document.uri.toString();
    if (![...this.#threads.keys()].some(({ uri }) => uri.toString() === name)) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.follow();
    }, PAUSE_MS);
  }

  /** Put each remark where its lines stand by now. */
  follow(): void {
    for (const [thread, { text, start, end }] of this.#threads) {
      const document = workspace.textDocuments.find(({ uri }) => uri.toString() === thread.uri.toString());
      if (document === undefined) continue;
      const place = anchor(text, document.getText(), start, end);
      const last = document.lineCount - 1;
      const first = Math.min(place.start, last);
      const range = new Range(first, 0, Math.min(Math.max(place.end - 1, first), last), 0);
      if (thread.range.start.line !== range.start.line || thread.range.end.line !== range.end.line)
        thread.range = range;
      thread.label = place.gone ? t.review.placeGone : place.changed ? t.review.placeChanged : t.review.notSent;
    }
  }

  async #delete(given: unknown): Promise<void> {
    for (const thread of this.#threads.keys()) if (thread === given) this.#drop(thread);
    await this.#changed();
  }

  #drop(thread: CommentThread): void {
    this.#threads.delete(thread);
    thread.dispose();
  }

  /** Bring back what was not sent when the window closed. */
  #restore(): void {
    for (const { uri, text, start, end, said } of this.#keeping.remarks.slice(0, MOST)) {
      const range = new Range(start, 0, end - 1, 0);
      const thread = this.#controller.createCommentThread(Uri.parse(uri, true), range, said.map(commentOf));
      show(thread);
      this.#threads.set(thread, { text, start, end });
    }
    if (this.#threads.size === 0) return;
    this.follow();
    void this.#count();
  }

  async #changed(): Promise<void> {
    await this.#count();
    await this.#keeping.keep(
      [...this.#threads].map(([thread, begun]) => ({ uri: thread.uri.toString(), said: saidIn(thread), ...begun })),
    );
  }

  async #count(): Promise<void> {
    await commands.executeCommand("setContext", "codelaw.remarks", this.#threads.size);
  }
}

const commentOf = (body: string): Comment => ({
  body,
  mode: CommentMode.Preview,
  author: { name: t.review.you },
});

/** A thread whose remarks wait to be sent. */
function show(thread: CommentThread): void {
  thread.canReply = true;
  thread.label = t.review.notSent;
  thread.collapsibleState = CommentThreadCollapsibleState.Expanded;
}

const saidIn = ({ comments: said }: CommentThread): string[] =>
  said.map(({ body }) => (typeof body === "string" ? body : body.value));

function remarkOf(thread: CommentThread, { text, start, end }: Begun): Remark {
  const { uri } = thread;
  return {
    path: workspace.asRelativePath(Uri.parse(fileOf(uri), true), (workspace.workspaceFolders?.length ?? 0) > 1),
    old: uri.scheme === SCHEME,
    text,
    start,
    end: Math.min(end, linesOf(text).length),
    said: saidIn(thread),
  };
}

/** The file of a document, also of one that shows how it was. */
const fileOf = (uri: Uri): string => {
  if (uri.scheme !== SCHEME) return uri.toString();
  const folder = workspace.workspaceFolders?.[0]?.uri ?? Uri.file("/");
  return folder.with({ path: uri.path }).toString();
};

/** The text of a file as it is; null where there is none. */
async function textOf(uri: Uri): Promise<string | null> {
  if (uri.scheme === SCHEME) return "";
  const there = await find({ uri: uri.toString() });
  return there === null ? null : (await workspace.openTextDocument(there.uri)).getText();
}

const isReply = (value: unknown): value is CommentReply =>
  isFields(value) && typeof value["text"] === "string" && isFields(value["thread"]);
