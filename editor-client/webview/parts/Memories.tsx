import { useEffect, useRef, useState } from "preact/hooks";
import type { Memory } from "../../src/protocol/types";
import { useHands } from "../hands";
import type { State } from "../state";
import { ago } from "../text/ago";
import { Visible } from "./Visible";
import { t } from "../language";

/** Milliseconds without a key after which is searched. */
const PAUSE = 200;

/** What is remembered beyond a chat: searched, mended, forgotten, each with where it belongs and since when. */
export function Memories({ state }: { state: State }) {
  const { actions } = useHands();
  const [listed, setListed] = useState<readonly Memory[] | null>(null);
  const [cursor, setCursor] = useState<string | undefined>(undefined);
  const [query, setQuery] = useState("");
  const newest = useRef(0);
  const ready = state.server.phase === "ready";
  const running = state.chat?.running ?? null;
  const chatId = state.chat?.chat.id ?? null;

  const read = async (words: string, from?: string): Promise<void> => {
    const asked = ++newest.current;
    const found = await actions.listMemories(words.trim(), chatId, from);
    if (found === null || asked !== newest.current) return;
    setListed((before) => (from === undefined || before === null ? found.memories : [...before, ...found.memories]));
    setCursor(found.nextCursor);
  };
  useEffect(() => {
    if (!ready) return;
    const timer = setTimeout(() => void read(query), query === "" ? 0 : PAUSE);
    return () => clearTimeout(timer);
    // A turn may have kept something.
  }, [ready, state.server.session, running, chatId, query, actions]);

  const changed = (after: Memory | null, id: string): void => {
    setListed((before) =>
      (before ?? []).flatMap((one) => (one.id === id ? (after === null ? [] : [{ ...one, ...after }]) : [one])),
    );
  };

  if (listed === null || (listed.length === 0 && query === "")) return null;
  return (
    <section aria-label={t.memories}>
      <h2>{t.memories}</h2>
      <p class="hint">{t.memoriesHint}</p>
      <input
        type="search"
        class="memory-search"
        aria-label={t.searchMemories}
        placeholder={t.searchMemories}
        value={query}
        onInput={(event) => setQuery(event.currentTarget.value)}
      />
      {listed.length === 0 && <p role="status">{t.noMemoryFound}</p>}
      <ul class="permissions-list">
        {listed.map((one) => (
          <Entry key={one.id} memory={one} onChanged={(after) => changed(after, one.id)} />
        ))}
      </ul>
      {cursor !== undefined && (
        <button type="button" class="link-button" onClick={() => void read(query, cursor)}>
          {t.moreMemories}
        </button>
      )}
    </section>
  );
}

function Entry({ memory, onChanged }: { memory: Memory; onChanged: (after: Memory | null) => void }) {
  const { actions } = useHands();
  const [text, setText] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  const save = async (): Promise<void> => {
    if (text === null || text.trim() === "") return;
    setBusy(true);
    const after = await actions.updateMemory(memory.id, text);
    setBusy(false);
    if (after === null) return;
    setText(null);
    onChanged(after);
  };
  const forget = async (): Promise<void> => {
    setBusy(true);
    if (await actions.forgetMemory(memory.id)) onChanged(null);
    else setBusy(false);
  };
  const since = new Date(memory.createdAt * 1000);
  return (
    <li>
      <div class="permissions-what">
        {text === null ? (
          <span dir="auto">
            <Visible text={memory.text} />
          </span>
        ) : (
          <textarea
            class="memory-text"
            aria-label={t.memoryText}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
        <span class="hint">
          {t.memoryScopes[memory.scope]} · {memory.category} ·{" "}
          <time dateTime={since.toISOString()} title={since.toLocaleString(t.locale)}>
            {ago(memory.createdAt, Date.now() / 1000)}
          </time>{" "}
          · {t.memoryUses(memory.uses)}
        </span>
      </div>
      {text === null ? (
        <>
          <button
            type="button"
            class="approval-option"
            aria-label={t.editOf(memory.text)}
            disabled={busy}
            onClick={() => setText(memory.text)}
          >
            {t.editIt}
          </button>
          <button
            type="button"
            class="approval-option"
            aria-label={t.forgetOf(memory.text)}
            disabled={busy}
            onClick={() => void forget()}
          >
            {t.forget}
          </button>
        </>
      ) : (
        <>
          <button
            type="button"
            class="approval-option"
            disabled={busy || text.trim() === ""}
            onClick={() => void save()}
          >
            {t.save}
          </button>
          <button type="button" class="approval-option" disabled={busy} onClick={() => setText(null)}>
            {t.discard}
          </button>
        </>
      )}
    </li>
  );
}
