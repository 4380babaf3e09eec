import { useEffect, useState } from "preact/hooks";
import type { Call as CallItem, Compaction, Hook, Item, Notice } from "../state";
import { compactionInWords } from "../text/compaction";
import { Markdown } from "../text/Markdown";
import { partsOf } from "../text/steps";
import { againInWords } from "../text/words";
import { Call } from "./Call";
import { Icon } from "./Icon";
import { SteerLine } from "./Steer";
import { Steps } from "./Steps";
import { Thought } from "./Thought";
import { Visible } from "./Visible";
import { t } from "../language";

interface Props {
  items: readonly Item[];
  results: ReadonlyMap<string, string>;
  /** Its turn runs: the last item may still grow. */
  running: boolean;
  /** Steps are shown, and not folded. */
  open: boolean;
}

/** What happened, in order; what led to the outcome of a turn that is over folds into lines. */
export function Items({ items, results, running, open }: Props) {
  const last = items[items.length - 1];
  const begun = childrenOf(items);
  // What a subagent calls stands in the row of the call that has begun it.
  const own =
    begun.size === 0 ? items : items.filter((item) => item.kind !== "call" || !begun.has(item.call.parent ?? ""));
  const draw = (item: Item) => (
    <One
      key={item.id}
      item={item}
      results={results}
      begun={begun.get(item.id)}
      running={running}
      live={running && item === last}
    />
  );
  return (
    <>
      {partsOf(own).map((part) =>
        part.kind === "item" ? (
          draw(part.item)
        ) : (
          <Steps key={part.id} items={part.items} foldable={part.foldable} open={open}>
            {part.items.map(draw)}
          </Steps>
        ),
      )}
    </>
  );
}

interface OneProps {
  item: Item;
  results: ReadonlyMap<string, string>;
  /** The calls of the subagent that this one has begun. */
  begun: readonly CallItem[] | undefined;
  running: boolean;
  /** It may still grow. */
  live: boolean;
}

function One({ item, results, begun, running, live }: OneProps) {
  switch (item.kind) {
    case "thought":
      return <Thought item={item} live={live} />;
    case "answer":
      return (
        <div class="answer" data-item={item.id}>
          <Markdown text={item.text} streaming={live} />
        </div>
      );
    case "call":
      return (
        <Call
          item={item}
          result={results.get(item.id) ?? null}
          ended={!running}
          {...(begun === undefined ? {} : { begun, results })}
        />
      );
    case "notice":
      return <NoticeLine item={item} />;
    case "steer":
      return <SteerLine item={item} />;
    case "hook":
      return <HookLine item={item} />;
    case "compaction":
      return <CompactionLine item={item} />;
  }
}

/** The calls of subagents, by the call that has begun each. */
function childrenOf(items: readonly Item[]): ReadonlyMap<string, readonly CallItem[]> {
  const calls = items.filter((item) => item.kind === "call");
  const known = new Set(calls.map(({ id }) => id));
  const begun = new Map<string, CallItem[]>();
  for (const item of calls) {
    const { parent } = item.call;
    if (parent !== undefined && known.has(parent)) begun.set(parent, [...(begun.get(parent) ?? []), item]);
  }
  return begun;
}

function NoticeLine({ item }: { item: Notice }) {
  return (
    <p class="notice" data-item={item.id} data-level={item.level} data-code={item.code} dir="auto">
      {item.level !== "info" && <Icon name="warning" />}
      {item.retry === undefined ? <span>{item.message}</span> : <Countdown retry={item.retry} />}
    </p>
  );
}

/** How long it is until the model is asked again. */
function Countdown({ retry: { until, attempt, reason } }: { retry: NonNullable<Notice["retry"]> }) {
  const left = (): number => Math.max(0, until - Date.now() / 1000);
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(left), 1000);
    return () => clearInterval(timer);
  }, [until]);
  return <span>{againInWords(seconds, attempt, reason)}</span>;
}

function HookLine({ item: { id, run } }: { item: Hook }) {
  const { event, name, status, seconds, message } = run;
  const took = status === "running" ? "" : t.hookTook(seconds);
  return (
    <p class="notice hook" data-item={id} data-status={status} dir="auto">
      {status === "running" && <span class="spinner" aria-hidden="true" />}
      {status === "failed" && <Icon name="warning" />}
      <span>
        <Visible text={t.hookLine(event, name, t.hookStates[status], took)} />
        {message !== undefined && (
          <>
            : <Visible text={message} />
          </>
        )}
      </span>
    </p>
  );
}

const AT_WORK = new Set<Compaction["phase"]>(["started", "summarising"]);

function CompactionLine({ item: { phase, report } }: { item: Compaction }) {
  return (
    <p class="notice compaction" data-phase={phase} dir="auto">
      {AT_WORK.has(phase) && <span class="spinner" aria-hidden="true" />}
      <span>
        {report?.compacted === true && t.compacted}
        {compactionInWords(phase, report).join(" ")}
      </span>
    </p>
  );
}
