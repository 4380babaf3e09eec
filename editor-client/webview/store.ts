// The panel's state and everything that changes it. Pure: the same actions always give the same state.
import type { Kept, ServerState } from "../src/messages";
import type { Chat, ChatEvent, ChatRecord } from "../src/protocol/types";
import { fold, returned } from "./fold";
import { looked, NOTHING } from "./looking";
import { waiting } from "./pending";
import { picturesOf, resultsOf, withResults } from "./results";
import type { Action, ChatState, ChatsState, ComposerState, Entry, Item, State } from "./state";

const SEARCHING: ServerState = {
  phase: "searching",
  session: 0,
  message: "",
  actions: [],
  methods: [],
  offline: false,
};

/** So many words to running turns are remembered until they come back. */
const MOST_STEERS = 50;

/** Seconds by which the clocks of the panel and of the server may differ. */
export const CLOCKS = 60;

/** The state before anything is known but what the editor kept. */
export function initial(kept: Kept | null): State {
  return {
    server: SEARCHING,
    page: "chat",
    chat: null,
    opening: kept?.chatId ?? null,
    chats: { query: "", chats: [], nextCursor: null, loading: false },
    models: [],
    context: FORGOTTEN,
    approvals: [],
    composer: {
      text: kept?.draft ?? "",
      attachments: kept?.attachments ?? [],
      editing: kept?.editing ?? null,
      sending: null,
      pending: null,
      sent: kept?.sent ?? null,
      steers: kept?.steers ?? [],
    },
    looking: { ...NOTHING, removed: kept?.removed ?? null },
    next: { mode: null, model: null, strategy: null, effort: null },
    accepted: new Set(),
    pending: null,
    choosing: null,
    finding: false,
    pointed: null,
    problem: null,
  };
}

/** The state after an action. */
export function reduce(state: State, action: Action): State {
  switch (action.kind) {
    case "server":
      return { ...state, server: action.server };
    case "accepted":
      return { ...state, accepted: new Set(action.turns) };
    case "pending":
      return waiting(state, action);
    case "events":
      return heard(state, action.events);
    case "opening":
      return { ...state, page: "chat", opening: action.chatId, chat: null, finding: false, context: FORGOTTEN };
    case "record":
      return recorded(state, action.how, action.record, action.asked);
    case "readingEarlier":
      return inChat(state, (chat) => ({ ...chat, readingEarlier: action.reading }));
    case "results":
      return inChat(state, (chat) =>
        chat.chat.id === action.chatId ? withResults(chat, action.results, action.pictures) : chat,
      );
    case "page":
      return { ...state, page: action.page };
    case "chats":
      return { ...state, chats: listed(state.chats, action) };
    case "chatsLoading":
      return { ...state, chats: { ...state.chats, query: action.query, loading: true } };
    case "chatChanged":
      return withChat(state, action.chat);
    case "chatDeleted":
      return withoutChat(state, action.chatId);
    case "models":
      return { ...state, models: action.models };
    case "next":
      return { ...state, next: { ...state.next, ...action.next } };
    case "contextLoading":
      return { ...state, context: { ...state.context, loading: true, problem: null } };
    case "context":
      return {
        ...state,
        context: {
          report: action.report,
          counts: action.report !== null && (action.problem === null || state.context.counts),
          archive: action.archive,
          loading: false,
          problem: action.problem,
        },
      };
    case "approval": {
      const others = state.approvals.filter(({ id }) => id !== action.approval.id);
      return { ...state, approvals: [...others, action.approval] };
    }
    case "approvalGone":
      return { ...state, approvals: state.approvals.filter(({ id }) => id !== action.id) };
    case "composer":
      return { ...state, composer: { ...state.composer, ...action.composer } };
    case "steered": {
      const steers = [...(state.composer.steers ?? []), action.id].slice(-MOST_STEERS);
      return handedBack({ ...state, composer: { ...state.composer, steers } });
    }
    case "attach":
      return { ...state, composer: attached(state.composer, action) };
    case "looking":
      return { ...state, looking: looked(state.looking, action.looking) };
    case "verdict":
      return { ...state, looking: { ...state.looking, verdict: action.verdict } };
    case "lookingRemoved":
      return { ...state, looking: { ...state.looking, removed: state.looking.at } };
    case "reverted":
      return inChat(state, (chat) => (chat.chat.id === action.chatId ? reverted(chat, action.turnId) : chat));
    case "choosing":
      return { ...state, choosing: action.what };
    case "pointed":
      return { ...state, pointed: action.pointed };
    case "finding":
      return { ...state, finding: action.finding };
    case "problem":
      return state.problem === action.problem ? state : { ...state, problem: action.problem };
  }
}

function inChat(state: State, change: (chat: ChatState) => ChatState): State {
  if (state.chat === null) return state;
  const chat = change(state.chat);
  return chat === state.chat ? state : { ...state, chat };
}

const FORGOTTEN: State["context"] = { report: null, counts: false, archive: null, loading: false, problem: null };

// -------------------------------------------------------------------------------------------------------------- events

function heard(before: State, events: readonly ChatEvent[]): State {
  let state = before;
  for (const event of events) {
    if (event.event.kind === "turn_started") state = arrived(state, event, event.event.text);
    if (event.event.kind === "turn_ended") state = markRunning(state, event.chatId, null);
  }
  const next = inChat(state, (chat) =>
    fold(
      chat,
      events.filter(({ chatId }) => chatId === chat.chat.id),
      true,
    ),
  );
  return handedBack(outdated(state.chat, next));
}

/** The page's figure gives way to what a call of the model or a compaction has told since. */
function outdated(before: ChatState | null, state: State): State {
  const { chat, context } = state;
  const same = chat?.usage === before?.usage && (chat?.compacting === true || before?.compacting !== true);
  return same || !context.counts ? state : { ...state, context: { ...context, counts: false } };
}

/** Words to a turn that were sent from here and not to the model come back to the composer, before what stands there. */
function handedBack(state: State): State {
  const { chat, composer } = state;
  const sent = composer.steers ?? [];
  if (chat === null || sent.length === 0) return state;
  const back = returned(chat, sent);
  if (back.size === 0) return state;
  const text = [...back.values(), composer.text].filter((part) => part.trim() !== "").join("\n\n");
  return { ...state, composer: { ...composer, text, steers: sent.filter((id) => !back.has(id)) } };
}

/** A turn has begun: what was pending is there now, and a chat that it made is the one at hand. */
function arrived(before: State, event: ChatEvent, text: string): State {
  const marked = markRunning(before, event.chatId, event.turnId);
  const state = delivered(marked, event.chatId, text, event.at);
  const { pending } = state.composer;
  if (state !== marked && state.chat === null && state.opening === null) {
    return { ...state, chat: emptyChat(born(state, event), event.seq - 1) };
  }
  if (pending === null || pending.text !== text || (pending.chatId ?? event.chatId) !== event.chatId) return state;
  const composer = { ...state.composer, sending: null, pending: null };
  if (pending.chatId !== null || state.chat !== null || state.opening !== null) return { ...state, composer };
  return { ...state, composer, chat: emptyChat(born(state, event), event.seq - 1) };
}

/** What was on its way when the panel was made anew has begun a turn: it is not a draft any more. */
function delivered(state: State, chatId: string, text: string, at: number): State {
  const { composer } = state;
  const { sent } = composer;
  if (sent === undefined || sent === null || sent.text !== text) return state;
  if ((sent.chatId ?? chatId) !== chatId || at < sent.at - CLOCKS) return state;
  if (!composer.text.startsWith(text)) return { ...state, composer: { ...composer, sent: null } };
  const rest = composer.text.slice(text.length).replace(/^\n\n/, "");
  const attachments = composer.attachments.slice(sent.attached);
  return { ...state, composer: { ...composer, text: rest, attachments, sent: null } };
}

function born(state: State, { chatId, turnId, at }: ChatEvent): Chat {
  const { mode, model, strategy } = state.next;
  return {
    id: chatId,
    title: "",
    kind: "panel",
    mode: mode ?? "agent",
    model: model ?? state.models.find(({ current }) => current)?.name ?? "",
    strategy: strategy ?? "layered",
    createdAt: at,
    updatedAt: at,
    turns: 1,
    running: turnId,
  };
}

function emptyChat(chat: Chat, lastSeq: number): ChatState {
  return {
    chat,
    lastSeq,
    entries: [],
    earlier: false,
    readingEarlier: false,
    running: null,
    todo: [],
    usage: null,
    compacting: false,
    results: new Map(),
  };
}

function markRunning(state: State, chatId: string, running: string | null): State {
  const mark = (chat: Chat): Chat => (chat.id === chatId && chat.running !== running ? { ...chat, running } : chat);
  const chats = state.chats.chats.map(mark);
  const changed = chats.some((chat, place) => chat !== state.chats.chats[place]);
  return changed ? { ...state, chats: { ...state.chats, chats } } : state;
}

// ------------------------------------------------------------------------------------------------------------- records

function recorded(state: State, how: "replace" | "earlier" | "since", record: ChatRecord, asked?: number): State {
  const same = state.chat?.chat.id === record.chat.id ? state.chat : null;
  const last = record.events.reduce((most, { seq }) => Math.max(most, seq), asked ?? 0);
  if (how === "earlier") return same === null ? state : { ...state, chat: preceded(same, record) };
  if (how === "since" && same === null) return state;
  // What was heard since the record was made is not in it.
  const goesOn = same !== null && (how === "since" || last < same.lastSeq);
  const base = goesOn ? rewound(same, how === "since" ? record.events : [], asked) : emptyRecord(record);
  let chat = fold(
    { ...withResults(base, resultsOf(record.messages), picturesOf(record.messages)), chat: record.chat },
    record.events,
    false,
  );
  if (base.lastSeq <= last) chat = settled({ ...chat, running: record.running });
  const next = handedBack({
    ...state,
    chat,
    opening: state.opening === record.chat.id ? null : state.opening,
  });
  if (how === "since") return cleared(next, chat, base.entries.length);
  const newest = chat.entries.findLast((entry) => entry.kind === "turn");
  return newest?.kind === "turn" ? delivered(next, chat.chat.id, newest.text, newest.at) : next;
}

/** What was read from the beginning of a turn on takes the place of what is here from that turn on. */
function rewound(chat: ChatState, events: readonly ChatEvent[], asked = chat.lastSeq): ChatState {
  const first = events[0];
  if (asked >= chat.lastSeq || first?.event.kind !== "turn_started") return chat;
  const place = chat.entries.findIndex(({ id }) => id === first.turnId);
  return place === -1 ? chat : { ...chat, entries: chat.entries.slice(0, place), lastSeq: asked };
}

function emptyRecord(record: ChatRecord): ChatState {
  return { ...emptyChat(record.chat, 0), earlier: record.earlier };
}

/** A turn without an end that does not run: its server died. */
function settled(chat: ChatState): ChatState {
  const entries = chat.entries.map((entry): Entry => {
    if (entry.kind !== "turn" || entry.result !== null) return entry;
    const interrupted = entry.id !== chat.running;
    if (entry.interrupted === interrupted) return entry;
    return { ...entry, interrupted };
  });
  return entries.some((entry, place) => entry !== chat.entries[place]) ? { ...chat, entries } : chat;
}

/** A message whose turn the record has is no longer pending. */
function cleared(state: State, chat: ChatState, from: number): State {
  const { pending } = state.composer;
  if (pending === null || pending.chatId !== chat.chat.id) return state;
  const there = chat.entries.slice(from).some((entry) => entry.kind === "turn" && entry.text === pending.text);
  return there ? { ...state, composer: { ...state.composer, sending: null, pending: null } } : state;
}

function preceded(chat: ChatState, record: ChatRecord): ChatState {
  const empty = { ...emptyRecord(record), earlier: false };
  const older = settled({ ...fold(empty, record.events, false), running: chat.running }).entries.map(begun(chat));
  const known = new Set(chat.entries.map(({ id }) => id));
  return {
    ...withResults(chat, resultsOf(record.messages), picturesOf(record.messages)),
    entries: [...older.filter(({ id }) => !known.has(id)), ...chat.entries],
    earlier: record.earlier,
    readingEarlier: false,
  };
}

/** Earlier entries without the words that wait in them: the turn that is here next is made of them, or was told. */
function begun(later: ChatState): (entry: Entry) => Entry {
  const next = later.entries.find((entry) => entry.kind === "turn");
  const told = new Set(later.entries.flatMap(({ items }) => items.map(({ id }) => id)));
  const gone = (item: Item): boolean =>
    item.kind === "steer" &&
    item.state === "waiting" &&
    next?.kind === "turn" &&
    (next.id !== later.running || told.has(item.id) || next.text.includes(item.text));
  return (entry) => (entry.items.some(gone) ? { ...entry, items: entry.items.filter((item) => !gone(item)) } : entry);
}

function reverted(chat: ChatState, turnId: string): ChatState {
  const entries = chat.entries.map((entry) =>
    entry.kind === "turn" && entry.id === turnId && !entry.reverted ? { ...entry, reverted: true } : entry,
  );
  return { ...chat, entries };
}

// --------------------------------------------------------------------------------------------------- lists and the rest

function listed(before: ChatsState, action: Extract<Action, { kind: "chats" }>): ChatsState {
  if (before.query !== action.query) return before;
  const shown = new Set(action.more ? before.chats.map(({ id }) => id) : []);
  const chats = [...(action.more ? before.chats : []), ...action.chats.filter(({ id }) => !shown.has(id))];
  return { query: action.query, chats, nextCursor: action.nextCursor, loading: false };
}

function withChat(state: State, chat: Chat): State {
  const chats = state.chats.chats.map((one) => (one.id === chat.id ? chat : one));
  const next = { ...state, chats: { ...state.chats, chats } };
  return inChat(next, (shown) => (shown.chat.id === chat.id ? { ...shown, chat } : shown));
}

function withoutChat(state: State, chatId: string): State {
  const chats = state.chats.chats.filter(({ id }) => id !== chatId);
  const next = { ...state, chats: { ...state.chats, chats } };
  return state.chat?.chat.id === chatId ? { ...next, chat: null, context: FORGOTTEN } : next;
}

function attached(composer: ComposerState, action: Extract<Action, { kind: "attach" }>): ComposerState {
  const key = (one: { uri: string; range?: unknown }): string => JSON.stringify([one.uri, one.range ?? null]);
  const known = new Set(composer.attachments.map(key));
  const added = action.attachments.filter((one) => !known.has(key(one)));
  const gap = composer.text === "" || /\s$/.test(composer.text) ? "" : " ";
  const text = action.text === undefined ? composer.text : `${composer.text}${gap}${action.text}`;
  return { ...composer, text, attachments: [...composer.attachments, ...added] };
}
