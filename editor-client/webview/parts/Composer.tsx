import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import "../style/composer.css";
import { useHands } from "../hands";
import type { State } from "../state";
import type { Typed } from "../text/mention";
import { picturesIn } from "../text/pictures";
import { unseen } from "../text/seeing";
import { Attachments, attachPictures, DropArea } from "./Attachments";
import { EarlierFiles } from "./EarlierFiles";
import { focusComposer, MESSAGE_ID } from "./focus";
import { Icon } from "./Icon";
import { LookingAt } from "./LookingAt";
import { activeChoice, Mentions, useCompletion } from "./Mentions";
import { Menu } from "./Menu";
import { replaceText } from "./replace";
import { questionsOf, walk } from "../text/recall";
import { t } from "../language";

/** How long a first Escape waits for the second one. */
const TWICE = 2000;
/** As much of the text as decides about the field's height; more than this fills it anyway. */
const MEASURED = 6000;

/** Where the user writes: the message field with completion, attachments, and the buttons to send and to stop. */
export function Composer({ state }: { state: State }) {
  const { panel, actions } = useHands();
  const { text, attachments, editing, sending } = state.composer;
  const field = useRef<HTMLTextAreaElement>(null);
  const caret = useRef<number | null>(null);
  /** Which of the chat's questions was brought back by the arrows last. */
  const recalled = useRef<number | null>(null);
  const [note, setNote] = useState("");
  const [stopping, setStopping] = useState(false);

  const chat = state.chat;
  const running = chat !== null && chat.running !== null;
  const stoppable = running || sending !== null || chat?.compacting === true;
  const blank = text.trim() === "";
  const blind = unseen(state);

  const write = useCallback(
    (typed: Typed): void => {
      if (field.current !== null && replaceText(field.current, typed)) return;
      caret.current = typed.caret;
      panel.dispatch({ kind: "composer", composer: { text: typed.text } });
    },
    [panel],
  );
  const completion = useCompletion(field, write);

  useLayoutEffect(() => {
    if (caret.current === null || field.current?.value !== text) return;
    field.current.setSelectionRange(caret.current, caret.current);
    caret.current = null;
  });
  useEffect(() => {
    if (!stopping) return;
    const timer = setTimeout(() => setStopping(false), TWICE);
    return () => clearTimeout(timer);
  }, [stopping]);
  useEffect(() => {
    if (!stoppable) setStopping(false);
  }, [stoppable]);
  useEffect(() => {
    if (editing !== null) focusComposer();
  }, [editing]);
  useEffect(() => setNote(""), [state.server.phase, state.opening, chat?.chat.id]);

  const send = (): void => {
    if (sending !== null) return;
    if (blank) {
      if (attachments.length > 0) setNote(t.sayWhat);
      return;
    }
    if (state.server.phase !== "ready") {
      setNote(t.notReadyYet);
      return;
    }
    if (state.opening !== null) {
      setNote(t.chatBeingRead);
      return;
    }
    setNote("");
    completion.close();
    void actions.send();
  };

  /** Read older turns, and bring back what was asked before the oldest question, unless something else was typed. */
  const older = async (from: string): Promise<void> => {
    await actions.loadEarlier();
    const { chat: now, composer } = panel.state();
    const asked = now === null ? [] : questionsOf(now);
    const place = asked.length - 1 - (chat === null ? 0 : questionsOf(chat).length - 1);
    const question = asked[place - 1];
    if (question === undefined || composer.text !== from) return;
    recalled.current = place - 1;
    write({ text: question, caret: question.length });
  };

  const stop = (): void => {
    setStopping(false);
    void actions.stop();
    focusComposer();
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (completion.onKey(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.key !== "Escape") setStopping(false);
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      if (!event.repeat) send();
    } else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !event.shiftKey) {
      const asked = chat === null ? [] : questionsOf(chat);
      const found = walk(asked, recalled.current, text, { up: event.key === "ArrowUp", caret: caretOf(field.current) });
      if (found === null) {
        const [oldest] = asked;
        if (event.key === "ArrowUp" && recalled.current === 0 && text === oldest && chat?.earlier === true)
          void older(text);
        return;
      }
      event.preventDefault();
      recalled.current = found;
      const question = asked[found] ?? "";
      write({ text: question, caret: question.length });
    } else if (event.key === "Escape" && stoppable && !event.repeat) {
      event.preventDefault();
      if (stopping) stop();
      else setStopping(true);
    }
  };

  return (
    <section class="composer" aria-label={t.write}>
      <DropArea say={setNote} />
      {editing !== null && (
        <div class="composer-editing">
          <span id="composer-editing">{t.editingEarlier}</span>
          <button
            type="button"
            class="link-button"
            onClick={() => {
              actions.cancelEdit();
              focusComposer();
            }}
          >
            {t.cancel}
          </button>
        </div>
      )}
      {editing !== null && <EarlierFiles key={editing.turnId} editing={editing} />}
      <div class="composer-box" data-editing={editing !== null}>
        <Mentions completion={completion} />
        <LookingAt state={state} />
        <Attachments attachments={attachments} unseen={blind} />
        <div class="composer-field" data-text={`${text.slice(0, MEASURED)} `}>
          <textarea
            ref={field}
            id={MESSAGE_ID}
            dir="auto"
            rows={1}
            aria-label={t.message}
            aria-describedby={editing !== null ? "composer-editing" : undefined}
            aria-autocomplete="list"
            aria-haspopup="listbox"
            aria-controls={completion.items.length > 0 ? completion.id : undefined}
            aria-activedescendant={activeChoice(completion)}
            placeholder={placeholder(state)}
            spellcheck
            value={text}
            onInput={(event) => {
              panel.dispatch({ kind: "composer", composer: { text: event.currentTarget.value } });
              completion.follow(true);
            }}
            onKeyDown={onKeyDown}
            onPaste={(event) => {
              const pictures = event.clipboardData === null ? [] : picturesIn(event.clipboardData);
              // What comes from a document of an office program has both: its text is meant.
              if (pictures.length === 0 || event.clipboardData?.getData("text/plain") !== "") return;
              event.preventDefault();
              void attachPictures(panel, pictures, setNote);
            }}
            onKeyUp={() => completion.follow(false)}
            onClick={() => completion.follow(false)}
            onBlur={() => completion.close()}
          />
        </div>
        <div class="composer-buttons">
          <Menu
            label={t.addContext}
            hint={t.orDrag}
            items={[
              { title: t.addFiles, run: () => panel.tell({ kind: "pickFiles" }) },
              { title: t.addSelection, run: () => panel.tell({ kind: "addSelection" }) },
            ]}
          >
            <Icon name="add" />
          </Menu>
          <span class="composer-state" role="status">
            {stopping ? t.escapeAgain : note !== "" ? note : standing(state, blind)}
          </span>
          {stoppable && (
            <button type="button" class="composer-stop" title={stopTitle(running, sending)} onClick={stop}>
              <Icon name="stop" />
              {t.stop}
            </button>
          )}
          <button
            type="button"
            class="composer-send"
            aria-disabled={blank || sending !== null}
            title={running ? t.sayToTurn : t.sendKey}
            onClick={send}
          >
            <Icon name="send" />
            {t.send}
          </button>
        </div>
      </div>
    </section>
  );
}

const caretOf = (field: HTMLTextAreaElement | null): number => field?.selectionStart ?? 0;

const stopTitle = (running: boolean, sending: number | null): string =>
  running || sending !== null ? t.stopTurn : t.stopCompaction;

/** What holds for the message as it is. */
const standing = ({ composer }: State, blind: string | null): string =>
  composer.sending !== null ? t.sending : (blind ?? "");

function placeholder(state: State): string {
  if (state.composer.editing !== null) return t.writeAnew;
  if (state.chat !== null && state.chat.running !== null) return t.enterSteers;
  return t.askOrTell;
}
