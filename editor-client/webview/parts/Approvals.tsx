import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import "../style/approvals.css";
import type { OpenApproval } from "../../src/messages";
import type { ApprovalReply } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { Approval } from "./Approval";
import { focusComposer, isTyping } from "./focus";
import { t } from "../language";

/** The questions that wait for the user: the oldest of the chat at hand as a card, the others as lines. */
export function Approvals({ state }: { state: State }) {
  const { actions } = useHands();
  const shown = state.chat?.chat.id ?? null;
  const here = state.approvals.filter(({ request }) => request.chatId === shown);
  const [first, ...waiting] = here;
  const part = useRef<HTMLElement>(null);
  const hadFocus = useRef(false);
  /** From when on a key can be meant for the card. */
  const keysFrom = useRef(0);

  const id = first?.id ?? null;
  useLayoutEffect(() => {
    if (id === null) {
      if (hadFocus.current) focusComposer();
      hadFocus.current = false;
      return;
    }
    const card = part.current?.querySelector(".approval");
    if (card instanceof HTMLElement && (hadFocus.current || (document.hasFocus() && !isTyping()))) {
      // Who is about to write may not have seen yet where the keys go now.
      if (document.activeElement?.matches("input, textarea") === true) keysFrom.current = Date.now() + NOTICING;
      card.focus();
    }
    hadFocus.current = false;
  }, [id]);

  const decide = (approval: OpenApproval, reply: ApprovalReply): void => {
    keysFrom.current = Date.now() + SETTLING;
    hadFocus.current = part.current?.contains(document.activeElement) === true;
    actions.decide(approval, reply);
  };

  return (
    <section ref={part} class="approvals" aria-label={t.approvals}>
      <Announcement
        title={first === undefined ? "" : (first.request.preview.command?.slice(0, SPOKEN) ?? first.request.title)}
        waiting={waiting.length}
      />
      {first !== undefined && (
        <Approval
          key={first.id}
          approval={first}
          why={reasonOf(state, first)}
          waiting={waiting.length}
          settled={() => Date.now() > keysFrom.current}
          onDecide={decide}
        />
      )}
      <Elsewhere state={state} shown={shown} />
    </section>
  );
}

/** The same while another page than the chat is shown. */
export function WaitingQuestions({ state }: { state: State }) {
  return (
    <section class="approvals" aria-label={t.approvals} aria-live="polite">
      <Elsewhere state={state} shown={null} />
    </section>
  );
}

function Elsewhere({ state, shown }: { state: State; shown: string | null }) {
  const { actions } = useHands();
  return (
    <>
      {elsewhere(state, shown).map(({ chatId, count, title }) => (
        <p key={chatId} class="approval-elsewhere">
          <span>
            {t.questionsWait(count)} {t.in} <bdi>{title}</bdi>
          </span>
          <button type="button" class="link-button" onClick={() => void actions.openChat(chatId)}>
            {t.show}
          </button>
        </p>
      ))}
    </>
  );
}

/** So much of a command is read out; its title is the model's own word for it. */
const SPOKEN = 300;
/** For so long after a decision no key decides: it was meant for the card before. */
const SETTLING = 300;
/** So long after a card has taken the focus from a field no key decides: it was meant for the field. */
const NOTICING = 800;

function Announcement({ title, waiting }: { title: string; waiting: number }) {
  const [words, setWords] = useState("");
  useEffect(() => {
    setWords(title === "" ? "" : t.approvalNeeded(title, waiting));
  }, [title, waiting]);
  return (
    <div class="visually-hidden" aria-live="assertive">
      {words}
    </div>
  );
}

/** Why the server asks: what the rules said about the call. */
function reasonOf(state: State, { request }: OpenApproval): string {
  if (request.why !== undefined) return request.why;
  for (const entry of state.chat?.entries ?? []) {
    for (const item of entry.items) {
      if (item.kind === "call" && item.call.callId === request.callId) return item.call.decision?.rule ?? "";
    }
  }
  return "";
}

/** The other chats in which questions wait, each with their number. */
function elsewhere(state: State, shown: string | null): { chatId: string; count: number; title: string }[] {
  const others = new Map<string, number>();
  for (const { request } of state.approvals) {
    if (request.chatId !== shown) others.set(request.chatId, (others.get(request.chatId) ?? 0) + 1);
  }
  return [...others].map(([chatId, count]) => {
    if (chatId === state.chat?.chat.id) return { chatId, count, title: t.thisChat };
    const title = state.chats.chats.find((chat) => chat.id === chatId)?.title ?? "";
    return { chatId, count, title: title === "" ? t.anotherChat : `“${title}”` };
  });
}
