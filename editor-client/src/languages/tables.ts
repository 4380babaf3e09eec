// The languages that are spoken: a new one is a folder here and its row in this file.
import { panel as germanPanel } from "./de/panel";
import { ways as germanWays } from "./de/ways";
import { panel as englishPanel, type PanelWords } from "./en/panel";
import { ways as englishWays, type WayWords } from "./en/ways";

/** All words of a language; a table that lacks one is a type error. */
export interface Words {
  readonly panel: PanelWords;
  readonly ways: WayWords;
}

const ENGLISH: Words = { panel: englishPanel, ways: englishWays };

const TABLES = new Map<string, Words>([
  ["en", ENGLISH],
  ["de", { panel: germanPanel, ways: germanWays }],
]);

export const LANGUAGES: readonly string[] = [...TABLES.keys()];

/** The words for a tag such as `de-AT`; English for a language that has no table. */
export const wordsFor = (tag: string): Words => TABLES.get(tag.toLowerCase().split("-", 1)[0] ?? "") ?? ENGLISH;
