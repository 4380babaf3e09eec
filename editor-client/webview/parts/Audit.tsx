import { useEffect, useRef, useState } from "preact/hooks";
import type { AuditEntry } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { Page } from "./Page";
import { Visible } from "./Visible";
import { t } from "../language";

const DECISIONS: Record<AuditEntry["decision"], string> = {
  allow: t.allowed,
  deny: t.refused,
  grant: t.allowedOn,
  revoke: t.takenBack,
  trust: t.trusted,
  withdraw: t.untrusted,
  violation: t.keptBack,
  ran: t.hookRan,
};

const BY: Record<AuditEntry["by"], string> = {
  user: t.you,
  rule: t.aRule,
  grant: t.aPermission,
  mode: t.theMode,
  default: t.theDefault,
  headless: t.nobody,
  sandbox: t.theSandbox,
  hook: t.aHook,
};

/** What was decided, in the chat that is shown or in all, the newest first. */
export function AuditPage({ state }: { state: State }) {
  const { actions } = useHands();
  const [entries, setEntries] = useState<readonly AuditEntry[] | null>(null);
  const [everywhere, setEverywhere] = useState(state.chat === null);
  const title = useRef<HTMLHeadingElement>(null);
  const ready = state.server.phase === "ready";
  const chatId = everywhere ? null : (state.chat?.chat.id ?? null);

  useEffect(() => {
    let wanted = true;
    if (ready) void actions.audit(chatId).then((found) => wanted && setEntries((before) => found ?? before));
    return () => {
      wanted = false;
    };
    // An answer to a question is a decision.
  }, [ready, chatId, state.server.session, state.approvals, actions]);

  return (
    <Page name={t.decided} title={title}>
      <p class="hint">{t.decidedHint}</p>
      {state.chat !== null && (
        <label class="permissions-scope">
          <input
            type="checkbox"
            checked={everywhere}
            onChange={(event) => setEverywhere(event.currentTarget.checked)}
          />{" "}
          {t.inAllChats}
        </label>
      )}
      {entries?.length === 0 && <p role="status">{t.nothingOnRecord}</p>}
      {entries !== null && entries.length > 0 && (
        <ul class="permissions-list">
          {entries.map((entry, place) => (
            <li key={`${entry.at} ${entries.length - place}`}>
              <Entry entry={entry} />
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const rule = entry.rule === undefined ? "" : ` (${entry.rule})`;
  const at = new Date(entry.at * 1000);
  return (
    <div class="permissions-what">
      <span>
        {DECISIONS[entry.decision]} {t.by} <Visible text={`${BY[entry.by]}${rule}`} />
      </span>
      <code dir="ltr">
        <Visible text={[entry.tool, entry.detail ?? entry.title].filter((part) => part !== "").join(" ")} />
      </code>
      <span class="hint" dir="ltr">
        <time dateTime={at.toISOString()}>{at.toLocaleString(t.locale)}</time>
        {entry.folder !== undefined && (
          <>
            {" "}
            {t.in} <Visible text={entry.folder} />
          </>
        )}
      </span>
    </div>
  );
}
