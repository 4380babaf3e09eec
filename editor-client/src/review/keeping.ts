// Remarks that were not sent yet, in the workspace's own memory: they outlive the window.
import type { Memento } from "vscode";
import { isFields } from "../chat/incoming";
import { near } from "./remarks";

const KEY = "codelaw.remarks";
/** Characters of the lines around a remark; one on lines without measure is not kept. */
const MOST = 200_000;

/** Remarks on the same lines of a document. */
export interface KeptRemarks {
  /** The document's address. */
  uri: string;
  /** The text on which they were made, as far as it is near. */
  text: string;
  /** The first line, and the one behind the last, counted from 0. */
  start: number;
  end: number;
  said: readonly string[];
}

/** What is remembered of remarks. */
export class Keeping {
  readonly #memory: Memento;

  constructor(memory: Memento) {
    this.#memory = memory;
  }

  /** As they were kept, by whichever version, as far as that makes sense. */
  get remarks(): KeptRemarks[] {
    const kept = this.#memory.get<unknown>(KEY);
    return Array.isArray(kept) ? kept.flatMap(read) : [];
  }

  async keep(remarks: readonly KeptRemarks[]): Promise<void> {
    const small = remarks.map((one) => ({ ...one, text: near(one.text, one.start, one.end) }));
    const kept = small.filter(({ text }) => text.length <= MOST);
    await this.#memory.update(KEY, kept.length === 0 ? undefined : kept);
  }
}

function read(kept: unknown): KeptRemarks[] {
  if (!isFields(kept)) return [];
  const { uri, text, start, end, said } = kept;
  if (typeof uri !== "string" || typeof text !== "string" || !Array.isArray(said)) return [];
  if (!isPlace(start) || !isPlace(end) || start >= end) return [];
  const words = said.filter((one): one is string => typeof one === "string");
  return words.length === 0 ? [] : [{ uri, text, start, end, said: words }];
}

const isPlace = (value: unknown): value is number => Number.isInteger(value) && Number(value) >= 0;
