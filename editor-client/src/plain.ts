// Words of others in the editor's messages, where Markdown's links are followed, also those that run commands.

/** The text with no link in it: `[words](command:…)` would run a command of the editor's at one click. */
export const unlinked = (text: string): string => text.replaceAll("](", "] (");
