import "../style/call.css";
import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { amount } from "../../src/amounts";
import type { ToolCall } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { Call as CallItem } from "../state";
import { ansiHtml, plain } from "../text/ansi";
import { Html } from "../text/Html";
import { counted } from "../text/hunks";
import { lastLines } from "../text/live";
import { span } from "../text/words";
import { Diff } from "./Diff";
import { Result } from "./Result";
import { ResultPictures } from "./ResultPictures";
import { Ticking } from "./Ticking";
import { Visible } from "./Visible";
import { t } from "../language";

const STATES: Record<string, string> = {
  pending: t.waiting,
  awaiting_approval: t.waitingApproval,
  running: t.running,
  completed: t.done,
  failed: t.failed,
  rejected: t.rejected,
  interrupted: t.interrupted,
};

/** One call of a tool: a line, and unfolded what it was given, what it gave and why it was allowed. */
export const Call = memo(function Call({
  item,
  result,
  ended,
  begun = NONE,
  results,
}: {
  item: CallItem;
  result: string | null;
  ended: boolean;
  /** The calls of the subagent that this one has begun. */
  begun?: readonly CallItem[] | undefined;
  results?: ReadonlyMap<string, string>;
}) {
  const { call } = item;
  const { actions } = useHands();
  const [open, setOpen] = useState(false);
  // A turn that is over has no call under way, whatever was heard of it last.
  const status = ended && UNDER_WAY.has(call.status) ? "interrupted" : call.status;
  const over = !UNDER_WAY.has(status);
  useEffect(() => {
    if (open && over && result === null) void actions.readResult(call.callId);
  }, [open, over, result === null, call.callId]);
  const target = targetOf(call);
  const newest = over ? undefined : begun[begun.length - 1];
  const why = status === "failed" || status === "rejected" ? (call.summary ?? "") : "";
  return (
    <>
      <details
        class="call"
        data-call-id={call.callId}
        data-item={item.id}
        data-status={status}
        onToggle={(event) => setOpen(event.currentTarget.open)}
      >
        <summary>
          <State status={status} />
          <span class="call-tool">{call.tool}</span>
          <span class="call-target" dir="ltr" title={target}>
            <Visible text={target} />
          </span>
          {call.diff !== undefined && <Counts diff={call.diff} />}
          {item.spent !== undefined && <span class="call-time">{t.tokens(amount(item.spent))}</span>}
          <Time item={item} over={over} />
        </summary>
        {open && begun.length > 0 && (
          <div class="call-steps" role="group" aria-label={t.subagentSteps}>
            {begun.map((one) => (
              <Call key={one.id} item={one} result={results?.get(one.id) ?? null} ended={ended || over} />
            ))}
          </div>
        )}
        {open && <Inside call={call} result={result} over={over} />}
      </details>
      {!open && why !== "" && (
        <p class="call-problem" dir="auto" title={why}>
          <Visible text={why} />
        </p>
      )}
      {!open && newest !== undefined && (
        <p class="call-problem call-newest" dir="auto">
          <Visible text={`${newest.call.tool} ${targetOf(newest.call)}`} />
        </p>
      )}
      {!over && item.live !== "" && <Live text={item.live} />}
      {status === "running" && call.tool === COMMAND && <Stop callId={call.callId} title={call.title} />}
    </>
  );
});

const NONE: readonly CallItem[] = [];

/** The tool whose calls can be stopped by themselves. */
const COMMAND = "Bash";

function Stop({ callId, title }: { callId: string; title: string }) {
  const { actions } = useHands();
  const [asked, setAsked] = useState(false);
  const stop = async (): Promise<void> => {
    setAsked(true);
    await actions.stopCall(callId);
    setAsked(false);
  };
  return (
    <p class="call-stop">
      <button
        type="button"
        class="link-button"
        aria-label={t.stopCommandOf(title)}
        title={t.stopCommandHint}
        disabled={asked}
        onClick={() => void stop()}
      >
        {t.stopCommand}
      </button>
    </p>
  );
}

/** Lines that are shown of a command while it runs. */
const LIVE_LINES = 10;

function Live({ text }: { text: string }) {
  const shown = lastLines(text, LIVE_LINES);
  const html = ansiHtml(shown);
  return (
    <pre class="call-live" dir="ltr" role="group" aria-label={t.outputSoFar}>
      {html === null ? <Visible text={plain(shown)} /> : <Html as="code" html={html} />}
    </pre>
  );
}

const UNDER_WAY = new Set<string>(["pending", "awaiting_approval", "running"]);

const SHAPES: Record<string, string> = {
  pending: "M8 4.5a3.5 3.5 0 1 1 0 7a3.5 3.5 0 0 1 0-7z",
  awaiting_approval: "M6 6a2 2 0 1 1 2.6 1.9c-.4.2-.6.5-.6 1.1M8 11.4v.1",
  running: "M8 3a5 5 0 1 1-4.6 3",
  completed: "M3.5 8.5l3 3 6-7",
  failed: "M4 4l8 8M12 4l-8 8",
  rejected: "M8 2.8a5.2 5.2 0 1 1 0 10.4a5.2 5.2 0 0 1 0-10.4zM4.4 4.4l7.2 7.2",
  interrupted: "M5 8h6M8 2.8a5.2 5.2 0 1 1 0 10.4a5.2 5.2 0 0 1 0-10.4z",
};

function State({ status }: { status: string }) {
  const words = STATES[status] ?? status;
  return (
    <span class="call-state" role="img" aria-label={words} title={words}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" focusable="false">
        <path d={SHAPES[status] ?? SHAPES["pending"]} fill="none" stroke="currentColor" stroke-width="1.5" />
      </svg>
    </span>
  );
}

function Counts({ diff }: { diff: string }) {
  const { added, removed } = counted(diff);
  return (
    <span class="counts">
      <span class="added">+{added}</span> <span class="removed">−{removed}</span>
    </span>
  );
}

function Time({ item: { startedAt, endedAt, call }, over }: { item: CallItem; over: boolean }) {
  if (startedAt === null || (over && endedAt === null)) return null;
  if (endedAt !== null) return <span class="call-time">{span(endedAt - startedAt)}</span>;
  return call.status === "running" ? <Ticking since={startedAt} class="call-time" /> : null;
}

function Inside({ call, result, over }: { call: ToolCall; result: string | null; over: boolean }) {
  return (
    <div class="call-inside">
      {call.decision !== undefined && <p class="call-why">{why(call.decision)}</p>}
      {call.args !== undefined && Object.keys(call.args).length > 0 && <Arguments args={call.args} />}
      {call.diff !== undefined && call.diff !== "" && <Diff text={call.diff} />}
      {result !== null && <Result content={result} call={call} />}
      {result !== null && <ResultPictures callId={call.callId} />}
      {result === null && over && call.summary !== undefined && <p dir="auto">{call.summary}</p>}
    </div>
  );
}

function Arguments({ args }: { args: Record<string, unknown> }) {
  return (
    <dl class="facts">
      {Object.entries(args).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="ltr">
            <Visible text={typeof value === "string" ? value : JSON.stringify(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

const SOURCES: Record<string, string> = {
  mode: t.byMode,
  deny: t.byDeny,
  allow: t.byAllow,
  grant: t.byGrant,
  default: t.byDefault,
  user: t.byYou,
};
const DECIDED: Record<string, string> = { allow: t.allowed, ask: t.askedAbout, deny: t.denied };

const ANSWERS: Record<string, string> = {
  allow_once: t.once,
  allow_chat: t.forThisChat,
  allow_always: t.forPattern,
  reject: t.thisOnce,
};

function why({ action, source, rule }: NonNullable<ToolCall["decision"]>): string {
  const words = `${DECIDED[action] ?? action} ${SOURCES[source] ?? t.bySource(source)}`;
  const answer = source === "user" ? ANSWERS[rule] : undefined;
  if (answer !== undefined) return `${words}, ${answer}.`;
  return rule === "" || rule === source ? `${words}.` : `${words}: ${rule}`;
}

/** What a call is about: what its title says beside the tool and a verb. */
function targetOf({ title, tool, args }: ToolCall): string {
  if (title.startsWith(`${tool} `)) return title.slice(tool.length + 1);
  const texts = Object.values(args ?? {}).filter((value) => typeof value === "string" && value !== "");
  const named = texts.find((text) => typeof text === "string" && title.endsWith(` ${text}`));
  if (typeof named === "string") return named;
  if (title !== tool) return title;
  const [first] = texts;
  return typeof first === "string" ? (first.split("\n", 1)[0] ?? "") : "";
}
