// Amounts of tokens and money, and parts of a whole, for people: the same in the panel and in the status bar.

/** Three digits and a unit: 900, 12.3k, 161k, 1.05M. */
export function amount(count: number): string {
  if (count >= 999_500) return `${digits(count / 1_000_000)}M`;
  return count >= 1000 ? `${digits(count / 1000)}k` : String(Math.round(count));
}

const digits = (value: number): string => String(Number(value.toPrecision(3)));

/** `12 %`; what is there but small is `< 1 %`. */
export function percent(part: number, whole: number): string {
  const share = whole > 0 ? (100 * part) / whole : 0;
  return share > 0 && share < 1 ? "< 1 %" : `${Math.round(share)} %`;
}

/** An amount of US dollars, also a very small one. */
export function cost(dollars: number): string {
  if (dollars === 0) return "$0";
  return dollars < 0.01 ? "< $0.01" : `$${dollars.toFixed(2)}`;
}
