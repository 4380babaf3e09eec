import "../style/log.css";
import type { TargetedMouseEvent } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useHands } from "../hands";
import { contextOf, pointedAt } from "../pointing";
import type { ChatState, Pending, State } from "../state";
import { Find } from "./Find";
import { Items } from "./Items";
import { Question } from "./Question";
import { Turn } from "./Turn";
import { t } from "../language";

/** How near to the end one is still at the end. */
const AT_END = 24;
/** How near to the top older turns are read. */
const NEAR_TOP = 300;

/** The turns of a chat. It follows the end as long as the user is there, and never moves what they read. */
export function Log({ state }: { state: State }) {
  const { panel, actions } = useHands();
  const { chat, composer } = state;
  const box = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [away, setAway] = useState(false);
  const chatId = chat?.chat.id ?? null;
  const first = chat?.entries[0]?.id ?? null;
  const before = useRef<{ chatId: string | null; first: string | null; height: number }>({
    chatId: null,
    first: null,
    height: 0,
  });

  const toEnd = useCallback(() => {
    following.current = true;
    setAway(false);
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, []);

  /** The user is to see something else than the end. */
  const leave = useCallback(() => {
    following.current = false;
    requestAnimationFrame(() => setAway(isAway(box.current)));
  }, []);

  /** The editor shows its own menu, by what stands there in the page. */
  const opensMenu = (event: TargetedMouseEvent<HTMLElement>): void => {
    if (chat === null || !(event.target instanceof Element)) return;
    const pointed = pointedAt(event.target, chat, crypto.randomUUID());
    event.currentTarget.dataset["vscodeContext"] = contextOf(pointed);
    panel.dispatch({ kind: "pointed", pointed });
  };

  const scrolled = (): void => {
    const node = box.current;
    if (node === null) return;
    following.current = !isAway(node);
    setAway(!following.current);
    if (node.scrollTop < NEAR_TOP && chat?.earlier === true) void actions.loadEarlier();
  };

  useLayoutEffect(() => {
    const node = box.current;
    if (node === null) return;
    const was = before.current;
    const opened = was.chatId !== chatId;
    if (opened) following.current = true;
    if (following.current) node.scrollTop = node.scrollHeight;
    else if (was.first !== first) node.scrollTop += node.scrollHeight - was.height;
    before.current = { chatId, first, height: node.scrollHeight };
  }, [state.chat, composer.pending]);

  // What is unfolded, or the panel's own size, moves the end, too.
  useEffect(() => {
    const node = box.current;
    if (node === null || typeof ResizeObserver === "undefined") return;
    const observer = new ResizeObserver(() => {
      if (following.current) node.scrollTop = node.scrollHeight;
      else setAway(isAway(node));
    });
    observer.observe(node);
    for (const child of node.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);

  // A message of one's own is always followed.
  useEffect(() => {
    if (composer.pending !== null) toEnd();
  }, [composer.pending]);

  const pending = composer.pending !== null && (composer.pending.chatId ?? null) === chatId ? composer.pending : null;
  return (
    <div class="log-frame">
      <Find state={state} log={box} onLeave={leave} />
      <div
        ref={box}
        class="log"
        role="log"
        data-away={away}
        aria-label={t.chat}
        aria-live="off"
        tabIndex={0}
        onScroll={scrolled}
        onContextMenu={opensMenu}
      >
        <div class="turns">
          {chat?.earlier === true && <Earlier reading={chat.readingEarlier} />}
          {chat !== null && <Entries chat={chat} accepted={state.accepted} />}
          {pending !== null && <PendingTurn pending={pending} />}
          {chat === null && pending === null && <p class="notice">{t.readingChat}</p>}
        </div>
      </div>
      <Announcer chat={chat} />
      {away && (
        <button type="button" class="to-end" onClick={toEnd}>
          {chat !== null && chat.running !== null ? t.toNew : t.toEnd}
        </button>
      )}
    </div>
  );
}

const isAway = (node: HTMLElement | null): boolean =>
  node !== null && node.scrollHeight - node.scrollTop - node.clientHeight > AT_END;

function Entries({ chat, accepted }: { chat: ChatState; accepted: ReadonlySet<string> }) {
  const chatId = chat.chat.id;
  const last = chat.entries.findLast(({ kind }) => kind === "turn");
  return (
    <>
      {chat.entries.map((entry) =>
        entry.kind === "turn" ? (
          <Turn
            key={entry.id}
            chatId={chatId}
            turn={entry}
            running={chat.running === entry.id && entry.result === null}
            accepted={accepted.has(`${chatId}/${entry.id}`)}
            planned={chat.chat.mode === "plan" && entry === last}
            results={chat.results}
          />
        ) : (
          <div key={entry.id} class="between" data-entry={entry.id}>
            <Items items={entry.items} results={chat.results} running={false} open={false} />
          </div>
        ),
      )}
    </>
  );
}

function Earlier({ reading }: { reading: boolean }) {
  const { actions } = useHands();
  return (
    <p class="earlier">
      <button type="button" class="link-button" disabled={reading} onClick={() => void actions.loadEarlier()}>
        {reading ? t.readingEarlier : t.showEarlier}
      </button>
    </p>
  );
}

function PendingTurn({ pending }: { pending: Pending }) {
  return (
    <article class="turn" data-state="pending" aria-busy="true">
      <Question text={pending.text} mentions={[]} onEdit={null} />
      <p class="working">
        <span class="spinner" aria-hidden="true" />
        <span>{t.sending}</span>
      </p>
    </article>
  );
}

/** Tells assistive technology what becomes of a turn, and not every word of it as it comes. */
function Announcer({ chat }: { chat: ChatState | null }) {
  const last = chat?.entries[chat.entries.length - 1];
  let words = "";
  if (chat !== null && chat.running !== null) words = t.isWorking;
  else if (last?.kind === "turn" && last.result !== null) words = t.turnEnded(last.result.answer);
  return (
    <p class="visually-hidden" aria-live="polite">
      {words.slice(0, 1000)}
    </p>
  );
}
