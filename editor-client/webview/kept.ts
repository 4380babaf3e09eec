// The actions of what is kept beyond a chat: memories, permissions, servers, skills, kinds of subagents, and the record of decisions.
import type { Actions, Panel } from "./panel";
import { tellProblem } from "./reading";

/** Memories read at once. */
const MEMORIES_SHOWN = 50;
/** Entries of the record that are shown. */
const AUDIT_SHOWN = 500;

export type Kept = Pick<
  Actions,
  | "listGrants"
  | "revokeGrant"
  | "listMemories"
  | "updateMemory"
  | "forgetMemory"
  | "listSkills"
  | "listAgents"
  | "listServers"
  | "enableServer"
  | "declineServer"
  | "restartServer"
  | "logOutOfServer"
  | "audit"
>;

export function makeKept(panel: Panel): Kept {
  /** The answer; null when it failed, and then the user is told. */
  const asked = async <T>(asking: Promise<T>): Promise<T | null> => {
    try {
      return await asking;
    } catch (error) {
      tellProblem(panel, error);
      return null;
    }
  };
  /** As `asked` for what the user wants done, which makes an older problem history. */
  const done = async (asking: Promise<unknown>): Promise<boolean> => {
    const well = (await asked(asking)) !== null;
    if (well) panel.dispatch({ kind: "problem", problem: null });
    return well;
  };
  return {
    listGrants: async () => (await asked(panel.request("codelaw/permission/list", {})))?.grants ?? null,
    revokeGrant: async (id) => {
      await done(panel.request("codelaw/permission/revoke", { id }));
    },
    listMemories: (query, chatId, cursor) => {
      const shown = { limit: MEMORIES_SHOWN, ...(chatId === null ? {} : { chatId }) };
      if (query !== "") return asked(panel.request("codelaw/memory/search", { query, ...shown }));
      return asked(panel.request("codelaw/memory/list", { ...shown, ...(cursor === undefined ? {} : { cursor }) }));
    },
    updateMemory: (id, text) => asked(panel.request("codelaw/memory/update", { id, text })),
    forgetMemory: (id) => done(panel.request("codelaw/memory/forget", { id })),
    listSkills: async () => (await asked(panel.request("codelaw/skill/list", {})))?.skills ?? null,
    listAgents: () => asked(panel.request("codelaw/agent/list", {})),
    listServers: () => asked(panel.request("codelaw/mcp/list", {})),
    enableServer: ({ name, digest }, enabled) => {
      const seen = digest === undefined ? {} : { digest };
      return asked(panel.request("codelaw/mcp/enable", { name, enabled, ...seen }));
    },
    declineServer: ({ name, digest }) => asked(panel.request("codelaw/mcp/decline", { name, digest: digest ?? "" })),
    restartServer: async (name) => {
      await done(panel.request("codelaw/mcp/restart", { name }));
    },
    logOutOfServer: async (name) => {
      await done(panel.request("codelaw/mcp/logout", { name }));
    },
    audit: async (chatId) => {
      const named = chatId === null ? {} : { chatId };
      return (
        (await asked(panel.request("codelaw/permission/audit", { ...named, limit: AUDIT_SHOWN })))?.entries ?? null
      );
    },
  };
}
