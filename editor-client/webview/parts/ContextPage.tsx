import "../style/context.css";
import { useEffect, useRef } from "preact/hooks";
import type { BudgetLine, ContextReport } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { amount, percent } from "../text/amounts";
import { billInWords, billsOf } from "../text/bill";
import { sectionTitle } from "../text/sections";
import { Archived } from "./Archived";
import { Compacting } from "./Compacting";
import { ContextBar } from "./ContextBar";
import { focusComposer } from "./focus";
import { Icon } from "./Icon";
import { groupId, Sections } from "./Sections";

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
        <button type="button" class="icon-button" aria-label="Back to the chat" title="Back to the chat" onClick={back}>
          <Icon name="back" />
        </button>
        <h1 ref={title} tabIndex={-1}>
          Context
        </h1>
        <button type="button" class="link-button" disabled={context.loading} onClick={() => void actions.inspect()}>
          {context.loading ? "Reading…" : "Refresh"}
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
          <p class="hint">
            {context.loading ? "Asking the server what would be sent…" : "Nothing is known yet. Choose Refresh."}
          </p>
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
  const { panel } = useHands();
  const { totalTokens, contextWindow } = report;
  const choose = (): void => {
    panel.dispatch({ kind: "page", page: "chat" });
    panel.dispatch({ kind: "choosing", what: "strategy" });
  };
  return (
    <section aria-labelledby="window-title">
      <h2 id="window-title">
        {`${percent(totalTokens, contextWindow)} of ${amount(contextWindow)} tokens`}
        <span class="hint">
          {state.composer.text.trim() === "" ? " · sent with the next message" : " · with the message you are writing"}
        </span>
      </h2>
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
          Strategy <b>{report.strategy}</b>
          {report.kept === "" ? "" : `: ${report.kept}`}
        </span>{" "}
        <button type="button" class="link-button" aria-label="Change the strategy" onClick={choose}>
          Change
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
      <h2 id="bills-title">Tokens and cost</h2>
      <dl class="bills">
        <dt>Last turn</dt>
        <dd>{billInWords(bills.turn)}</dd>
        <dt>This chat</dt>
        <dd>{billInWords(bills.chat)}</dd>
      </dl>
    </section>
  );
}

function Details({ report }: { report: ContextReport }) {
  return (
    <>
      <section aria-labelledby="sections-title">
        <h2 id="sections-title">What is sent</h2>
        <Sections report={report} />
      </section>
      {report.dropped.length > 0 && (
        <section aria-labelledby="dropped-title">
          <h2 id="dropped-title">What is left out</h2>
          <ul class="dropped">
            {report.dropped.map(({ name, reason }, place) => (
              <li key={`${place} ${name}`} dir="auto">
                <b>{sectionTitle(name)}</b>: {reason}
              </li>
            ))}
          </ul>
        </section>
      )}
      {report.budget.length > 0 && <Budget lines={report.budget} />}
    </>
  );
}

const PARTS: Record<BudgetLine["part"], string> = {
  system: "System",
  summary: "Summary",
  retrieved: "Retrieved",
  recent: "Recent",
  input: "Input",
};

function Budget({ lines }: { lines: BudgetLine[] }) {
  return (
    <section aria-labelledby="budget-title">
      <h2 id="budget-title">Budget</h2>
      <table class="budget">
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Takes</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ part, share, tokens, over }) => (
            <tr key={part} data-over={over}>
              <th scope="row">
                {PARTS[part]}
                {over && (
                  <span class="badge" data-kind="over">
                    over
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
