import { useEffect, useState } from "preact/hooks";
import { useId } from "../ids";
import type { Server, ServerList } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { hasHidden } from "../text/visible";
import { Icon } from "./Icon";
import { Visible } from "./Visible";
import { t } from "../language";

/** Characters that a card shows without being asked. */
const SHORT = 200;

/** The question whether a workspace's server may start, one server after the other; in the way of nothing. */
export function ServerOffers({ state }: { state: State }) {
  const { actions } = useHands();
  const [listed, setListed] = useState<readonly Server[]>([]);
  const ready = state.server.phase === "ready" && state.server.methods.includes("codelaw/mcp/decline");
  const running = state.chat?.running ?? null;

  const take = (found: ServerList | null): void => {
    if (found !== null) setListed(found.servers);
  };
  useEffect(() => {
    if (ready) void actions.listServers().then(take);
    // A turn looks at the files that name servers.
  }, [ready, state.server.session, running, actions]);

  const waiting = listed.filter(({ ask }) => ask === true);
  const first = waiting[0];
  if (!ready || first === undefined) return null;
  return (
    <ServerOffer
      key={`${first.name} ${first.digest ?? ""}`}
      server={first}
      waiting={waiting.length - 1}
      onAnswer={async (enabled) =>
        take(await (enabled ? actions.enableServer(first, true) : actions.declineServer(first)))
      }
    />
  );
}

interface Props {
  server: Server;
  /** How many more servers wait. */
  waiting: number;
  onAnswer: (enabled: boolean) => Promise<void>;
}

function ServerOffer({ server, waiting, onAnswer }: Props) {
  const id = useId();
  const told = server.message ?? "";
  const [shown, setShown] = useState(told.length <= SHORT);
  const [busy, setBusy] = useState(false);

  const answer = async (enabled: boolean): Promise<void> => {
    setBusy(true);
    await onAnswer(enabled);
    setBusy(false);
  };
  return (
    <section class="approval server-offer" aria-labelledby={`${id}-title`}>
      <div class="approval-head">
        <Icon name="terminal" />
        <h2 id={`${id}-title`} class="approval-title">
          {t.serverWaits} <Visible text={server.name} />
        </h2>
        {waiting > 0 && <span class="approval-count">{t.oneOf(waiting + 1)}</span>}
      </div>
      {hasHidden(told) && (
        <p class="approval-warning">
          <Icon name="warning" />
          <span>{t.hiddenShown}</span>
        </p>
      )}
      {shown && (
        <div class="approval-preview" tabIndex={0} role="group" aria-label={t.whatItRuns}>
          <pre class="approval-command" dir="ltr">
            <Visible text={told} />
          </pre>
        </div>
      )}
      <div class="approval-options">
        {shown ? (
          <button type="button" class="approval-option" disabled={busy} onClick={() => void answer(true)}>
            {t.enable}
          </button>
        ) : (
          <button type="button" class="approval-option" onClick={() => setShown(true)}>
            {t.showWhatItRuns}
          </button>
        )}
        <button type="button" class="approval-option" disabled={busy} onClick={() => void answer(false)}>
          {t.notNow}
        </button>
      </div>
    </section>
  );
}
