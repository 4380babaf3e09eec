// Draws one approval in the panel: what is asked, why, what it would change, and the choices.
import { useEffect, useRef, useState } from "preact/hooks";
import { useId } from "../ids";
import type { OpenApproval } from "../../src/messages";
import type { ApprovalOption, ApprovalReply } from "../../src/protocol/types";
import { useHands } from "../hands";
import { ruleInWords } from "../text/rule";
import { hasHidden } from "../text/visible";
import { isEmpty, Preview, readOn } from "./ApprovalPreview";
import { Icon } from "./Icon";
import { Visible } from "./Visible";
import { t } from "../language";

interface Props {
  approval: OpenApproval;
  /** What the rules said; empty when it is not known. */
  why: string;
  /** How many more questions wait. */
  waiting: number;
  /** Whether a key that comes now can be meant for this card. */
  settled: () => boolean;
  onDecide: (approval: OpenApproval, reply: ApprovalReply) => void;
}

const TITLES: Record<ApprovalOption["kind"], string> = {
  allow_once: t.allowOnce,
  allow_chat: t.allowChat,
  allow_always: t.allowAlways,
  reject: t.no,
};
const RISKS = { write: t.changesFiles, execute: t.runsCommand, send: t.leavesMachine };
const ICONS = { write: "edit", execute: "terminal", send: "send" } as const;

/** One question: what would be done, why it is asked, and the answers. It is answered once. */
export function Approval({ approval, why, waiting, settled, onDecide }: Props) {
  const { panel } = useHands();
  const { request } = approval;
  const id = useId();
  const card = useRef<HTMLDivElement>(null);
  const decided = useRef(false);
  const [answer, setAnswer] = useState<ApprovalOption["kind"] | null>(null);
  const [comment, setComment] = useState<string | null>(null);
  /** What it does, and whether its end has been in sight. */
  const box = useRef<HTMLDivElement>(null);
  const [end, setEnd] = useState(false);
  const seen = end || isEmpty(request.preview);

  const reject = request.options.find((option) => option.kind === "reject");
  const rules = standingRules(request.options);

  const reply = (kind: ApprovalOption["kind"], words: ApprovalReply): void => {
    if (decided.current) return;
    decided.current = true;
    setAnswer(kind);
    onDecide(approval, words);
  };
  const choose = (option: ApprovalOption): void => {
    if (seen || option.kind === "reject") reply(option.kind, { optionId: option.id });
    else readOn(box.current);
  };
  const refuse = (): void => {
    if (reject === undefined) return;
    const words = comment?.trim() ?? "";
    reply("reject", words === "" ? { optionId: reject.id } : { optionId: reject.id, comment: words });
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLInputElement) return;
    if (!/^[1-9]$/u.test(event.key)) return;
    event.preventDefault();
    if (event.repeat || !settled()) return;
    const index = Number(event.key) - 1;
    const option = request.options[index];
    if (option !== undefined) choose(option);
    else if (!place && index === request.options.length && reject !== undefined) setComment((words) => words ?? "");
  };

  const { diff, command, text } = request.preview;
  /** About the whole chat and where it goes, and no call that might be made otherwise. */
  const place = request.risk === "send";
  const hidden = [request.title, diff ?? "", command ?? "", text ?? ""].some(hasHidden);
  return (
    <div
      ref={card}
      class="approval"
      role="group"
      tabIndex={-1}
      data-call-id={request.callId}
      data-risk={request.risk}
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-risk ${id}-why`}
      onKeyDown={onKeyDown}
    >
      <div ref={box} class="approval-body">
        <div class="approval-head">
          <Icon name={ICONS[request.risk]} />
          <h2 id={`${id}-title`} class={command === undefined ? "approval-title" : "approval-title one-line"}>
            <Visible text={request.title} />
          </h2>
          {waiting > 0 && <span class="approval-count">{t.oneOf(waiting + 1)}</span>}
        </div>
        {hidden && (
          <p class="approval-warning">
            <Icon name="warning" />
            <span>{t.hiddenShown}</span>
          </p>
        )}
        <Preview preview={request.preview} onEnd={() => setEnd(true)} />
        {diff !== undefined && diff !== "" && (
          <button
            type="button"
            class="link-button approval-diff"
            onClick={() => panel.tell({ kind: "preview", id: approval.id })}
          >
            {t.openDiff}
          </button>
        )}
        <p class="approval-why">
          <strong id={`${id}-risk`}>{text === undefined ? RISKS[request.risk] : t.keepsSomething}.</strong>{" "}
          <span id={`${id}-why`}>
            {request.alwaysAsked === true && t.askedEveryTime}
            {why !== "" && <Visible text={why} />}
          </span>
        </p>
        {request.description !== undefined && (
          <p class="approval-why">
            {t.modelsWords} “<Visible text={request.description} />”
          </p>
        )}
        {rules.length > 0 && (
          <dl class="approval-rules">
            {rules.map((rule, index) => (
              <div key={rule.rule} id={`${id}-rule-${index}`}>
                <dt>{rule.kinds.join(" · ")}</dt>
                <dd>
                  <Visible text={ruleInWords(rule.rule)} />{" "}
                  <code>
                    <Visible text={rule.rule} />
                  </code>
                </dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      <p id={`${id}-rest`} class="approval-rest" role="status">
        {seen ? "" : t.goesOnBelow}
      </p>
      <div class="approval-options">
        {request.options.map((option, index) => (
          <button
            key={option.id}
            type="button"
            class={option.kind === "allow_once" ? "approval-option primary" : "approval-option"}
            data-option-kind={option.kind}
            aria-disabled={answer !== null || !(seen || option.kind === "reject")}
            aria-describedby={`${ruleId(id, rules, option)} ${id}-rest`.trim()}
            title={option.title}
            onClick={(event) => {
              if (event.detail < 2) choose(option);
            }}
          >
            <kbd aria-hidden="true">{index + 1}</kbd> {place ? option.title : titleOf(option, request.options)}
          </button>
        ))}
        {place ? null : reject === undefined ? (
          <button type="button" class="approval-option" onClick={() => reply("reject", { cancelled: true })}>
            {t.no}
          </button>
        ) : (
          <button
            type="button"
            class="approval-option"
            aria-expanded={comment !== null}
            aria-disabled={answer !== null}
            onClick={() => setComment((words) => (words === null ? "" : null))}
          >
            <kbd aria-hidden="true">{request.options.length + 1}</kbd> {t.noBecause}
          </button>
        )}
      </div>
      {comment !== null && answer === null && (
        <Why
          comment={comment}
          onInput={setComment}
          onSend={refuse}
          onClose={() => {
            card.current?.focus();
            setComment(null);
          }}
        />
      )}
      {answer !== null && (
        <p class="approval-answer" role="status">
          {place ? t.answered : answer === "reject" ? t.refusedIt : t.allowedIt}
        </p>
      )}
    </div>
  );
}

interface WhyProps {
  comment: string;
  onInput: (words: string) => void;
  onSend: () => void;
  onClose: () => void;
}

function Why({ comment, onInput, onSend, onClose }: WhyProps) {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div class="approval-comment">
      <label for={id}>{t.why}</label>
      <input
        id={id}
        ref={field}
        type="text"
        dir="auto"
        placeholder={t.insteadDo}
        value={comment}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing) return;
          if (event.key === "Enter" && !event.repeat) onSend();
          else if (event.key === "Escape") onClose();
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <button type="button" class="approval-option" onClick={onSend}>
        {t.refuse}
      </button>
    </div>
  );
}

interface StandingRule {
  rule: string;
  kinds: string[];
}

/** What the standing answers would allow, each rule once. */
function standingRules(options: readonly ApprovalOption[]): StandingRule[] {
  const rules = new Map<string, string[]>();
  for (const { rule, kind } of options) {
    if (rule !== undefined)
      rules.set(rule, [...(rules.get(rule) ?? []), kind === "allow_chat" ? t.inThisChat : t.always]);
  }
  return [...rules].map(([rule, kinds]) => ({ rule, kinds }));
}

function ruleId(id: string, rules: readonly StandingRule[], { rule }: ApprovalOption): string {
  const index = rules.findIndex((one) => one.rule === rule);
  return index < 0 ? "" : `${id}-rule-${index}`;
}

/** The usual words for an option; its own where two of a kind are offered. */
const titleOf = (option: ApprovalOption, options: readonly ApprovalOption[]): string =>
  options.filter(({ kind }) => kind === option.kind).length > 1 ? option.title : TITLES[option.kind];
