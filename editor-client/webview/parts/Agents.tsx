import type { Agent } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { useFresh } from "./fresh";
import { Visible } from "./Visible";
import { t } from "../language";

const stateOf = (agent: Agent): string =>
  agent.refused === true ? t.agentRefused : agent.source === undefined ? t.agentBuiltIn : t.agentReady;

const limitsOf = ({ source, mode, tools, disallowedTools, model, maxTurns }: Agent): string =>
  [
    tools !== undefined
      ? t.agentOnlyTools(tools.join(", "))
      : source === undefined && mode !== undefined
        ? t.agentTools[mode]
        : t.agentAllTools,
    ...(disallowedTools === undefined ? [] : [t.agentWithout(disallowedTools.join(", "))]),
    ...(model === undefined ? [] : [t.agentModel(model)]),
    ...(maxTurns === undefined ? [] : [t.agentTurns(maxTurns)]),
  ].join(" · ");

/** The kinds of subagents: where each comes from, what it may use, and why a file does not count. */
export function Agents({ state }: { state: State }) {
  const { panel, actions } = useHands();
  const ready = state.server.phase === "ready";
  const running = state.chat?.running ?? null;

  // They are found anew at each turn.
  const [found] = useFresh(() => actions.listAgents(), ready, [state.server.session, running, actions]);

  if (found === null || found.agents.length === 0) return null;
  return (
    <section aria-label={t.agents}>
      <h2>{t.agents}</h2>
      <p class="hint">{found.enabled ? t.agentsHint : t.agentsOff}</p>
      <ul class="permissions-list">
        {found.agents.map((agent) => (
          <li key={agent.uri ?? agent.name}>
            <span class="permissions-scope">{stateOf(agent)}</span>
            <div class="permissions-what">
              <code dir="ltr">
                <Visible text={agent.name} />
              </code>
              <span dir="auto">
                <Visible text={agent.description} />
              </span>
              {agent.refused !== true && (
                <span class="hint" dir="auto">
                  <Visible text={limitsOf(agent)} />
                </span>
              )}
              {agent.uri !== undefined && agent.source !== undefined && (
                <button
                  type="button"
                  class="link-button"
                  dir="ltr"
                  onClick={() => panel.tell({ kind: "open", uri: agent.uri ?? "" })}
                >
                  <Visible text={agent.source} />
                </button>
              )}
              {agent.problem !== undefined && (
                <span class="hint" dir="auto">
                  <Visible text={agent.problem} />
                </span>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
