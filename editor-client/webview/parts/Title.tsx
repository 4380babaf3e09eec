import "../style/title.css";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Chat } from "../../src/protocol/types";
import { useHands } from "../hands";
import { Rename } from "./Rename";
import { Visible } from "./Visible";
import { t } from "../language";

/** The title of the chat at hand, changed in place: by a click, or by F2 from anywhere on the page. */
export function Title({ chat }: { chat: Chat | null }) {
  const { actions } = useHands();
  const [naming, setNaming] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const back = useRef<Element | null>(null);
  const chatId = chat?.id ?? null;

  useEffect(() => setNaming(false), [chatId]);
  useEffect(() => {
    if (chatId === null) return;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== "F2" || event.defaultPrevented || event.isComposing) return;
      event.preventDefault();
      back.current = document.activeElement;
      setNaming(true);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [chatId]);
  useEffect(() => {
    if (naming || back.current === null) return;
    const before = back.current;
    back.current = null;
    if (before instanceof HTMLElement && before.isConnected && before !== document.body) before.focus();
    else button.current?.focus();
  }, [naming]);

  if (chat === null) return <div class="title-bar" />;
  const title = chat.title === "" ? t.newChat : chat.title;
  return (
    <header class="title-bar">
      {naming ? (
        <Rename
          title={chat.title}
          onDone={(wanted, refocus) => {
            if (!refocus) back.current = null;
            setNaming(false);
            if (wanted !== null) void actions.rename(chat.id, wanted);
          }}
        />
      ) : (
        <h1 class="title">
          <button
            ref={button}
            type="button"
            class="title-button"
            title={`${title}\n${t.renameKey}`}
            aria-keyshortcuts="F2"
            onClick={(event) => {
              back.current = event.currentTarget;
              setNaming(true);
            }}
          >
            <Visible text={title} />
          </button>
        </h1>
      )}
    </header>
  );
}
