// What the two sides say they can, and what follows where they are of different versions. No import of `vscode`.
import type { ServerWords } from "../languages/en/server";
import { METHODS, VERSION } from "../protocol/types";

/** What this extension can, for `capabilities.experimental.codelaw` (docs/protocol.md, Capabilities). */
export const CAPABILITIES = {
  events: {},
  approvals: {},
  servers: {},
  editor: {
    save: {},
    proposals: {},
    diagnostics: {},
    definition: {},
    references: {},
    rename: {},
    quickFix: {},
    symbols: {},
    outline: {},
    terminal: {},
    model: {},
    models: {},
    tool: {},
    tools: {},
  },
} as const;

/** The same with whether the editor trusts the folder (its restricted mode). */
export const capabilitiesIn = (trusted: boolean) => ({ ...CAPABILITIES, workspaceTrusted: trusted });

/** The methods without which a chat cannot be held. */
const NEEDED = ["codelaw/chat/create", "codelaw/chat/read", "codelaw/chat/send", "codelaw/chat/cancel"];

/** What a server says of itself. */
export interface Announced {
  /** The server's own version. */
  version: string | undefined;
  methods: string[];
  /** What the user should know of how it differs from this extension; empty when it does not. */
  message: string;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Read what a server announced in its answer to `initialize`; whatever it is, something comes of it. */
export const announced = (answer: unknown, words: ServerWords): Announced => {
  const result = isRecord(answer) ? answer : {};
  const info = isRecord(result["serverInfo"]) ? result["serverInfo"] : {};
  const capabilities = isRecord(result["capabilities"]) ? result["capabilities"] : {};
  const experimental = isRecord(capabilities["experimental"]) ? capabilities["experimental"] : {};
  const ours = isRecord(experimental["codelaw"]) ? experimental["codelaw"] : {};
  const version = typeof info["version"] === "string" ? info["version"] : undefined;
  const listed = Array.isArray(ours["methods"]) ? ours["methods"] : [];
  const methods = listed.filter((method) => typeof method === "string");
  return { version, methods, message: difference(version ?? words.unknownVersion, ours["version"], methods, words) };
};

const difference = (version: string, protocol: unknown, methods: readonly string[], words: ServerWords): string => {
  const newer = typeof protocol === "number" && protocol > VERSION;
  if (NEEDED.some((method) => !methods.includes(method))) {
    const remedy = newer ? words.updateExtension : words.updateOrUnset;
    return words.lacksNeeded(version, remedy);
  }
  const lacking = METHODS.filter((method) => !methods.includes(method));
  if (lacking.length > 0) {
    const names = lacking.map((method) => method.replace("codelaw/", "")).join(", ");
    return words.older(version, names);
  }
  return newer ? words.newer(version) : "";
};
