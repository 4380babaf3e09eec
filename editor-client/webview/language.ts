// The words of the panel, in the language that the page is in.
import { panel as german } from "../src/languages/de/panel";
import { panel as english, type PanelWords } from "../src/languages/en/panel";
import { tableFor } from "../src/languages/choice";

/** The editor's display language, which the page was made for. */
export const language = typeof document === "undefined" ? "en" : document.documentElement.lang;

export const t: PanelWords = tableFor(language, { en: english, de: german });
