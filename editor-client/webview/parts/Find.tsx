import "../style/find.css";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useHands } from "../hands";
import type { ChatState, Entry, State } from "../state";
import { type Place, placesIn } from "../text/finding";
import { FIND_ID, focusComposer, focusFind } from "./focus";
import { Icon } from "./Icon";
import { Marker } from "./Marker";
import { scrollTo, unmark } from "./marks";
import { Elements, reveal } from "./unfold";
import { t } from "../language";

/** How long one looks through a chat without letting the page live. */
const SLICE_MS = 8;
/** News of a running turn are looked through so much later. */
const LATER_MS = 120;
/** How often it is tried to find what is unfolding. */
const TRIES = 30;

interface Props {
  state: State;
  log: RefObject<HTMLElement>;
  /** The log is to follow its end no more. */
  onLeave: () => void;
}

/** Finds in the log: Ctrl+F or Cmd+F opens it, wherever the focus is on the page. */
export function Find({ state, log, onLeave }: Props) {
  const { panel } = useHands();
  const { finding, chat } = state;
  const before = useRef<Element | null>(null);

  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const wanted = event.key.toLowerCase() === "f" && (event.ctrlKey || event.metaKey);
      if (!wanted || event.altKey || event.shiftKey) return;
      event.preventDefault();
      // At the window waits the workbench, which would find in an editor.
      event.stopPropagation();
      panel.dispatch({ kind: "finding", finding: true });
      focusFind();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [panel]);

  if (!finding || chat === null) return null;
  const close = (): void => {
    panel.dispatch({ kind: "finding", finding: false });
    const back = before.current;
    before.current = null;
    if (back instanceof HTMLElement && back.isConnected && back !== document.body) back.focus();
    else focusComposer();
  };
  return <Bar key={chat.chat.id} chat={chat} log={log} before={before} onLeave={onLeave} onClose={close} />;
}

interface BarProps {
  chat: ChatState;
  log: RefObject<HTMLElement>;
  before: { current: Element | null };
  onLeave: () => void;
  onClose: () => void;
}

function Bar({ chat, log, before, onLeave, onClose }: BarProps) {
  const { panel, actions } = useHands();
  const [needle, setNeedle] = useState(selectedText);
  const [reading, setReading] = useState(false);
  const found = usePlaces(chat, needle, reading);
  const { places, looked } = found;
  const [current, setCurrent] = useState<Place | null>(null);
  /** The search through older turns that is under way. */
  const search = useRef(0);
  const field = useRef<HTMLInputElement>(null);
  const index = current === null ? -1 : places.findIndex((place) => isSame(place, current));

  useLayoutEffect(() => {
    before.current = document.activeElement;
    focusFind();
    return () => {
      search.current += 1;
      unmark(log.current);
    };
  }, []);

  // Another text: from where the user reads on, else the newest place.
  useEffect(() => {
    if (looked === "" || index !== -1) return;
    const from = firstInSight(log.current, chat.entries);
    const order = new Map(chat.entries.map(({ id }, at) => [id, at]));
    setCurrent(places.find(({ entry }) => (order.get(entry) ?? 0) >= from) ?? places[places.length - 1] ?? null);
  }, [looked]);
  useMarks(log, found, current, index, onLeave);

  const go = (by: 1 | -1): void => {
    const next = index === -1 ? (by === 1 ? 0 : places.length - 1) : index + by;
    const around = by === 1 ? places[0] : places[places.length - 1];
    const place = places[next] ?? (chat.earlier && by === -1 ? undefined : around);
    // As a new value it is shown again, though it is where the user was.
    if (place !== undefined) setCurrent({ ...place });
    else if (chat.earlier) void goOlder();
  };

  /** Reads older turns until one of them has the text. */
  const goOlder = async (): Promise<void> => {
    search.current += 1;
    const mine = search.current;
    setReading(true);
    let first = firstOf(panel.state().chat);
    while (mine === search.current) {
      await actions.loadEarlier();
      const now = panel.state().chat;
      if (now === null || now.chat.id !== chat.chat.id || mine !== search.current) break;
      if (now.readingEarlier) {
        await pause();
        continue;
      }
      const older = now.entries.slice(
        0,
        Math.max(
          0,
          now.entries.findIndex(({ id }) => id === first),
        ),
      );
      const found = older.flatMap((entry) => placesIn(entry, needle, now.results));
      const last = found[found.length - 1];
      if (last !== undefined) setCurrent(last);
      if (last !== undefined || !now.earlier || older.length === 0) break;
      first = firstOf(now);
    }
    if (mine === search.current) setReading(false);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === "Escape") onClose();
    else if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const latest = useRef({ go, onClose });
  latest.current = { go, onClose };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const inLog = log.current?.contains(document.activeElement) === true;
      if (event.key === "F3") latest.current.go(event.shiftKey ? -1 : 1);
      else if (event.key === "Escape" && inLog && !event.defaultPrevented) latest.current.onClose();
      else return;
      event.preventDefault();
      event.stopPropagation();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);

  return (
    <div class="find" role="search" aria-label={t.findIn} onKeyDown={onKeyDown}>
      <input
        ref={field}
        id={FIND_ID}
        type="text"
        role="searchbox"
        class="find-field"
        dir="auto"
        aria-label={t.findIn}
        aria-keyshortcuts="F3"
        placeholder={t.findIn}
        value={needle}
        onInput={(event) => {
          search.current += 1;
          setReading(false);
          setNeedle(event.currentTarget.value);
        }}
      />
      <span class="find-count" role="status">
        {reading ? t.findingOlder : inWords(needle === looked ? places.length : null, index, needle, chat.earlier)}
      </span>
      <button
        type="button"
        class="icon-button"
        aria-label={t.findPrevious}
        title={t.findPrevious}
        onClick={() => go(-1)}
      >
        <Icon name="up" />
      </button>
      <button type="button" class="icon-button" aria-label={t.findNext} title={t.findNext} onClick={() => go(1)}>
        <Icon name="down" />
      </button>
      <button type="button" class="icon-button" aria-label={t.findClose} title={t.findClose} onClick={onClose}>
        <Icon name="close" />
      </button>
    </div>
  );
}

/** `3 of 17`; null while it is counted. */
function inWords(count: number | null, index: number, needle: string, earlier: boolean): string {
  if (needle.trim() === "" || count === null) return "";
  if (count === 0) return earlier ? t.foundNoneYet : t.foundNone;
  return index === -1 ? t.foundCount(count, earlier) : t.foundOf(index + 1, count, earlier);
}

const isSame = (one: Place, other: Place): boolean =>
  one.entry === other.entry && one.item === other.item && one.nth === other.nth;

const firstOf = (chat: ChatState | null): string | null => chat?.entries[0]?.id ?? null;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** What is selected, where it is a piece of a line. */
function selectedText(): string {
  const text = getSelection()?.toString().trim() ?? "";
  return text.includes("\n") || text.length > 200 ? "" : text;
}

/** The place in `entries` of the first one that is in sight. */
function firstInSight(log: HTMLElement | null, entries: readonly Entry[]): number {
  if (log === null) return 0;
  const top = log.getBoundingClientRect().top;
  const elements = new Elements(log);
  const seen = entries.findIndex(({ id }) => (elements.entry(id)?.getBoundingClientRect().bottom ?? 0) > top);
  return seen === -1 ? entries.length : seen;
}

interface Found {
  places: readonly Place[];
  /** The text that they have. */
  looked: string;
}

/** All places with the text in what is loaded; a long chat is looked through in slices, and not while it is read. */
function usePlaces(chat: ChatState, needle: string, paused: boolean): Found {
  const [found, setFound] = useState<Found>({ places: [], looked: "" });
  const { entries, results, running } = chat;
  useEffect(() => {
    if (paused) return;
    let gone = false;
    const look = async (): Promise<void> => {
      const places: Place[] = [];
      let since = performance.now();
      for (const entry of entries) {
        places.push(...placesIn(entry, needle, results));
        if (performance.now() - since < SLICE_MS) continue;
        await pause();
        if (gone) return;
        since = performance.now();
      }
      setFound({ places, looked: needle });
    };
    const timer = setTimeout(() => void look(), running !== null && found.looked === needle ? LATER_MS : 0);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [entries, results, needle, paused]);
  return found;
}

/** Marks the places, and brings the one at hand into sight, unfolding what hides it. */
function useMarks(
  log: RefObject<HTMLElement>,
  { places, looked }: Found,
  current: Place | null,
  index: number,
  onLeave: () => void,
): void {
  const marker = useRef<Marker | null>(null);
  const draw = useRef<() => Range | Element | null>(() => null);
  draw.current = () => {
    if (log.current === null) return null;
    marker.current ??= new Marker(log.current, looked, places);
    return marker.current.draw(current, index);
  };

  useEffect(() => {
    marker.current = null;
    draw.current();
  }, [places]);

  // What somebody unfolds is marked, too.
  useEffect(() => {
    const box = log.current;
    if (box === null) return;
    let frame = 0;
    const redraw = (): void => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => {
        marker.current = null;
        draw.current();
      });
    };
    box.addEventListener("toggle", redraw, true);
    return () => {
      cancelAnimationFrame(frame);
      box.removeEventListener("toggle", redraw, true);
    };
  }, []);

  useEffect(() => {
    if (current === null) {
      draw.current();
      return;
    }
    let tries = 0;
    let frame = 0;
    let top: number | null = null;
    const show = (): void => {
      if (log.current !== null) reveal(log.current, current);
      let place = draw.current();
      if (place === null) {
        // The log has changed since it was looked at.
        marker.current = null;
        place = draw.current();
      }
      // Each time: the log may have come to its end meanwhile, and would follow it.
      onLeave();
      if (place !== null) scrollTo(place);
      tries += 1;
      // What was unfolded, or never laid out, is where it belongs some frames later.
      const now = place?.getBoundingClientRect().top ?? null;
      const settled = place instanceof Range && tries > 2 && now === top;
      top = now;
      if (!settled && tries < TRIES) frame = requestAnimationFrame(show);
    };
    show();
    return () => cancelAnimationFrame(frame);
  }, [current]);
}
