// Which table is shown: a new language is a folder here and its name in this list.
export const LANGUAGES = ["en", "de"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The language for a tag such as `de-AT`; English for a language that has no table. */
export function languageFor(tag: string): Language {
  const wanted = tag.toLowerCase().split("-", 1)[0];
  return LANGUAGES.find((one) => one === wanted) ?? "en";
}

/** The table for a language tag. */
export const tableFor = <Words>(tag: string, tables: Readonly<Record<Language, Words>>): Words =>
  tables[languageFor(tag)];
