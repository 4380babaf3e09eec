import { useEffect, useRef, useState } from "preact/hooks";
import type { Chat } from "../../src/protocol/types";
import { useHands } from "../hands";
import { ago } from "../text/ago";
import { focusComposer } from "./focus";
import { Icon } from "./Icon";
import { Menu } from "./Menu";
import { Rename } from "./Rename";
import { t } from "../language";

interface Props {
  chat: Chat;
  /** It is the one that the panel shows. */
  current: boolean;
  /** It is the one that Tab leads to. */
  active: boolean;
  onFocus: () => void;
  /** It is about to be deleted: the focus has to go elsewhere. */
  onGone: () => void;
}

/** One chat of the list. */
export function ChatRow({ chat, current, active, onFocus, onGone }: Props) {
  const { panel, actions } = useHands();
  const [doing, setDoing] = useState<"rename" | "delete" | null>(null);
  const open = useRef<HTMLButtonElement>(null);
  const back = useRef(false);
  const title = chat.title === "" ? t.newChat : chat.title;
  const tabIndex = active ? 0 : -1;

  useEffect(() => {
    if (doing !== null || !back.current) return;
    back.current = false;
    open.current?.focus();
  }, [doing]);
  const done = (refocus: boolean): void => {
    back.current = refocus;
    setDoing(null);
  };

  return (
    <li class="chat-row" data-chat-id={chat.id} data-current={current} onFocusIn={onFocus}>
      {doing === "rename" ? (
        <Rename
          title={chat.title}
          onDone={(renamed, refocus) => {
            done(refocus);
            if (renamed !== null) void actions.rename(chat.id, renamed);
          }}
        />
      ) : (
        <button
          ref={open}
          type="button"
          class="chat-open"
          aria-current={current ? "true" : undefined}
          aria-keyshortcuts="F2 Delete"
          tabIndex={tabIndex}
          onClick={() => void actions.openChat(chat.id).then(focusComposer)}
          onKeyDown={(event) => {
            if (event.key === "F2") setDoing("rename");
            else if (event.key === "Delete") setDoing("delete");
            else return;
            event.preventDefault();
          }}
        >
          <bdi class="chat-title">{title}</bdi>
          <span class="chat-about">
            {chat.running !== null && (
              <span class="chat-running">
                <span class="spinner" aria-hidden="true" /> {t.runningNow}{" "}
              </span>
            )}
            <time dateTime={new Date(chat.updatedAt * 1000).toISOString()}>
              {ago(chat.updatedAt, Date.now() / 1000)}
            </time>
            {` · ${t.turnsAndMode(chat.turns, chat.mode)}`}
            {current && <span> · {t.shown}</span>}
          </span>
        </button>
      )}
      {doing === null && (
        <div class="chat-buttons">
          <button
            type="button"
            class="icon-button"
            aria-label={t.rename}
            title={t.renameKey}
            tabIndex={tabIndex}
            onClick={() => setDoing("rename")}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label={t.openInEditor}
            title={t.openInEditor}
            tabIndex={tabIndex}
            onClick={() => panel.tell({ kind: "openTab", chatId: chat.id })}
          >
            <Icon name="editor" />
          </button>
          <Menu
            label={t.exportIt}
            tabIndex={tabIndex}
            items={[
              { title: "Markdown", run: () => actions.exportChat(chat, "markdown") },
              { title: "JSON", run: () => actions.exportChat(chat, "json") },
            ]}
          >
            <Icon name="export" />
          </Menu>
          <button
            type="button"
            class="icon-button"
            aria-label={t.deleteIt}
            title={t.deleteKey}
            tabIndex={tabIndex}
            onClick={() => setDoing("delete")}
          >
            <Icon name="delete" />
          </button>
        </div>
      )}
      {doing === "delete" && (
        <Confirm
          title={title}
          onKeep={() => done(true)}
          onDelete={() => {
            done(false);
            onGone();
            void actions.remove(chat.id);
          }}
        />
      )}
    </li>
  );
}

function Confirm({ title, onKeep, onDelete }: { title: string; onKeep: () => void; onDelete: () => void }) {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => keep.current?.focus(), []);
  return (
    <div
      class="chat-confirm"
      role="group"
      aria-label={t.deleteOf(title)}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        onKeep();
      }}
    >
      <span>{t.deleteForGood}</span>
      <button type="button" class="danger" onClick={onDelete}>
        {t.deleteChat}
      </button>
      <button ref={keep} type="button" onClick={onKeep}>
        {t.keep}
      </button>
    </div>
  );
}
