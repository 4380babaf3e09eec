import { useEffect, useRef, useState } from "preact/hooks";
import "../style/chats.css";
import { useHands } from "../hands";
import type { State } from "../state";
import { ChatRow } from "./ChatRow";
import { focusComposer } from "./focus";
import { Icon } from "./Icon";
import { t } from "../language";

const PAUSE = 200;

/** All chats, newest first: to find, open, rename, delete and export them. */
export function ChatsPage({ state }: { state: State }) {
  const { panel, actions } = useHands();
  const { chats, query, nextCursor, loading } = state.chats;
  const [typed, setTyped] = useState(query);
  const [active, setActive] = useState<string | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const asked = useRef<string | null>(null);
  const ready = state.server.phase === "ready";

  useEffect(() => search.current?.focus(), []);
  useEffect(() => {
    if (!ready) return;
    const ask = (): void => {
      asked.current = typed;
      void actions.listChats(typed, false);
    };
    if (asked.current === null) {
      ask();
      return;
    }
    if (asked.current === typed) return;
    const timer = setTimeout(ask, PAUSE);
    return () => clearTimeout(timer);
  }, [typed, ready, actions]);

  const found = chats.findIndex((chat) => chat.id === active);
  const at = found < 0 ? 0 : found;

  const focusRow = (index: number): void => {
    const chat = chats[index];
    if (chat === undefined) {
      search.current?.focus();
      return;
    }
    setActive(chat.id);
    const row = list.current?.querySelectorAll(".chat-open").item(index);
    if (row instanceof HTMLElement) row.focus();
  };

  const toChat = (): void => {
    panel.dispatch({ kind: "page", page: "chat" });
    focusComposer();
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    const inSearch = event.target === search.current;
    if (event.key === "Escape") {
      if (inSearch && typed !== "") setTyped("");
      else toChat();
    } else if (event.key === "ArrowDown" && inSearch) focusRow(0);
    else if (inSearch || !(event.target instanceof Element && event.target.matches(".chat-open"))) return;
    else if (event.key === "ArrowDown") focusRow(Math.min(at + 1, chats.length - 1));
    else if (event.key === "ArrowUp") focusRow(at - 1);
    else if (event.key === "Home") focusRow(0);
    else if (event.key === "End") focusRow(chats.length - 1);
    else return;
    event.preventDefault();
  };

  return (
    <section class="chats" aria-label={t.chats} onKeyDown={onKeyDown}>
      <div class="chats-head">
        <button type="button" class="icon-button" aria-label={t.backToChat} title={t.backKey} onClick={toChat}>
          <Icon name="back" />
        </button>
        <input
          ref={search}
          type="search"
          class="chats-search"
          dir="auto"
          aria-label={t.searchChats}
          placeholder={t.searchChats}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button
          type="button"
          class="icon-button"
          aria-label={t.newChat}
          title={t.newChat}
          onClick={() => void actions.openChat(null).then(focusComposer)}
        >
          <Icon name="add" />
        </button>
      </div>
      <div class="chats-scroll">
        {chats.length > 0 && (
          <ul ref={list} class="chat-rows" aria-busy={loading}>
            {chats.map((chat, index) => (
              <ChatRow
                key={chat.id}
                chat={chat}
                current={chat.id === state.chat?.chat.id}
                active={index === at}
                onFocus={() => setActive(chat.id)}
                onGone={() => focusRow(chats.length - 1 > index ? index + 1 : index - 1)}
              />
            ))}
          </ul>
        )}
        <div role="status" class="chats-state">
          <Words state={state} onAgain={() => void actions.listChats(typed, false)} />
        </div>
        {nextCursor !== null && (
          <button
            type="button"
            class="chats-more"
            aria-disabled={loading}
            onClick={() => {
              if (!loading) void actions.listChats(query, true);
            }}
          >
            {t.more}
          </button>
        )}
      </div>
    </section>
  );
}

/** What there is to say about the list as a whole. */
function Words({ state, onAgain }: { state: State; onAgain: () => void }) {
  const { chats, query, loading } = state.chats;
  if (loading) return <p>{t.searching}</p>;
  if (chats.length > 0) return <span class="visually-hidden">{t.chatsShown(chats.length)}</span>;
  if (state.server.phase !== "ready") return <p>{t.chatsLater}</p>;
  if (state.problem !== null) {
    return (
      <>
        <p>{t.chatsUnread(state.problem.message)}</p>
        <button type="button" class="link-button" onClick={onAgain}>
          {t.tryAgain}
        </button>
      </>
    );
  }
  return query === "" ? <p>{t.noChats}</p> : <p>{t.noChatHas(query)}</p>;
}
