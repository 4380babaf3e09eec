import type { Problem, ServerState } from "../../src/messages";
import { useHands } from "../hands";
import type { State } from "../state";
import { modelOf } from "../text/seeing";
import { Icon } from "./Icon";
import { Trouble } from "./Trouble";
import { t } from "../language";

const WORDS: Record<ServerState["phase"], string> = {
  searching: t.lookingForServer,
  missing: t.serverNotFound,
  installing: t.installingServer,
  starting: t.starting,
  ready: "",
  crashed: t.serverCrashed,
  stopped: t.serverStopped,
};
const AT_WORK = new Set<ServerState["phase"]>(["searching", "installing", "starting"]);

/** What is the matter with the server, if anything is; what went wrong with something the user asked for is below it. */
export function Banner({ state }: { state: State }) {
  const { server, problem, models } = state;
  const lends = models.filter(({ source }) => source === "editor");
  const asked = modelOf(state);
  return (
    <div role="status" class="banners">
      {server.phase !== "ready" && <Server server={server} />}
      {server.phase === "ready" && server.message !== "" && !server.offline && <Server server={server} />}
      {server.phase === "ready" && server.offline && !lends.some(({ name }) => name === asked) && (
        <Offline lent={lends.length > 0} />
      )}
      {server.restricted === true && <Restricted />}
      {problem !== null && <ProblemLine problem={problem} />}
    </div>
  );
}

function Server({ server }: { server: ServerState }) {
  const { panel } = useHands();
  const words = server.message === "" ? WORDS[server.phase] : server.message;
  return (
    <div class="banner" data-phase={server.phase}>
      {AT_WORK.has(server.phase) ? <span class="spinner" aria-hidden="true" /> : <Icon name="warning" />}
      <span class="banner-text">{words}</span>
      <span class="banner-actions">
        {server.actions.map(({ title, command }) => (
          <button key={command} type="button" onClick={() => panel.tell({ kind: "command", command })}>
            {title}
          </button>
        ))}
      </span>
    </div>
  );
}

/** `lent`: the editor has models that can be chosen instead. */
function Offline({ lent }: { lent: boolean }) {
  const { panel } = useHands();
  return (
    <div class="banner" data-phase="offline">
      <Icon name="warning" />
      <span class="banner-text">{lent ? `${t.noKey} ${t.editorLends}` : t.noKey}</span>
      <span class="banner-actions">
        <button type="button" onClick={() => panel.tell({ kind: "command", command: "codelaw.chooseModel" })}>
          {t.chooseModel}
        </button>
        <button type="button" onClick={() => panel.tell({ kind: "command", command: "codelaw.setKey" })}>
          {t.setKey}
        </button>
      </span>
    </div>
  );
}

function Restricted() {
  const { panel } = useHands();
  return (
    <div class="banner" data-phase="restricted">
      <Icon name="warning" />
      <span class="banner-text">{t.restricted}</span>
      <span class="banner-actions">
        <button type="button" onClick={() => panel.tell({ kind: "command", command: "codelaw.manageTrust" })}>
          {t.manageTrust}
        </button>
      </span>
    </div>
  );
}

function ProblemLine({ problem }: { problem: Problem }) {
  const { panel } = useHands();
  return (
    <div class="banner" data-phase="problem">
      <Icon name="warning" />
      <span class="banner-text" dir="auto">
        <Trouble problem={problem} />
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label={t.dismiss}
        title={t.dismiss}
        onClick={() => panel.dispatch({ kind: "problem", problem: null })}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
