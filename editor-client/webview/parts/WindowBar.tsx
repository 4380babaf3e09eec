import "../style/window-bar.css";
import { useHands } from "../hands";
import type { State } from "../state";
import { amount, cost, percent } from "../../src/amounts";
import { type Bill, billInWords, billsOf, triggerOf, windowUse } from "../text/bill";
import { t } from "../language";

/** How full the window is, and what it has cost so far: a thin bar that leads to the context. */
export function WindowBar({ state }: { state: State }) {
  const { actions } = useHands();
  const { chat, context } = state;
  const use = windowUse(chat, context);
  const bills = billsOf(chat);
  const trigger = use === null ? null : triggerOf(context.report, use.window);
  const full = use === null ? 0 : Math.min(1, use.tokens / Math.max(1, use.window));
  const near = use !== null && trigger !== null && use.tokens >= trigger;
  const filled =
    use === null
      ? t.nothingSent
      : `${use.estimated ? t.about : ""}${t.tokensOf(percent(use.tokens, use.window), amount(use.window))}`;
  const lines = [
    t.contextIs(filled),
    ...(trigger === null ? [] : [t.compactedFrom(t.tokens(amount(trigger)))]),
    ...(bills.turn === null ? [] : [t.lastTurnIs(billInWords(bills.turn))]),
    ...(bills.chat === null ? [] : [t.chatIs(billInWords(bills.chat))]),
  ];
  return (
    <button
      type="button"
      class="window-bar"
      data-near={near}
      aria-label={lines.join(". ")}
      title={`${lines.join("\n")}\n${t.showSent}`}
      onClick={() => void actions.inspect()}
    >
      <svg class="window-fill" width="100%" height="6" aria-hidden="true">
        <rect class="window-room" width="100%" height="6" />
        <rect class="window-used" width={`${100 * full}%`} height="6" />
        {use !== null && trigger !== null && (
          <line
            class="trigger"
            x1={`${(100 * trigger) / use.window}%`}
            x2={`${(100 * trigger) / use.window}%`}
            y1="0"
            y2="6"
          />
        )}
      </svg>
      <span class="window-words">
        <span class="window-share">{use === null ? t.context : filled}</span>
        {bills.chat !== null && <span class="window-bill" aria-hidden="true" data-bill={inShort(bills.chat)} />}
      </span>
    </button>
  );
}

/** For the eye alone: the button's label says it in full. */
const inShort = ({ tokens, dollars, atLeast, estimated }: Bill): string =>
  `${atLeast ? "≥ " : estimated ? "≈ " : ""}${amount(tokens)}${dollars === null ? "" : ` · ${cost(dollars)}`}`;
