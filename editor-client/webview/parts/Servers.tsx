import { useEffect, useState } from "preact/hooks";
import type { Server, ServerList } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { Visible } from "./Visible";
import { t } from "../language";

const waits = ({ state }: Server): boolean => state === "needs_trust" || state === "off";

/** The MCP servers that settings and workspaces name: how each is doing, whole, and what can be done about it. */
export function Servers({ state }: { state: State }) {
  const { actions } = useHands();
  const [listed, setListed] = useState<ServerList | null>(null);
  const [busy, setBusy] = useState<string | null>(null);
  const ready = state.server.phase === "ready";
  const running = state.chat?.running ?? null;

  useEffect(() => {
    if (ready) void actions.listServers().then((found) => setListed((before) => found ?? before));
    // A turn may have begun them.
  }, [ready, state.server.session, running, actions]);

  const change = async (name: string, work: () => Promise<ServerList | null>): Promise<void> => {
    setBusy(name);
    const found = await work();
    if (found !== null) setListed(found);
    setBusy(null);
  };
  const restart = async (name: string): Promise<ServerList | null> => {
    await actions.restartServer(name);
    return actions.listServers();
  };

  if (listed === null || (listed.servers.length === 0 && (listed.problems ?? []).length === 0)) return null;
  return (
    <section aria-label={t.servers}>
      <h3>{t.servers}</h3>
      <p class="hint">{t.serversHint}</p>
      {(listed.problems ?? []).map((problem) => (
        <p class="hint" key={problem}>
          <Visible text={problem} />
        </p>
      ))}
      <ul class="permissions-list">
        {listed.servers.map((one) => (
          <li key={one.name}>
            <span class="permissions-scope">{t.serverStates[one.state]}</span>
            <div class="permissions-what">
              <code dir="ltr">
                <Visible text={one.name} />
              </code>
              {one.state === "ready" && <span class="hint">{t.serverTools(one.tools)}</span>}
              {one.message !== undefined && (
                <span class="hint" dir="ltr">
                  <Visible text={one.message} />
                </span>
              )}
            </div>
            <button
              type="button"
              class="approval-option"
              aria-label={waits(one) ? t.letStart(one.name) : t.switchOff(one.name)}
              disabled={busy !== null}
              onClick={() => void change(one.name, () => actions.enableServer(one, waits(one)))}
            >
              {waits(one) ? t.enable : t.disable}
            </button>
            {!waits(one) && (
              <button
                type="button"
                class="approval-option"
                aria-label={t.restartOf(one.name)}
                disabled={busy !== null}
                onClick={() => void change(one.name, () => restart(one.name))}
              >
                {t.restart}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
