// The languages that are spoken: a new one is a folder here, its tag and its rows in this file.
import { host as germanHost } from "./de/host";
import { panel as germanPanel } from "./de/panel";
import { ways as germanWays } from "./de/ways";
import { host as englishHost, type HostWords } from "./en/host";
import { panel as englishPanel, type PanelWords } from "./en/panel";
import { ways as englishWays, type WayWords } from "./en/ways";

/** English first, which stands in for a language that has no tables. */
export const LANGUAGES = ["en", "de"] as const;

type Language = (typeof LANGUAGES)[number];
/** One table for each language; where one or a word of it is missing, that is a type error. */
type Tables<Words> = Readonly<Record<Language, Words>>;

// Apart, so that the panel's script carries no words of the extension's and the other way round.
const PANEL: Tables<PanelWords> = { en: englishPanel, de: germanPanel };
const HOST: Tables<HostWords> = { en: englishHost, de: germanHost };
const WAYS: Tables<WayWords> = { en: englishWays, de: germanWays };

/** The words of the panel for a tag such as `de-AT`. */
export const panelWords = (tag: string): PanelWords => PANEL[spoken(tag)];
/** The words of the extension outside of its panel. */
export const hostWords = (tag: string): HostWords => HOST[spoken(tag)];
/** The words of what helps with an error, which both say. */
export const wayWords = (tag: string): WayWords => WAYS[spoken(tag)];

function spoken(tag: string): Language {
  const [first] = tag.toLowerCase().split("-", 1);
  return LANGUAGES.find((language) => language === first) ?? "en";
}
