import { useEffect, useRef, useState } from "preact/hooks";
import type { Grant } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { Memories } from "./Memories";
import { Page } from "./Page";
import { Servers } from "./Servers";
import { Skills } from "./Skills";
import { Agents } from "./Agents";
import { Visible } from "./Visible";
import { t } from "../language";

const takeBack = ({ rule, folder }: Grant): string => t.takeBackOf(rule, folder);

/** What the user has allowed for good, each rule whole, and how to take it back. */
export function PermissionsPage({ state }: { state: State }) {
  const { actions } = useHands();
  const [grants, setGrants] = useState<readonly Grant[] | null>(null);
  const [taking, setTaking] = useState<ReadonlySet<string>>(new Set());
  const title = useRef<HTMLHeadingElement>(null);
  const ready = state.server.phase === "ready";

  useEffect(() => {
    if (ready) void actions.listGrants().then((found) => setGrants((before) => found ?? before));
    // An answer to a question may have added one.
  }, [ready, state.server.session, state.approvals, actions]);

  const revoke = async ({ id }: Grant): Promise<void> => {
    setTaking((ids) => new Set(ids).add(id));
    await actions.revokeGrant(id);
    const left = await actions.listGrants();
    if (left !== null) setGrants(left);
    setTaking((ids) => new Set([...ids].filter((one) => one !== id)));
    title.current?.focus();
  };

  return (
    <Page name={t.permissions} title={title}>
      <p class="hint">{t.permissionsHint}</p>
      {grants?.length === 0 && <p role="status">{t.nothingAllowed}</p>}
      {grants !== null && grants.length > 0 && (
        <ul class="permissions-list">
          {grants.map((grant) => (
            <li key={grant.id}>
              <span class="permissions-scope">{grant.scope === "always" ? t.always : t.inAChat}</span>
              <div class="permissions-what">
                <code dir="ltr">
                  <Visible text={grant.rule} />
                </code>
                {grant.folder !== undefined && (
                  <span class="hint" dir="ltr">
                    {t.in} <Visible text={grant.folder} />
                  </span>
                )}
              </div>
              <button
                type="button"
                class="approval-option"
                aria-label={takeBack(grant)}
                disabled={taking.has(grant.id)}
                onClick={() => void revoke(grant)}
              >
                {t.takeBack}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Memories state={state} />
      <Servers state={state} />
      <Skills state={state} />
      <Agents state={state} />
    </Page>
  );
}
