// Characters that cannot be seen, or that turn the order of others: a command or a file name may lie by them.

/**
 * Controls but tab and newline (which this finds too), format characters, separators that look like a space or like
 * nothing, unpaired surrogates, variation selectors, the block of tags, and letters and marks that have no shape.
 */
export const HIDDEN =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\uffa0\ufe00-\ufe0f\ufff0-\ufff8\u{1d159}\u{e0000}-\u{e0fff}]|(?! )\p{Zs}/u;

/** What a character is called: `U+202E`. */
export const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

/** The text on one line with each such character as its code, such as `⟨U+202E⟩`, where nothing can be drawn around it. */
export const visible = (text: string): string =>
  text.replace(/[ \t\n]+/g, " ").replace(new RegExp(HIDDEN, "gu"), (character) => `⟨${codeOf(character)}⟩`);
