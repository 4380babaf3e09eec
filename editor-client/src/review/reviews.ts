// What waits for the user of what chats did to files: read from the server, kept or undone.
import { type Disposable, EventEmitter, window } from "vscode";
import type { Accepted } from "../chat/accepted";
import { canonical } from "../chat/files";
import { visible } from "../hidden";
import { t } from "../language";
import { unlinked } from "../plain";
import type { ChatEvent, RevertConflict, ReviewedFile, TurnChange } from "../protocol/types";
import { refusalOf } from "../server/refusal";
import type { Wire } from "../server/wire";
import type { Marks } from "./marks";
import { type FileMark, keptUpTo, marked, marksOf, type PendingFile, pendingOf } from "./pending";
import { saveSettled, saveTurn } from "./saving";

/** Chats that are looked after at once. */
const MOST_CHATS = 20;
const NEEDED = "codelaw/chat/changes";
/** Notices after which files may be other ones than before. */
const UNDONE: ReadonlySet<string> = new Set(["reverted", "files_reverted", "command_interrupted"]);

/** The files of one chat that wait. */
export interface Pending {
  chatId: string;
  files: readonly PendingFile[];
}

/** One file that waits, and the chat that has changed it. */
export interface PendingOf {
  chatId: string;
  file: PendingFile;
}

interface Known {
  changes: readonly TurnChange[];
  files: readonly PendingFile[];
  /** The same by uri, as the editor spells it. */
  byUri: ReadonlyMap<string, PendingFile>;
  reading: Promise<void> | null;
  /** How often somebody asked while it was being read. */
  asked: number;
}

/** Which changes wait, for whoever shows them. */
export class Reviews implements Disposable {
  readonly #changed = new EventEmitter<Pending>();
  readonly onChange = this.#changed.event;
  readonly #wire: Wire;
  readonly #marks: Marks;
  readonly #accepted: Accepted;
  readonly #failed: (error: unknown) => void;
  /** The chat that was looked at last is the last one. */
  readonly #known = new Map<string, Known>();

  constructor(wire: Wire, marks: Marks, accepted: Accepted, failed: (error: unknown) => void) {
    this.#wire = wire;
    this.#marks = marks;
    this.#accepted = accepted;
    this.#failed = failed;
  }

  /** What waits in every chat that is known. */
  get all(): readonly Pending[] {
    return [...this.#known].map(([chatId, { files }]) => ({ chatId, files }));
  }

  of(chatId: string): readonly PendingFile[] {
    return this.#known.get(chatId)?.files ?? [];
  }

  /** Who changed a document last that waits, its uri as the editor spells it; null where it does not. */
  find(uri: string): PendingOf | null {
    let found: PendingOf | null = null;
    for (const [chatId, { byUri }] of this.#known) {
      const file = byUri.get(uri);
      if (file !== undefined && file.number > (found?.file.number ?? 0)) found = { chatId, file };
    }
    return found;
  }

  /** What a turn did to files and nobody has undone. */
  async ofTurn(chatId: string, turnId: string): Promise<readonly TurnChange[]> {
    await this.read(chatId);
    return (this.#known.get(chatId)?.changes ?? []).filter((change) => change.turnId === turnId);
  }

  /** A file before and after what waits in it. */
  text(chatId: string, uri: string, above: number): Promise<ReviewedFile> {
    return this.#wire.request("codelaw/chat/reviewed", { chatId, uri, above });
  }

  /** The parts of a file that the user has accepted one by one. */
  partsOf(chatId: string, uri: string): readonly string[] {
    return this.#marks.of(chatId).files[uri]?.parts ?? [];
  }

  /** A chat is shown: what waits in it is read. */
  look(chatId: string | null): void {
    if (chatId !== null) this.read(chatId).catch(this.#failed);
  }

  event({ chatId, event }: ChatEvent): void {
    const ended = event.kind === "turn_ended" && event.result.changes.length > 0;
    if (ended) saveTurn(event.result.changes.map(({ uri }) => uri)).catch(this.#failed);
    if (ended || (event.kind === "notice" && UNDONE.has(event.code))) this.look(chatId);
  }

  /** Another server is there: it may know of more. */
  connected(): void {
    // A chat that is looked at moves to the end of the map.
    for (const chatId of [...this.#known.keys()]) this.look(chatId);
  }

  async deleted(chatId: string): Promise<void> {
    this.#known.delete(chatId);
    this.#changed.fire({ chatId, files: [] });
    await this.#marks.forget(chatId);
  }

  /** Read what waits in a chat; whoever asks meanwhile gets an answer that is not older than the question. */
  read(chatId: string): Promise<void> {
    const { state } = this.#wire;
    if (state.phase !== "ready" || !state.methods.includes(NEEDED)) return Promise.resolve();
    const known = this.#of(chatId);
    if (known.reading !== null) {
      known.asked += 1;
      return known.reading;
    }
    known.reading = this.#readAll(chatId, known).finally(() => {
      known.reading = null;
    });
    return known.reading;
  }

  /** Keep what waits in these files, or in all; what is open of them is saved. False where it could not be saved. */
  async keep(chatId: string, uris: readonly string[] | null): Promise<boolean> {
    const files = this.#chosen(chatId, uris);
    if (!(await saveSettled(files.map(({ uri }) => uri)))) return false;
    await this.#mark(chatId, marksOf(files));
    return true;
  }

  /** Nothing of what was done to the file is left. */
  async settle(chatId: string, { uri, number }: PendingFile): Promise<void> {
    await saveSettled([uri]);
    await this.#mark(chatId, { [uri]: { number, parts: [] } });
  }

  /** Keep these parts of a file, besides those that are kept. */
  async keepParts(chatId: string, { uri, above }: PendingFile, parts: readonly string[]): Promise<void> {
    await this.#mark(chatId, { [uri]: { number: above, parts: [...this.partsOf(chatId, uri), ...parts] } });
  }

  /** Undo what waits in these files, or in all, the newest turn first; says what was left alone. */
  async undo(chatId: string, uris: readonly string[] | null): Promise<void> {
    const left = new Set(this.#chosen(chatId, uris).map(({ uri }) => uri));
    const turns = new Map<string, string[]>();
    const marks = this.#marks.of(chatId);
    for (const { turnId, uri, number } of [...(this.#known.get(chatId)?.changes ?? [])].reverse()) {
      if (!left.has(uri) || number <= keptUpTo(marks, uri) || this.#isAccepted(chatId, turnId)) continue;
      turns.set(turnId, [...(turns.get(turnId) ?? []), uri]);
    }
    const conflicts: RevertConflict[] = [];
    try {
      for (const [turnId, own] of turns) {
        const wanted = own.filter((uri) => left.has(uri));
        if (wanted.length === 0) continue;
        const told = await this.#revert(chatId, turnId, wanted);
        conflicts.push(...told);
        // What could not be taken back in one turn is not in the older ones, either.
        for (const { uri } of told) left.delete(uri);
      }
    } finally {
      await this.read(chatId);
    }
    const [first] = conflicts;
    if (first !== undefined) {
      const reason = unlinked(visible(first.reason));
      void window.showWarningMessage(t.review.leftAlone(conflicts.length, reason));
    }
  }

  /** The marks have changed elsewhere. */
  async remark(chatId: string): Promise<void> {
    await this.#mark(chatId, {});
  }

  dispose(): void {
    this.#changed.dispose();
    this.#known.clear();
  }

  async #revert(chatId: string, turnId: string, uris: string[]): Promise<RevertConflict[]> {
    try {
      return (await this.#wire.request("codelaw/chat/revert", { chatId, turnId, uris })).conflicts;
    } catch (error) {
      // Somebody else has undone it meanwhile.
      if (refusalOf(error, t.server).code === "nothing_to_undo") return [];
      throw error;
    }
  }

  async #readAll(chatId: string, known: Known): Promise<void> {
    let asked: number;
    do {
      asked = known.asked;
      known.changes = (await this.#wire.request(NEEDED, { chatId })).changes;
    } while (asked !== known.asked);
    this.#tell(chatId, known);
  }

  async #mark(chatId: string, files: Record<string, FileMark>): Promise<void> {
    const known = this.#of(chatId);
    await this.#marks.set(chatId, marked(this.#marks.of(chatId), files, known.changes));
    this.#tell(chatId, known);
    const left = new Set(known.files.flatMap(({ turns }) => turns));
    for (const turnId of new Set(known.changes.map((change) => change.turnId))) {
      if (!left.has(turnId) && !this.#isAccepted(chatId, turnId)) await this.#accepted.add(chatId, turnId);
    }
  }

  #tell(chatId: string, known: Known): void {
    const prefix = `${chatId}/`;
    const accepted = this.#accepted.turns.filter((turn) => turn.startsWith(prefix));
    const turns = new Set(accepted.map((turn) => turn.slice(prefix.length)));
    known.files = pendingOf(known.changes, this.#marks.of(chatId), turns);
    known.byUri = new Map(known.files.map((file) => [canonical(file.uri), file]));
    this.#changed.fire({ chatId, files: known.files });
  }

  #isAccepted(chatId: string, turnId: string): boolean {
    return this.#accepted.turns.includes(`${chatId}/${turnId}`);
  }

  #chosen(chatId: string, uris: readonly string[] | null): PendingFile[] {
    const wanted = uris === null ? null : new Set(uris);
    return this.of(chatId).filter(({ uri }) => wanted?.has(uri) ?? true);
  }

  #of(chatId: string): Known {
    const known = this.#known.get(chatId) ?? {
      changes: [],
      files: [],
      byUri: new Map<string, PendingFile>(),
      reading: null,
      asked: 0,
    };
    this.#known.delete(chatId);
    this.#known.set(chatId, known);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MOST_CHATS) break;
      this.#known.delete(oldest);
    }
    return known;
  }
}
