// The editor's own diff view: what a turn changed, and what an open question would change.
import { commands, type Disposable, EventEmitter, Uri, window, workspace } from "vscode";
import { t } from "../language";
import type { FromPanel, OpenApproval } from "../messages";
import { unlinked } from "../plain";
import type { Wire } from "../server/wire";
import { find } from "./opening";
import { closeProposals, pathOf, SCHEME } from "./proposals";
import { applyPatch, type FilePatch, parsePatch } from "./patch";

const MOST_TEXTS = 50;

type Turn = Omit<Extract<FromPanel, { kind: "diff" }>, "kind">;
type Pair = [shown: Uri, before: Uri, after: Uri];

/** Shows changes side by side. */
export class Diffs implements Disposable {
  readonly #wire: Wire;
  readonly #changed = new EventEmitter<Uri>();
  readonly #registered: Disposable;
  readonly #texts = new Map<string, string>();

  constructor(wire: Wire) {
    this.#wire = wire;
    this.#registered = workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: this.#changed.event,
      provideTextDocumentContent: (uri) => this.#texts.get(uri.toString()) ?? "",
    });
  }

  /** A file as the turn found it, beside what it is now. */
  async turn({ chatId, turnId, uri, path }: Turn): Promise<void> {
    if (this.#wire.state.phase !== "ready") {
      void window.showWarningMessage(t.beforeNotReady);
      return;
    }
    const before = beforeOf(chatId, turnId, path);
    const place = await find({ uri });
    const after = place?.uri ?? this.#keep(Uri.from({ scheme: SCHEME, path: `/removed/${path}` }), "");
    const title = place === null ? t.removed(nameIn(path)) : t.beforeAndNow(nameIn(path));
    await commands.executeCommand("vscode.diff", before, after, title, { preview: true });
  }

  /** What a question that waits would change; says so where its diff does not fit. */
  async proposal({ id, request }: OpenApproval): Promise<void> {
    const patches = parsePatch(request.preview.diff ?? "");
    if (patches === null) {
      void window.showWarningMessage(t.previewCut);
      return;
    }
    const pairs: Pair[] = [];
    for (const patch of patches) {
      const pair = await this.#pair(id, patch);
      if (pair === null) {
        const name = unlinked(patch.from ?? patch.to ?? t.theFile);
        void window.showWarningMessage(t.anotherFile(name));
        return;
      }
      pairs.push(pair);
    }
    const [only] = pairs;
    if (pairs.length === 1 && only !== undefined) {
      const [shown, before, after] = only;
      const title = t.nowAndProposed(nameIn(shown.path));
      await commands.executeCommand("vscode.diff", before, after, title, { preview: true });
    } else await commands.executeCommand("vscode.changes", request.title, pairs);
  }

  /** The question is answered or withdrawn. */
  answered({ id }: OpenApproval): Promise<void> {
    return closeProposals(id);
  }

  dispose(): void {
    this.#registered.dispose();
    this.#changed.dispose();
    this.#texts.clear();
  }

  async #pair(id: number, patch: FilePatch): Promise<Pair | null> {
    const name = patch.to ?? patch.from ?? "";
    const side = (what: "proposed" | "none", text: string): Uri =>
      this.#keep(Uri.from({ scheme: SCHEME, path: pathOf(what, id, name) }), text);
    // Of a file that is there and empty the diff says the same as of none.
    const there = await find({ path: patch.from ?? name });
    if (there === null && patch.from !== null) return null;
    const text = there === null ? "" : (await workspace.openTextDocument(there.uri)).getText();
    const made = applyPatch(text, patch);
    if (made === null) return null;
    const before = there?.uri ?? side("none", "");
    return [before, before, side("proposed", made)];
  }

  #keep(uri: Uri, text: string): Uri {
    const name = uri.toString();
    this.#texts.delete(name);
    this.#texts.set(name, text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MOST_TEXTS) break;
      this.#texts.delete(oldest);
    }
    this.#changed.fire(uri);
    return uri;
  }
}

/** The server's document of a file as a turn found it. */
export function beforeOf(chatId: string, turnId: string, path: string): Uri {
  return Uri.from({ scheme: "codelaw-chat", path: `/${chatId}/before/${turnId}/${path}` });
}

const nameIn = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
