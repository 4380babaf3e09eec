// The words of the panel, in the language that the page is in.
import type { PanelWords } from "../src/languages/en/panel";
import { panelWords } from "../src/languages/tables";

/** The editor's display language, which the page was made for. */
export const language = typeof document === "undefined" ? "en" : document.documentElement.lang;

export const t: PanelWords = panelWords(language);
