import "../style/turn.css";
import { memo } from "preact/compat";
import { mayPass } from "../../src/ways";
import { useHands } from "../hands";
import type { Turn as TurnEntry } from "../state";
import { endOf, timesOf } from "../text/times";
import { figures, inFull, stopped } from "../text/words";
import { Changes } from "./Changes";
import { Icon } from "./Icon";
import { Items } from "./Items";
import { Question } from "./Question";
import { Ticking } from "./Ticking";
import { WaitingSteer } from "./Steer";
import { Trouble } from "./Trouble";
import { t } from "../language";

interface Props {
  chatId: string;
  turn: TurnEntry;
  running: boolean;
  accepted: boolean;
  /** It ended with a plan that nobody has answered yet. */
  planned: boolean;
  results: ReadonlyMap<string, string>;
}

/** A question and all that came of it. */
export const Turn = memo(function Turn({ chatId, turn, running, accepted, planned, results }: Props) {
  const { actions } = useHands();
  const state = stateOf(turn, running);
  // What waits to be told stands below all that goes on.
  const waiting = running ? turn.items.filter((item) => item.kind === "steer" && item.state === "waiting") : [];
  const items = waiting.length === 0 ? turn.items : turn.items.filter((item) => !waiting.includes(item));
  return (
    <article
      class="turn"
      data-entry={turn.id}
      data-turn-id={turn.id}
      data-state={state}
      data-withdrawn={turn.withdrawn}
      aria-label={t.turnOf(turn.text.slice(0, 80))}
      aria-busy={running}
    >
      <Question
        text={turn.text}
        mentions={turn.mentions}
        sent={{ chatId, images: turn.images ?? [] }}
        onEdit={running ? null : () => actions.edit(turn)}
      />
      <Items items={items} results={results} running={running} open={state !== "finished"} />
      {running ? <Working turn={turn} /> : <Footer chatId={chatId} turn={turn} accepted={accepted} planned={planned} />}
      {waiting.map((item) => item.kind === "steer" && <WaitingSteer key={item.id} item={item} />)}
    </article>
  );
});

function stateOf(turn: TurnEntry, running: boolean): string {
  if (turn.result !== null) return turn.result.stopReason;
  return running ? "running" : "interrupted";
}

/** That something is under way, where nothing else moves. */
function Working({ turn }: { turn: TurnEntry }) {
  const asked = turn.items.flatMap((item) =>
    item.kind === "call" && item.call.status === "awaiting_approval" && item.asked !== null ? [item.asked.from] : [],
  );
  const waiting = asked.length > 0;
  const now = turn.items.reduce((most, { at }) => Math.max(most, at), turn.at);
  const since = waiting ? Math.min(...asked) : turn.at + timesOf(turn, now).waited;
  return (
    <p class="working" aria-hidden="true">
      {!waiting && <span class="spinner" />}
      <span>{waiting ? t.waitsForYou : t.working}</span>
      {turn.at > 0 && <Ticking key={since} since={since} />}
    </p>
  );
}

function Footer({ chatId, turn, accepted, planned }: Pick<Props, "chatId" | "turn" | "accepted" | "planned">) {
  const { panel, actions } = useHands();
  const { result } = turn;
  const reason = result === null ? t.interruptedTurn : stopped(result.stopReason);
  const end = endOf(turn);
  const times = end === null ? null : timesOf(turn, end);
  const answer = answerOf(turn);
  return (
    <>
      {result?.error !== undefined && (
        <p class="notice" data-level="error" dir="auto">
          <Icon name="warning" />
          <span class="turn-trouble">
            <Trouble problem={result.error} onRetry={() => void actions.retry(turn)} />
          </span>
        </p>
      )}
      {result !== null && result.changes.length > 0 && <Changes chatId={chatId} turn={turn} accepted={accepted} />}
      <footer class="turn-footer">
        {reason !== "" && <span class="reason">{reason}</span>}
        {result !== null && (
          <span class="figures" title={inFull(result.usage)}>
            {figures(result, times).join(" · ")}
          </span>
        )}
        <span class="turn-actions">
          {planned && turn.result?.stopReason === "finished" && (
            <button type="button" class="link-button" onClick={() => void actions.carryOut()}>
              {t.carryOut}
            </button>
          )}
          {answer !== "" && (
            <button type="button" class="link-button" onClick={() => panel.tell({ kind: "copy", text: answer })}>
              {t.copyAnswer}
            </button>
          )}
          {!(result?.error !== undefined && mayPass(result.error.code)) && (
            <button type="button" class="link-button" onClick={() => void actions.retry(turn)}>
              {t.retry}
            </button>
          )}
        </span>
      </footer>
    </>
  );
}

function answerOf({ items }: TurnEntry): string {
  return items
    .flatMap((item) => (item.kind === "answer" ? [item.text] : []))
    .join("")
    .trim();
}
