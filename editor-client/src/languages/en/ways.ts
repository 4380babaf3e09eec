// What helps with an error, in English: the words of buttons, and sentences before them.
export const ways = {
  setKey: "Set API Key",
  setKeyHint:
    "Set another key of Anthropic, or start the editor with another vendor's in its variable, such as OPENAI_API_KEY.",
  chooseModel: "Choose Model",
  confirmHint:
    "Choose a model for this chat, which confirms it, or the offline one; or send again and answer the question.",
  showLogs: "Show Logs",
  openSettings: "Open Settings",
  mendSettings: "Open What Is Wrong",
  manageTrust: "Manage Trust",
  showContext: "Show Context",
  showPermissions: "Show Permissions",
  permissionsHint: "The page of permissions lists those there are.",
  restart: "Restart Server",
};

/** Every table has these words. */
export type WayWords = typeof ways;
