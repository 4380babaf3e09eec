import type { ContextReport } from "../../src/protocol/types";
import { amount, percent } from "../../src/amounts";
import { type Group, grouped, TITLES } from "../text/sections";
import { t } from "../language";

/** The lines of each group's pattern, in a square of 6: it is told by them where colours are not. */
const PATTERNS: Record<Group, string> = {
  L1: "",
  law: "M-1 1L1 -1M-1 7L7 -1M5 7L7 5",
  summaries: "M3 2.2v1.6",
  history: "M3 -1v8",
  turn: "M-1 -1L7 7M-1 7L7 -1",
};

interface Props {
  report: ContextReport;
  /** A group was chosen. */
  onChoose: (group: Group) => void;
}

/** The window as a bar: what each group takes of it, what is free, and from where the chat is compacted. */
export function ContextBar({ report, onChoose }: Props) {
  const { totalTokens, contextWindow, threshold } = report;
  const groups = grouped(report);
  const taken = Math.max(
    totalTokens,
    groups.reduce((sum, { tokens }) => sum + tokens, 0),
  );
  const whole = Math.max(contextWindow, taken, 1);
  const place = (tokens: number): string => `${(100 * tokens) / whole}%`;
  const free = Math.max(0, contextWindow - taken);
  const starts = groups.map((_, index) => groups.slice(0, index).reduce((sum, { tokens }) => sum + tokens, 0));
  const told = groups.filter(({ tokens }) => tokens > 0);
  const said = told.map(({ group, tokens }) => `${TITLES[group].title} ${amount(tokens)}`);
  const trigger = threshold > 0 ? t.compactedFrom(amount(threshold)) : "";
  const label = t.barInWords(t.tokensOf(amount(taken), amount(contextWindow)), said.join(", "), amount(free), trigger);
  return (
    <div class="context-bar">
      <svg class="context-window" role="img" aria-label={label.trim()} width="100%" height="28">
        <defs>
          {groups.map(({ group }) => (
            <pattern
              key={group}
              id={`ink-${group}`}
              class="ink"
              data-layer={group}
              width="6"
              height="6"
              patternUnits="userSpaceOnUse"
            >
              <rect class={group === "L1" ? "ink-full" : "ink-ground"} width="6" height="6" />
              <path class="ink-line" d={PATTERNS[group]} />
            </pattern>
          ))}
        </defs>
        <rect class="segment" data-layer="free" x={place(taken)} y="4" width={place(free)} height="20" />
        {groups.map(({ group, tokens }, index) => (
          <rect
            key={group}
            class="segment"
            data-layer={group}
            x={place(starts[index] ?? 0)}
            y="4"
            width={place(tokens)}
            height="20"
            fill={`url(#ink-${group})`}
          >
            <title>{`${TITLES[group].title}: ${t.tokens(amount(tokens))}`}</title>
          </rect>
        ))}
        <rect class="context-frame" x="0" y="4" width="100%" height="20" />
        {threshold > 0 && (
          <line class="trigger" x1={place(threshold)} x2={place(threshold)} y1="0" y2="28">
            <title>{trigger}</title>
          </line>
        )}
      </svg>
      <ul class="legend">
        {groups.map(({ group, tokens }) => (
          <li key={group}>
            <button
              type="button"
              class="legend-entry"
              disabled={tokens === 0}
              title={TITLES[group].what}
              onClick={() => onChoose(group)}
            >
              <Swatch group={group} />
              <span class="legend-title">{TITLES[group].title}</span>
              <span class="number">{amount(tokens)}</span>
              <span class="number share">{percent(tokens, contextWindow)}</span>
            </button>
          </li>
        ))}
        <li class="legend-entry">
          <svg class="swatch" width="14" height="14" aria-hidden="true">
            <rect class="context-frame" x="0.5" y="0.5" width="13" height="13" />
          </svg>
          <span class="legend-title">{t.free}</span>
          <span class="number">{amount(free)}</span>
          <span class="number share">{percent(free, contextWindow)}</span>
        </li>
        {threshold > 0 && (
          <li class="legend-entry">
            <svg class="swatch" width="14" height="14" aria-hidden="true">
              <line class="trigger-key" x1="7" x2="7" y1="0" y2="14" />
            </svg>
            <span class="legend-title">{t.compactedAt}</span>
            <span class="number">{amount(threshold)}</span>
            <span class="number share">{percent(threshold, contextWindow)}</span>
          </li>
        )}
      </ul>
    </div>
  );
}

/** The colour and the pattern of a group; its picture is in the bar. */
export function Swatch({ group }: { group: Group }) {
  return (
    <svg class="swatch" width="14" height="14" aria-hidden="true">
      <rect class="segment-key" width="14" height="14" fill={`url(#ink-${group})`} />
    </svg>
  );
}
