// Many files at once in the editor's own diff of several files, with what they were as read-only documents.
import { commands, type Disposable, Uri, window, workspace } from "vscode";
import { isFields } from "../chat/incoming";
import { beforeOf } from "../editor/diffs";
import { find } from "../editor/opening";
import { visible } from "../hidden";
import { t } from "../language";
import { unlinked } from "../plain";
import type { TurnChange } from "../protocol/types";
import { withKept } from "./hunks";
import type { Reviews } from "./reviews";

/** What files were before that which waits in them. */
export const SCHEME = "codelaw-review";
/** Files that are compared at once: the editor makes documents of all of them. */
export const MOST_COMPARED = 200;
const MOST_NAMED = 3;

/** What the editor's command takes: what the row is named by, and two texts, of which one may be missing. */
type Row = [shown: Uri, before: Uri | undefined, after: Uri | undefined];
type Compared = Pick<TurnChange, "uri" | "path" | "kind" | "isText" | "renamedFrom">;

/** Opens reviews, and gives their documents. */
export class Comparing implements Disposable {
  readonly #reviews: Reviews;
  readonly #registered: Disposable;

  constructor(reviews: Reviews) {
    this.#reviews = reviews;
    this.#registered = workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: async (uri) => {
        const asked = addressOf(uri);
        return asked === null ? "" : this.#text(asked);
      },
    });
  }

  /** What a turn did, file by file, or all that waits in the chat. */
  async open(chatId: string, turnId: string | null): Promise<void> {
    if (turnId !== null) {
      const changes = await this.#reviews.ofTurn(chatId, turnId);
      if (changes.length === 0) void window.showInformationMessage(t.review.turnUndone);
      else await this.#compare(changes, ({ uri, path }) => beforeIn(uri, { chatId, turnId, path }));
      return;
    }
    await this.#reviews.read(chatId);
    const files = this.#reviews.of(chatId);
    const above = new Map(files.map((file) => [file.uri, file.above]));
    if (files.length === 0) void window.showInformationMessage(t.review.nothing);
    else await this.#compare(files, ({ uri }) => beforeIn(uri, { chatId, uri, above: above.get(uri) ?? 0 }));
  }

  /** One file that waits, as it was and as it is. */
  async file(uri: string): Promise<void> {
    const found = this.#reviews.find(uri);
    if (found === null) {
      void window.showInformationMessage(t.review.nothing);
      return;
    }
    const { chatId, file } = found;
    await this.#compare([file], ({ uri: own }) => beforeIn(own, { chatId, uri: own, above: file.above }));
  }

  dispose(): void {
    this.#registered.dispose();
  }

  async #text(asked: Address): Promise<string> {
    if ("turnId" in asked) {
      const { chatId, turnId, path } = asked;
      return (await workspace.openTextDocument(beforeOf(chatId, turnId, path))).getText();
    }
    const { chatId, uri, above } = asked;
    const { before, after } = await this.#reviews.text(chatId, uri, above);
    if (before === null || after === null) return before ?? "";
    return withKept(before, after, new Set(this.#reviews.partsOf(chatId, uri)));
  }

  async #compare(files: readonly Compared[], before: (file: Compared) => Uri): Promise<void> {
    const texts = files.filter(({ isText }) => isText);
    const gone = new Map(texts.filter(({ kind }) => kind === "deleted").map((file) => [file.path, file]));
    const sources = new Map(texts.map((file) => [file, gone.get(file.renamedFrom ?? "")]));
    const moved = new Set(sources.values());
    const shown = texts.filter((file) => !moved.has(file));
    const rows: Row[] = [];
    for (const file of shown.slice(0, MOST_COMPARED)) {
      const there = (await find({ uri: file.uri }))?.uri;
      const source = sources.get(file);
      const old = file.kind === "created" && source === undefined ? undefined : before(source ?? file);
      if (there !== undefined || old !== undefined) rows.push([there ?? Uri.parse(file.uri, true), old, there]);
    }
    const others = files.filter(({ isText }) => !isText);
    if (others.length > 0) {
      const names = others.slice(0, MOST_NAMED).map(({ path }) => unlinked(visible(path)));
      const told = names.join(", ") + (others.length > names.length ? ", …" : "");
      void window.showInformationMessage(t.review.noText(others.length, told));
    }
    if (shown.length > MOST_COMPARED) {
      void window.showInformationMessage(t.review.firstOf(MOST_COMPARED, shown.length));
    }
    if (rows.length > 0) await commands.executeCommand("vscode.changes", t.review.changesBy, rows);
  }
}

/** Which text it is: a file as a turn found it, or as it was before all that waits in it. */
type Address = { chatId: string; turnId: string; path: string } | { chatId: string; uri: string; above: number };

/** A file as it was. Its path is the file's own, so that the editor takes both for the same one. */
function beforeIn(uri: string, address: Address): Uri {
  return Uri.from({ scheme: SCHEME, path: Uri.parse(uri, true).path, query: JSON.stringify(address) });
}

function addressOf({ query }: Uri): Address | null {
  try {
    const given: unknown = JSON.parse(query);
    if (!isFields(given)) return null;
    const { chatId, turnId, path, uri, above } = given;
    if (typeof chatId !== "string") return null;
    if (typeof turnId === "string" && typeof path === "string") return { chatId, turnId, path };
    return typeof uri === "string" && typeof above === "number" ? { chatId, uri, above } : null;
  } catch {
    // A document that another made up.
    return null;
  }
}
