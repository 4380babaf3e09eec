import { useEffect, useRef, useState } from "preact/hooks";
import type { AuditEntry } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { Page } from "./Page";
import { Visible } from "./Visible";

const DECISIONS: Record<AuditEntry["decision"], string> = {
  allow: "Allowed",
  deny: "Refused",
  grant: "Allowed from then on",
  revoke: "Taken back",
  trust: "Trusted",
  withdraw: "No longer trusted",
  violation: "Kept back",
};

const BY: Record<AuditEntry["by"], string> = {
  user: "you",
  rule: "a rule",
  grant: "a permission",
  mode: "the mode",
  default: "the default",
  headless: "nobody: no person was asked",
  sandbox: "the sandbox",
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
    <Page name="What was decided" title={title}>
      <p class="hint">Calls that were allowed or refused, by whom and by which rule; the newest first.</p>
      {state.chat !== null && (
        <label class="permissions-scope">
          <input
            type="checkbox"
            checked={everywhere}
            onChange={(event) => setEverywhere(event.currentTarget.checked)}
          />{" "}
          In all chats
        </label>
      )}
      {entries?.length === 0 && <p role="status">Nothing is on record.</p>}
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
        {DECISIONS[entry.decision]} by <Visible text={`${BY[entry.by]}${rule}`} />
      </span>
      <code dir="ltr">
        <Visible text={[entry.tool, entry.detail ?? entry.title].filter((part) => part !== "").join(" ")} />
      </code>
      <span class="hint" dir="ltr">
        <time dateTime={at.toISOString()}>{at.toLocaleString()}</time>
        {entry.folder !== undefined && (
          <>
            {" "}
            in <Visible text={entry.folder} />
          </>
        )}
      </span>
    </div>
  );
}
