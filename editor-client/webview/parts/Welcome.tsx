import { useHands } from "../hands";
import { focusComposer } from "./focus";

const IDEAS = [
  "Explain how this project is organised, and where a new contributor should begin.",
  "Find out why the tests fail, and fix it.",
  "Review my uncommitted changes, and list what you would do differently.",
];

/** What is shown where nothing has been said yet. */
export function Welcome() {
  const { panel } = useHands();
  const take = (text: string): void => {
    panel.dispatch({ kind: "composer", composer: { text } });
    focusComposer();
  };
  return (
    <section class="welcome" aria-label="Welcome">
      <h2>What shall we work on?</h2>
      <p>
        codelaw reads your unsaved files, asks before it changes anything, and shows what it sends. Mention files with{" "}
        <kbd>@</kbd>, or drag them in.
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
