import { useState } from "preact/hooks";
import type { Server, ServerList } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { useFresh } from "./fresh";
import { Visible } from "./Visible";
import { t } from "../language";

const waits = ({ state }: Server): boolean => state === "needs_trust" || state === "off";

/** The MCP servers that settings and workspaces name: how each is doing, whole, and what can be done about it. */
export function Servers({ state }: { state: State }) {
  const { actions } = useHands();
  const [busy, setBusy] = useState<string | null>(null);
  const ready = state.server.phase === "ready";
  const running = state.chat?.running ?? null;

  // A turn may have begun them.
  const [listed, take] = useFresh(() => actions.listServers(), ready, [state.server.session, running, actions]);

  const change = async (name: string, work: () => Promise<ServerList | null>): Promise<void> => {
    setBusy(name);
    take(await work());
    setBusy(null);
  };
  const restart = async (name: string): Promise<ServerList | null> => {
    await actions.restartServer(name);
    return actions.listServers();
  };
  const logOut = async (name: string): Promise<ServerList | null> => {
    await actions.logOutOfServer(name);
    return actions.listServers();
  };

  if (listed === null || (listed.servers.length === 0 && (listed.problems ?? []).length === 0)) return null;
  return (
    <section aria-label={t.servers}>
      <h2>{t.servers}</h2>
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
                aria-label={one.state === "needs_auth" ? t.logInTo(one.name) : t.restartOf(one.name)}
                disabled={busy !== null}
                onClick={() => void change(one.name, () => restart(one.name))}
              >
                {one.state === "needs_auth" ? t.logIn : t.restart}
              </button>
            )}
            {one.loggedIn === true && (
              <button
                type="button"
                class="approval-option"
                aria-label={t.logOutOf(one.name)}
                disabled={busy !== null}
                onClick={() => void change(one.name, () => logOut(one.name))}
              >
                {t.logOut}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
