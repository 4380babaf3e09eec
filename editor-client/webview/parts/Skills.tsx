import type { Skill } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { useFresh } from "./fresh";
import { Visible } from "./Visible";
import { t } from "../language";

const stateOf = (skill: Skill): string =>
  skill.unreadable === true ? t.skillUnreadable : skill.shadowed !== undefined ? t.skillShadowed : t.skillReady;

/** The skills that were found: where each comes from, which of one name counts, and what is wrong with it. */
export function Skills({ state }: { state: State }) {
  const { panel, actions } = useHands();
  const ready = state.server.phase === "ready";
  const running = state.chat?.running ?? null;

  // They are found anew at each turn.
  const [skills] = useFresh(() => actions.listSkills(), ready, [state.server.session, running, actions]);

  if (skills === null || skills.length === 0) return null;
  return (
    <section aria-label={t.skills}>
      <h2>{t.skills}</h2>
      <p class="hint">{t.skillsHint}</p>
      <ul class="permissions-list">
        {skills.map((skill) => (
          <li key={skill.uri}>
            <span class="permissions-scope">{stateOf(skill)}</span>
            <div class="permissions-what">
              <code dir="ltr">
                <Visible text={skill.name} />
              </code>
              <span dir="auto">
                <Visible text={skill.description} />
              </span>
              <button
                type="button"
                class="link-button"
                dir="ltr"
                onClick={() => panel.tell({ kind: "open", uri: skill.uri })}
              >
                <Visible text={skill.source} />
              </button>
              {skill.shadowed !== undefined && (
                <span class="hint" dir="ltr">
                  {t.shadowedBy} <Visible text={skill.shadowed} />
                </span>
              )}
              {skill.problem !== undefined && (
                <span class="hint" dir="auto">
                  <Visible text={skill.problem} />
                </span>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
