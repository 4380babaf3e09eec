// Texts that are too long for the panel, as documents that nobody can change.
import { type Disposable, type TextDocumentContentProvider, Uri, window, workspace } from "vscode";
import { fileName } from "../chat/files";

const SCHEME = "codelaw-text";
/** Texts that are kept; an older document that is still open keeps its own. */
const MOST = 20;

/** Serves the documents; the newest texts are kept. */
export class Texts implements TextDocumentContentProvider, Disposable {
  readonly #texts = new Map<string, string>();
  readonly #registered: Disposable;
  #last = 0;

  constructor() {
    this.#registered = workspace.registerTextDocumentContentProvider(SCHEME, this);
  }

  async show({ title, text }: { title: string; text: string }): Promise<void> {
    this.#last += 1;
    const uri = Uri.from({ scheme: SCHEME, path: `/${this.#last}/${fileName(title)}.txt` });
    this.#texts.set(uri.toString(), text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MOST) break;
      this.#texts.delete(oldest);
    }
    await window.showTextDocument(await workspace.openTextDocument(uri), { preview: true });
  }

  provideTextDocumentContent(uri: Uri): string {
    return this.#texts.get(uri.toString()) ?? "";
  }

  dispose(): void {
    this.#registered.dispose();
    this.#texts.clear();
  }
}
