// Takes events into a chat. What changes is copied once for a batch, all else stays the same object, so that the panel
// renders again only what changed.
import type { ChatEvent, HookRun, NoticeGiven, Steer, ToolCall, ToolOutput } from "../src/protocol/types";
import type { Answer, Call, ChatState, Compaction, Entry, Item, Thought, Turn } from "./state";
import { grown } from "./text/live";
import { againInWords } from "./text/words";

/** A batch under way: `fresh` are the objects made in it, which may be written to. */
interface Draft {
  chat: ChatState;
  fresh: WeakSet<object>;
}

/** The chat with these events taken in; those it has already are dropped, and so are those behind a gap when `whole`. */
export function fold(chat: ChatState, events: readonly ChatEvent[], whole: boolean): ChatState {
  const draft: Draft = { chat, fresh: new WeakSet() };
  for (const event of events) {
    const seen = draft.chat.lastSeq;
    if (event.event.kind === "tool_output") {
      // It has no number of its own: it belongs behind the event whose number it carries.
      if (event.seq === seen) output(draft, event.turnId, event.event);
      continue;
    }
    if (event.seq <= seen || (whole && event.seq > seen + 1)) continue;
    own(draft);
    draft.chat.lastSeq = event.seq;
    take(draft, event);
  }
  if (draft.chat !== chat) draft.chat.compacting = openCompaction(draft.chat.entries) !== null;
  return draft.chat;
}

/** Is there an event that `fold` could not take because one before it is missing? */
export function leavesGap(chat: ChatState, events: readonly ChatEvent[]): boolean {
  return events.some((event) => event.chatId === chat.chat.id && event.seq > chat.lastSeq);
}

/**
 * The turn that must be read anew, because these events do not tell what is new in them: when a turn ends, its deltas
 * are merged under the last one's number, together with those that are here already.
 */
export function unsure(chat: ChatState, events: readonly ChatEvent[]): Turn | null {
  const next = events.find(({ seq }) => seq > chat.lastSeq);
  const turn = chat.entries.find((entry) => entry.kind === "turn" && entry.id === next?.turnId);
  const last = turn?.items[turn.items.length - 1];
  if (next === undefined || turn?.kind !== "turn" || last === undefined || !isDelta(last)) return null;
  if (next.event.kind !== last.kind || next.event.step !== last.step) return null;
  return events.some(({ turnId, event }) => turnId === turn.id && event.kind === "turn_ended") ? turn : null;
}

function take(draft: Draft, { event, turnId, seq, at }: ChatEvent): void {
  switch (event.kind) {
    case "turn_started": {
      const turn = start(draft, turnId);
      const sent = event.images === undefined ? {} : { images: event.images };
      Object.assign(turn, { text: event.text, mentions: event.mentions, at, ...sent });
      draft.chat.running = turnId;
      // What waited is this turn's text now.
      for (const id of event.steers ?? []) dropSteer(draft, `steer-${id}`);
      return;
    }
    case "thought":
    case "answer": {
      answered(draft, turnId);
      const { kind, step, delta: text } = event;
      const told = kind === "thought" && event.progress === true;
      grow(draft, turnId, seq, { kind, id: "", step, at, text, ...(told ? { progress: true as const } : {}) });
      return;
    }
    case "steer":
      steer(draft, turnId, seq, at, event);
      return;
    case "tool_call":
      answered(draft, turnId);
      upsert(draft, turnId, seq, event, at);
      return;
    case "todo":
      draft.chat.todo = event.items;
      return;
    case "usage":
      if (event.parent === undefined) {
        answered(draft, turnId);
        draft.chat.usage = event;
      } else spend(draft, turnId, event.parent, event.totalTokens);
      return;
    case "compaction":
      compact(draft, turnId, seq, { phase: event.phase, report: event.report ?? null, at });
      return;
    case "retry": {
      const items = itemsFor(draft, turnId, seq);
      if (items === null) return;
      const kept = items.filter((item) => !isDelta(item) || item.step !== event.step);
      const { inSeconds, attempt, reason } = event;
      const notice: Item = {
        kind: "notice",
        id: `retry-${event.step}`,
        step: event.step,
        at,
        level: "info",
        code: "retry",
        message: againInWords(inSeconds, attempt, reason),
        retry: { until: at + inSeconds, attempt, reason },
      };
      replaceItems(items, [...kept.filter((item) => item.id !== notice.id), notice]);
      return;
    }
    case "hook":
      hook(draft, turnId, seq, at, event);
      return;
    case "notice":
      notice(draft, turnId, seq, at, event);
      return;
    case "turn_ended": {
      const turn = turnFor(draft, turnId);
      if (turn !== null) {
        answered(draft, turnId);
        turn.result = event.result;
        turn.endedAt = at;
        turn.interrupted = false;
      }
      if (draft.chat.running === turnId) draft.chat.running = null;
      return;
    }
    default:
      return; // of a newer server
  }
}

function isDelta(item: Item): item is Thought | Answer {
  return item.kind === "thought" || item.kind === "answer";
}

// ----------------------------------------------------------------------------------------------- what a batch may write

function own(draft: Draft): void {
  if (draft.fresh.has(draft.chat)) return;
  draft.chat = { ...draft.chat };
  draft.fresh.add(draft.chat);
}

function ownEntries(draft: Draft): Entry[] {
  if (!draft.fresh.has(draft.chat.entries)) {
    draft.chat.entries = [...draft.chat.entries];
    draft.fresh.add(draft.chat.entries);
  }
  return draft.chat.entries;
}

/** The entry at this place as an object that may be written to, its items too. */
function ownEntry<T extends Entry>(draft: Draft, place: number, entry: T): T {
  if (draft.fresh.has(entry)) return entry;
  const copy = { ...entry, items: [...entry.items] };
  draft.fresh.add(copy);
  ownEntries(draft)[place] = copy;
  return copy;
}

function append<T extends Entry>(draft: Draft, entry: T): T {
  draft.fresh.add(entry);
  ownEntries(draft).push(entry);
  return entry;
}

function start(draft: Draft, id: string): Turn {
  return findTurn(draft, id) ?? append(draft, newTurn(id));
}

function newTurn(id: string): Turn {
  return {
    kind: "turn",
    id,
    text: "",
    mentions: [],
    at: 0,
    items: [],
    result: null,
    endedAt: null,
    interrupted: false,
    reverted: false,
    withdrawn: false,
  };
}

function findTurn(draft: Draft, id: string): Turn | null {
  for (let place = draft.chat.entries.length - 1; place >= 0; place -= 1) {
    const entry = draft.chat.entries[place];
    if (entry?.kind === "turn" && entry.id === id) return ownEntry(draft, place, entry);
  }
  return null;
}

/** The turn, also one whose beginning is missing; null for one that was not read yet. */
function turnFor(draft: Draft, id: string): Turn | null {
  const found = findTurn(draft, id);
  if (found !== null || draft.chat.earlier) return found;
  return append(draft, newTurn(id));
}

function itemsFor(draft: Draft, turnId: string, seq: number): Item[] | null {
  if (turnId !== "") return turnFor(draft, turnId)?.items ?? null;
  const place = draft.chat.entries.length - 1;
  const last = draft.chat.entries[place];
  if (last?.kind === "between") return ownEntry(draft, place, last).items;
  return append(draft, { kind: "between", id: `between-${seq}`, items: [] }).items;
}

function add(draft: Draft, turnId: string, seq: number, item: Item): void {
  itemsFor(draft, turnId, seq)?.push(item);
}

function replaceItems(items: Item[], by: Item[]): void {
  items.splice(0, items.length, ...by);
}

// ------------------------------------------------------------------------------------------------------- single kinds

/** That the model was asked again is no news once it has answered, or the turn is over. */
function answered(draft: Draft, turnId: string): void {
  const turn = turnId === "" ? null : findTurn(draft, turnId);
  // Little can come between the two.
  const place = turn?.items.findLastIndex((item, at) => at >= turn.items.length - RECENT && isRetry(item)) ?? -1;
  if (place !== -1) turn?.items.splice(place, 1);
}

const RECENT = 5;

const isRetry = (item: Item): boolean => item.kind === "notice" && item.retry !== undefined;

const isKin = (one: Thought | Answer, other: Thought | Answer): boolean =>
  one.kind === other.kind && one.step === other.step && "progress" in one === "progress" in other;

/** Deltas of one kind and step that nothing stands between are one item. */
function grow(draft: Draft, turnId: string, seq: number, delta: Thought | Answer): void {
  const items = itemsFor(draft, turnId, seq);
  if (items === null) return;
  const last = items[items.length - 1];
  if (last !== undefined && isDelta(last) && isKin(last, delta)) {
    if (draft.fresh.has(last)) {
      last.text += delta.text;
      last.at = delta.at;
      return;
    }
    delta.id = last.id;
    delta.text = last.text + delta.text;
    items[items.length - 1] = delta;
  } else {
    const alike = items.filter((item) => item.kind === delta.kind && item.step === delta.step).length;
    delta.id = `${delta.kind}-${delta.step}-${alike}`;
    items.push(delta);
  }
  draft.fresh.add(delta);
}

function upsert(draft: Draft, turnId: string, seq: number, call: ToolCall, at: number): void {
  const items = itemsFor(draft, turnId, seq);
  if (items === null) return;
  const place = items.findIndex((item) => item.kind === "call" && item.call.callId === call.callId);
  const before = items[place];
  if (before?.kind !== "call") {
    const first: Call = {
      kind: "call",
      id: call.callId,
      step: call.step,
      at,
      call,
      live: "",
      asked: null,
      startedAt: null,
      endedAt: null,
    };
    items.push(timed(first, at));
    return;
  }
  const given = Object.fromEntries(Object.entries(call).filter(([, value]) => value !== undefined && value !== null));
  items[place] = timed({ ...before, call: { ...before.call, ...given } }, at);
}

/** What a subagent uses is told at the call that has begun it. */
function spend(draft: Draft, turnId: string, callId: string, tokens: number): void {
  const turn = findTurn(draft, turnId);
  const place = turn?.items.findIndex((item) => item.kind === "call" && item.call.callId === callId) ?? -1;
  const before = turn?.items[place];
  if (turn === null || before?.kind !== "call") return;
  turn.items[place] = { ...before, spent: (before.spent ?? 0) + tokens };
}

/** What a running command prints joins its row; its result will have it all. */
function output(draft: Draft, turnId: string, { callId, delta }: ToolOutput): void {
  own(draft);
  const turn = findTurn(draft, turnId);
  const place = turn?.items.findIndex((item) => item.kind === "call" && item.call.callId === callId) ?? -1;
  const before = turn?.items[place];
  if (turn === null || before?.kind !== "call" || before.call.status !== "running") return;
  turn.items[place] = { ...before, live: grown(before.live, delta) };
}

function timed(before: Call, at: number): Call {
  const { status } = before.call;
  const { asked } = before;
  const call =
    status === "awaiting_approval"
      ? { ...before, asked: asked ?? { from: at, to: null } }
      : asked?.to === null
        ? { ...before, asked: { from: asked.from, to: at } }
        : before;
  switch (status) {
    case "running":
      return { ...call, startedAt: call.startedAt ?? at };
    case "completed":
    case "failed":
    case "interrupted":
    case "rejected":
      return { ...call, endedAt: call.endedAt ?? at, live: "" };
    default:
      return call;
  }
}

/** A word to the turn stands where the model read it, and before that where it was sent; one taken back is gone. */
function steer(draft: Draft, turnId: string, seq: number, at: number, { id, state, step, text, images }: Steer): void {
  const name = `steer-${id === "" ? seq : id}`;
  dropSteer(draft, name);
  if (state === "withdrawn") return;
  const sent = images === undefined ? {} : { images };
  add(draft, turnId, seq, { kind: "steer", id: name, step: step ?? 0, at, text, state, ...sent });
}

function dropSteer(draft: Draft, id: string): void {
  // It waits in the newest turn, or in the one before.
  for (let place = draft.chat.entries.length - 1; place >= Math.max(0, draft.chat.entries.length - 3); place -= 1) {
    const entry = draft.chat.entries[place];
    if (entry === undefined || !entry.items.some((item) => item.kind === "steer" && item.id === id)) continue;
    const { items } = ownEntry(draft, place, entry);
    replaceItems(
      items,
      items.filter((item) => item.id !== id),
    );
  }
}

/** The words to a turn among `ids` that were returned, by their ids. */
export function returned(chat: ChatState, ids: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  const named = new Map(ids.map((id) => [`steer-${id}`, id]));
  for (const { items } of chat.entries) {
    for (const item of items) {
      const id = item.kind === "steer" && item.state === "returned" ? named.get(item.id) : undefined;
      if (id !== undefined && item.kind === "steer") found.set(id, item.text);
    }
  }
  return found;
}

function compact(draft: Draft, turnId: string, seq: number, news: Pick<Compaction, "phase" | "report" | "at">): void {
  const open = openCompaction(draft.chat.entries);
  const entry = open === null ? undefined : draft.chat.entries[open.place];
  if (open === null || entry === undefined) {
    const item: Compaction = { kind: "compaction", id: `compaction-${seq}`, step: 0, ...news };
    add(draft, turnId, seq, item);
    return;
  }
  ownEntry(draft, open.place, entry).items[open.item] = { ...open.compaction, ...news };
}

function openCompaction(entries: readonly Entry[]): { place: number; item: number; compaction: Compaction } | null {
  // It is in one of the newest entries: turns of its chat wait for it.
  for (let place = entries.length - 1; place >= Math.max(0, entries.length - 3); place -= 1) {
    const items = entries[place]?.items ?? [];
    for (let item = items.length - 1; item >= 0; item -= 1) {
      const found = items[item];
      if (found?.kind !== "compaction") continue;
      return found.phase === "started" || found.phase === "summarising" ? { place, item, compaction: found } : null;
    }
  }
  return null;
}

/** A hook's run is one line, which changes as it goes on. */
function hook(draft: Draft, turnId: string, seq: number, at: number, run: HookRun): void {
  const items = itemsFor(draft, turnId, seq);
  if (items === null) return;
  const item: Item = { kind: "hook", id: `hook-${run.id}`, step: run.step ?? 0, at, run };
  const place = items.findIndex(({ id }) => id === item.id);
  if (place === -1) items.push(item);
  else items[place] = item;
}

function notice(draft: Draft, turnId: string, seq: number, at: number, given: NoticeGiven): void {
  const turn = turnId === "" ? null : turnFor(draft, turnId);
  if (turnId !== "" && turn === null) return;
  // As a warning it names files that were left alone, and a later revert tries them again.
  if (turn !== null && given.code === "reverted" && given.level === "info") turn.reverted = true;
  if (turn !== null && given.code === "turn_withdrawn") turn.withdrawn = true;
  const { level, code, message } = given;
  add(draft, turnId, seq, { kind: "notice", id: `notice-${seq}`, step: given.step ?? 0, at, level, code, message });
}
