// Puts together what lets the user look at changes, and keep or undo them.
import { commands, Disposable, type Memento, window } from "vscode";
import type { Accepted } from "../chat/accepted";
import type { Shown } from "../chat/shown";
import { t } from "../language";
import type { FromPanel, ToPanel } from "../messages";
import type { Wire } from "../server/wire";
import { Commenting } from "./commenting";
import { Comparing } from "./comparing";
import { Keeping } from "./keeping";
import { Marking } from "./marking";
import { Marks } from "./marks";
import { type Pending, Reviews } from "./reviews";

/** What the parts need of the extension around them. */
export interface Around {
  readonly wire: Wire;
  readonly shown: Shown;
  readonly memory: Memento;
  readonly accepted: Accepted;
  readonly post: (message: ToPanel) => void;
  /** Show it in the view at hand. */
  readonly tell: (message: ToPanel) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** The review of what turns did to files. */
export class Reviewing implements Disposable {
  readonly #around: Around;
  readonly #reviews: Reviews;
  readonly #comparing: Comparing;
  readonly #registered: Disposable;
  #session: number;

  constructor(around: Around) {
    const { wire, shown, memory, accepted, failed } = around;
    this.#around = around;
    this.#reviews = new Reviews(wire, new Marks(memory), accepted, failed);
    this.#comparing = new Comparing(this.#reviews);
    this.#session = wire.state.session;
    this.#registered = Disposable.from(
      this.#reviews,
      this.#comparing,
      new Marking(this.#reviews, this.#comparing, failed),
      new Commenting(this.#reviews, new Keeping(memory), around.tell, () => shown, failed),
      this.#reviews.onChange((pending) => {
        around.post(toPanel(pending));
        this.#tellMenus();
      }),
      wire.onEvent((event) => this.#reviews.event(event)),
      wire.onState(({ phase, session }) => {
        if (phase !== "ready" || session === this.#session) return;
        this.#session = session;
        this.#reviews.connected();
      }),
      shown.onChange(() => this.#tellMenus()),
      shown.onDeleted((chatId) => {
        this.#reviews.deleted(chatId).catch(failed);
      }),
      ...this.#commands(),
    );
  }

  /** What a page is to know when it is made anew. */
  get welcome(): ToPanel[] {
    return this.#reviews.all.map(toPanel);
  }

  /** A page shows a chat: what waits in it is read. */
  look(chatId: string | null): void {
    this.#reviews.look(chatId);
  }

  /** Do what the panel asks. */
  async take({ chatId, what, turnId, uris }: Extract<FromPanel, { kind: "review" }>): Promise<void> {
    if (what === "show") await this.#comparing.open(chatId, turnId ?? null);
    else if (what === "keep") await this.#reviews.keep(chatId, uris ?? null);
    else await this.#reviews.undo(chatId, uris ?? null);
  }

  /** A turn is accepted as a whole. */
  accepted(chatId: string): Promise<void> {
    return this.#reviews.remark(chatId);
  }

  dispose(): void {
    this.#registered.dispose();
  }

  #commands(): Disposable[] {
    const all = {
      "codelaw.reviewChanges": (chatId: string) => this.#comparing.open(chatId, null),
      "codelaw.keepAllChanges": async (chatId: string) => {
        await this.#reviews.keep(chatId, null);
      },
      "codelaw.undoAllChanges": async (chatId: string) => {
        const count = this.#reviews.of(chatId).length;
        const words = t.review;
        if (count === 0) {
          void window.showInformationMessage(words.nothing);
          return;
        }
        const detail = words.undoDetail;
        const said = await window.showWarningMessage(words.undoAll(count), { modal: true, detail }, words.undo);
        if (said === words.undo) await this.#reviews.undo(chatId, null);
      },
    };
    return Object.entries(all).map(([id, act]) =>
      commands.registerCommand(id, async () => {
        const { chatId } = this.#around.shown;
        try {
          if (chatId !== null) await act(chatId);
          else void window.showInformationMessage(t.review.nothing);
        } catch (error) {
          this.#around.failed(error);
        }
      }),
    );
  }

  #tellMenus(): void {
    const { chatId } = this.#around.shown;
    const waits = chatId !== null && this.#reviews.of(chatId).length > 0;
    void commands.executeCommand("setContext", "codelaw.pending", waits);
  }
}

/** Rows that the panel draws; what is more it counts. */
const MOST_ROWS = 500;

const toPanel = ({ chatId, files }: Pending): ToPanel => ({
  kind: "pending",
  chatId,
  files: files.slice(-MOST_ROWS).map(({ uri, path, kind, isText, renamedFrom }) => ({
    uri,
    path,
    kind,
    isText,
    ...(renamedFrom === undefined ? {} : { renamedFrom }),
  })),
  total: files.length,
});
