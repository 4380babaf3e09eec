// Figures as a language writes them.

/** What writes figures and counts of a language. */
export interface Numbers {
  /** `12,345`. */
  readonly figure: (count: number) => string;
  /** `1 line`, `3 lines`. */
  readonly counted: (count: number, one: string, more: string) => string;
}

export function numbersOf(locale: string): Numbers {
  const figure = (count: number): string => count.toLocaleString(locale);
  return { figure, counted: (count, one, more) => `${figure(count)} ${count === 1 ? one : more}` };
}
