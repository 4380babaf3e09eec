import { useHands } from "../hands";
import { focusComposer } from "./focus";
import { t } from "../language";

const IDEAS = [t.ideaExplain, t.ideaTests, t.ideaReview];

/** What is shown where nothing has been said yet. */
export function Welcome() {
  const { panel } = useHands();
  const take = (text: string): void => {
    panel.dispatch({ kind: "composer", composer: { text } });
    focusComposer();
  };
  return (
    <section class="welcome" aria-label={t.welcome}>
      <h2>{t.whatToDo}</h2>
      <p>
        {t.welcomeBefore} <kbd>@</kbd>
        {t.welcomeAfter}
      </p>
      <ul>
        {IDEAS.map((idea) => (
          <li key={idea}>
            <button type="button" class="idea" onClick={() => take(idea)}>
              {idea}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
