import type { Problem, ServerState } from "../../src/messages";
import { useHands } from "../hands";
import type { State } from "../state";
import { Icon } from "./Icon";
import { Trouble } from "./Trouble";

const WORDS: Record<ServerState["phase"], string> = {
  searching: "Looking for the codelaw server…",
  missing: "The codelaw server was not found.",
  installing: "Installing the codelaw server…",
  starting: "Starting…",
  ready: "",
  crashed: "The codelaw server has stopped unexpectedly.",
  stopped: "The codelaw server is stopped.",
};
const AT_WORK = new Set<ServerState["phase"]>(["searching", "installing", "starting"]);

/** What is the matter with the server, if anything is; what went wrong with something the user asked for is below it. */
export function Banner({ state: { server, problem } }: { state: State }) {
  return (
    <div role="status" class="banners">
      {server.phase !== "ready" && <Server server={server} />}
      {server.phase === "ready" && server.message !== "" && !server.offline && <Server server={server} />}
      {server.phase === "ready" && server.offline && <Offline />}
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

function Offline() {
  const { panel } = useHands();
  return (
    <div class="banner" data-phase="offline">
      <Icon name="warning" />
      <span class="banner-text">No API key is set: an offline model answers, and it cannot think.</span>
      <span class="banner-actions">
        <button type="button" onClick={() => panel.tell({ kind: "command", command: "codelaw.setKey" })}>
          Set API key
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
      <span class="banner-text">
        Restricted mode: you do not trust this folder. codelaw only reads in it; nothing is written or run, and its
        CODE_LAW.md is not obeyed.
      </span>
      <span class="banner-actions">
        <button type="button" onClick={() => panel.tell({ kind: "command", command: "codelaw.manageTrust" })}>
          Manage trust
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
        aria-label="Dismiss"
        title="Dismiss"
        onClick={() => panel.dispatch({ kind: "problem", problem: null })}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
