import "../style/context.css";
import { useEffect, useRef } from "preact/hooks";
import type { BudgetLine, ContextReport } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { amount, percent } from "../../src/amounts";
import { billInWords, billsOf } from "../text/bill";
import { countInWords } from "../text/count";
import { sectionTitle } from "../text/sections";
import { Archived } from "./Archived";
import { Compacting } from "./Compacting";
import { ContextBar } from "./ContextBar";
import { focusComposer } from "./focus";
import { Icon } from "./Icon";
import { Offered } from "./Offered";
import { groupId, Sections } from "./Sections";
import { t } from "../language";

/** What would be sent to the model now: how much of the window each part takes, and its exact text. */
export function ContextPage({ state }: { state: State }) {
  const { panel, actions } = useHands();
  const { chat, context } = state;
  const { report } = context;
  const title = useRef<HTMLHeadingElement>(null);

  useEffect(() => title.current?.focus(), []);

  const back = (): void => {
    panel.dispatch({ kind: "page", page: "chat" });
    focusComposer();
  };

  return (
    <div
      class="context-page"
      aria-busy={context.loading}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !event.defaultPrevented) back();
      }}
    >
      <header class="context-head">
        <button type="button" class="icon-button" aria-label={t.backToChat} title={t.backToChat} onClick={back}>
          <Icon name="back" />
        </button>
        <h1 ref={title} tabIndex={-1}>
          {t.context}
        </h1>
        <button type="button" class="link-button" disabled={context.loading} onClick={() => void actions.inspect()}>
          {context.loading ? t.reading : t.refresh}
        </button>
      </header>
      <div class="context-body">
        {context.problem !== null && (
          <p class="notice" data-level="error" role="alert" dir="auto">
            <Icon name="warning" />
            <span>
              {context.problem.message} <span class="hint">{context.problem.hint}</span>
            </span>
          </p>
        )}
        {report === null ? (
          <p class="hint">{context.loading ? t.askingContext : t.contextUnknown}</p>
        ) : (
          <Window state={state} report={report} />
        )}
        <Bills state={state} />
        <Compacting state={state} />
        <Archived archive={context.archive} disabled={chat === null || chat.compacting || context.loading} />
        {report !== null && <Details report={report} />}
      </div>
    </div>
  );
}

function Window({ state, report }: { state: State; report: ContextReport }) {
  const { panel, actions } = useHands();
  const { totalTokens, contextWindow } = report;
  const choose = (): void => {
    panel.dispatch({ kind: "page", page: "chat" });
    panel.dispatch({ kind: "choosing", what: "strategy" });
  };
  return (
    <section aria-labelledby="window-title">
      <h2 id="window-title">
        {t.aboutTokensOf(percent(totalTokens, contextWindow), amount(contextWindow))}
        <span class="hint">{state.composer.text.trim() === "" ? t.withNext : t.withDraft}</span>
      </h2>
      <p class="counted" role="status">
        {countInWords(report)}{" "}
        <button type="button" class="link-button" disabled={state.context.loading} onClick={() => void actions.count()}>
          {t.countExactly}
        </button>
      </p>
      <ContextBar
        report={report}
        onChoose={(group) => {
          const list = document.getElementById(groupId(group));
          list?.scrollIntoView({ block: "start" });
          list?.focus();
        }}
      />
      <p class="strategy">
        <span>
          {t.strategy} <b>{report.strategy}</b>
          {report.kept === "" ? "" : `: ${report.kept}`}
        </span>{" "}
        <button type="button" class="link-button" aria-label={t.changeStrategy} onClick={choose}>
          {t.changeIt}
        </button>
      </p>
    </section>
  );
}

function Bills({ state }: { state: State }) {
  const bills = billsOf(state.chat);
  if (bills.turn === null || bills.chat === null) return null;
  return (
    <section aria-labelledby="bills-title">
      <h2 id="bills-title">{t.tokensAndCost}</h2>
      <dl class="bills">
        <dt>{t.lastTurn}</dt>
        <dd>{billInWords(bills.turn)}</dd>
        <dt>{t.thisWholeChat}</dt>
        <dd>{billInWords(bills.chat)}</dd>
      </dl>
    </section>
  );
}

function Details({ report }: { report: ContextReport }) {
  return (
    <>
      <section aria-labelledby="sections-title">
        <h2 id="sections-title">{t.whatIsSent}</h2>
        <Sections report={report} />
      </section>
      {report.dropped.length > 0 && (
        <section aria-labelledby="dropped-title">
          <h2 id="dropped-title">{t.leftOut}</h2>
          <ul class="dropped">
            {report.dropped.map(({ name, reason }, place) => (
              <li key={`${place} ${name}`} dir="auto">
                <b>{sectionTitle(name)}</b>: {reason}
              </li>
            ))}
          </ul>
        </section>
      )}
      {report.tools !== undefined && report.tools.length > 0 && <Offered tools={report.tools} />}
      {report.budget.length > 0 && <Budget lines={report.budget} />}
    </>
  );
}

const PARTS: Record<BudgetLine["part"], string> = {
  system: t.partSystem,
  summary: t.partSummary,
  retrieved: t.partRetrieved,
  recent: t.partRecent,
  input: t.partInput,
};

function Budget({ lines }: { lines: BudgetLine[] }) {
  return (
    <section aria-labelledby="budget-title">
      <h2 id="budget-title">{t.budget}</h2>
      <table class="budget">
        <thead>
          <tr>
            <th scope="col">{t.part}</th>
            <th scope="col">{t.takes}</th>
            <th scope="col">{t.share}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ part, share, tokens, over }) => (
            <tr key={part} data-over={over}>
              <th scope="row">
                {PARTS[part]}
                {over && (
                  <span class="badge" data-kind={t.over}>
                    {t.over}
                  </span>
                )}
              </th>
              <td class="number">{amount(tokens)}</td>
              <td class="number">{amount(share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
