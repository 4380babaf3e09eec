import { describe, expect, it } from "vitest";
import type { Call, State, Thought, Turn } from "../../webview/state";
import { kept } from "../../webview/draft";
import { initial, reduce } from "../../webview/store";
import { chat, empty, ended, events, heard, NAMES, record, run, showing, started, stream, told } from "./streams";

const turns = (state: ReturnType<typeof initial>): Turn[] =>
  (state.chat?.entries ?? []).filter((entry) => entry.kind === "turn");

describe.each(NAMES)("the recorded stream %s", (name) => {
  const { events: all, record: whole } = stream(name);
  const live = all.every(({ seq }, place) => seq === place + 1);

  it("was recorded without a gap", () => {
    expect(live).toBe(true);
    expect(all.length).toBeGreaterThan(1);
  });

  it("gives the same event by event as read at once, once what was missed is read", () => {
    const last = all.at(-1)!.seq;
    const missed = { ...whole, events: whole.events.filter(({ seq }) => seq > last) };
    const state = run(empty(whole), ...all.map((one) => heard(one)), { kind: "record", how: "since", record: missed });
    expect(told(state)).toEqual(told(showing(whole)));
  });

  it("gives the same in batches as event by event", () => {
    const one = run(empty(whole), ...all.map((each) => heard(each)));
    expect(told(run(empty(whole), heard(...all)))).toEqual(told(one));
  });

  it("gives the whole after any beginning and what came since", () => {
    const expected = told(showing(whole));
    for (let cut = 0; cut <= all.length; cut += 1) {
      const begun = run(empty(whole), heard(...all.slice(0, cut)));
      const seen = begun.chat!.lastSeq;
      // Deltas may be merged under their last number: a reader in the middle of them reads the chat anew.
      const inside = all[cut]?.event.kind === "thought" || all[cut]?.event.kind === "answer";
      const since = { ...whole, events: whole.events.filter(({ seq }) => seq > seen) };
      const state = run(begun, { kind: "record", how: "since", record: since, asked: seen });
      if (!inside) expect(told(state), `cut after ${cut}`).toEqual(expected);
      expect(state.chat!.lastSeq).toBe(expected.lastSeq);
    }
  });

  it("is not changed by anything that comes twice", () => {
    const state = run(empty(whole), heard(...all));
    expect(reduce(state, heard(...all)).chat).toBe(state.chat);
  });
});

describe("events", () => {
  const begin = run(showing(record("c")), heard(...events("c", "t1", 1, started("Hello"))));

  it("of other chats change nothing that is shown", () => {
    expect(reduce(begin, heard(...events("other", "t9", 2, started("Hm")))).chat).toBe(begin.chat);
  });

  it("behind a gap wait for what is missing", () => {
    const later = events("c", "t1", 5, { kind: "answer", delta: "late", step: 1 });
    expect(reduce(begin, heard(...later)).chat).toBe(begin.chat);
  });

  it("leave all turns but their own the same objects", () => {
    const two = run(
      begin,
      heard(...events("c", "t1", 2, ended("c", "t1"))),
      heard(...events("c", "t2", 3, started("B"))),
    );
    const after = reduce(two, heard(...events("c", "t2", 4, { kind: "answer", delta: "x", step: 1 })));
    expect(after.chat!.entries[0]).toBe(two.chat!.entries[0]);
    expect(after.chat!.entries[1]).not.toBe(two.chat!.entries[1]);
  });

  it("do not write into a state that was given out", () => {
    const one = reduce(begin, heard(...events("c", "t1", 2, { kind: "answer", delta: "one", step: 1 })));
    const before = structuredClone(told(one));
    run(one, heard(...events("c", "t1", 3, { kind: "answer", delta: " two", step: 1 }, ended("c", "t1", "one two"))));
    expect(told(one)).toEqual(before);
  });

  it("of an unknown kind, and unknown fields, are passed over", () => {
    const news = events(
      "c",
      "t1",
      2,
      { kind: "telepathy", colour: "blue" },
      { kind: "answer", delta: "hi", step: 1, mood: 7 },
    );
    const state = reduce(begin, heard(...news));
    expect(turns(state)[0]!.items).toHaveLength(1);
    expect(state.chat!.lastSeq).toBe(3);
  });

  it("of a retry take back what the step has said, and only that", () => {
    const said = events(
      "c",
      "t1",
      2,
      { kind: "thought", delta: "first", step: 1 },
      { kind: "thought", delta: "second", step: 2 },
      { kind: "answer", delta: "half an ans", step: 2 },
      { kind: "retry", attempt: 2, inSeconds: 3, reason: "overloaded", step: 2 },
    );
    const words = (state: State): string[] =>
      turns(state)[0]!.items.map((item) => (item.kind === "notice" ? item.message : "text" in item ? item.text : ""));
    const waiting = reduce(begin, heard(...said));
    expect(words(waiting)).toEqual(["first", "Asking again in 3 s (attempt 2): overloaded."]);
    const again = reduce(waiting, heard(...events("c", "t1", 6, { kind: "answer", delta: "whole answer", step: 2 })));
    expect(words(again), "once it answers, the wait is no news").toEqual(["first", "whole answer"]);
    const { items } = turns(again)[0]!;
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  });

  it("of a hook are one line, wherever it ran", () => {
    const run = { kind: "hook", id: "h1", name: "./check.sh", event: "PreToolUse", step: 1, callId: "k" };
    const said = [
      ...events("c", "t1", 2, { ...run, status: "running", seconds: 0 }),
      ...events("c", "t1", 3, { ...run, status: "blocked", seconds: 0.4, message: "not on a Friday" }),
    ];
    const { items } = turns(reduce(begin, heard(...said)))[0]!;
    expect(items).toMatchObject([{ kind: "hook", run: { status: "blocked", message: "not on a Friday" } }]);
    const before = { ...run, id: "h2", event: "UserPromptSubmit", status: "blocked", seconds: 0.1 };
    const state = reduce(begin, heard(...events("c", "", 2, before)));
    expect(state.chat!.entries.at(-1)).toMatchObject({ kind: "between", items: [{ run: { id: "h2" } }] });
  });

  it("of a call leave what they do not say as it was, and know its times", () => {
    const call = { kind: "tool_call", callId: "k", tool: "Edit", title: "Edit a.py", step: 1 };
    const said = events(
      "c",
      "t1",
      2,
      { ...call, status: "pending", args: { path: "a.py" } },
      { ...call, status: "awaiting_approval", diff: "@@" },
      { ...call, status: "running", decision: { action: "allow", source: "user", rule: "allow_once" } },
      { ...call, status: "completed", summary: "Written." },
    );
    const [item] = turns(reduce(begin, heard(...said)))[0]!.items as [Call];
    expect(item.call).toMatchObject({ args: { path: "a.py" }, diff: "@@", status: "completed", summary: "Written." });
    expect([item.startedAt, item.endedAt]).toEqual([1004, 1005]);
  });

  it("of a command's output join its row while it runs, have no number of their own, and go with its end", () => {
    const call = { kind: "tool_call", callId: "k", tool: "Bash", title: "make", step: 1 };
    const [running] = events("c", "t1", 2, { ...call, status: "running" });
    const output = (seq: number, delta: string, callId = "k") => ({
      ...running!,
      seq,
      event: { kind: "tool_output", callId, stream: "stdout", delta, step: 1 } as const,
    });
    const live = (state: State) => (turns(state)[0]!.items[0] as Call).live;
    let state = reduce(begin, heard(running!, output(2, "one\n"), output(2, "two\n"), output(2, "of another", "x")));
    expect(live(state)).toBe("one\ntwo\n");
    const before = state;
    state = reduce(state, heard(output(1, "of an older event"), output(4, "behind a gap")));
    expect(live(state)).toBe("one\ntwo\n");
    state = reduce(state, heard(output(2, `${"x".repeat(30)}\n`.repeat(1000))));
    expect(live(state).length).toBeLessThanOrEqual(20_000);
    expect(live(state).startsWith("xxx")).toBe(true);
    expect(live(before)).toBe("one\ntwo\n");
    const [, ended] = events("c", "t1", 2, { ...call, status: "running" }, { ...call, status: "completed" });
    state = reduce(state, heard(ended!));
    expect(live(state)).toBe("");
    expect(live(reduce(state, heard(output(3, "late"))))).toBe("");
  });

  it("of a steer stand where the word was taken", () => {
    const said = events(
      "c",
      "t1",
      2,
      { kind: "thought", delta: "a", step: 1 },
      { kind: "steer", text: "No!", id: "", state: "told", step: 1 },
    );
    expect(turns(reduce(begin, heard(...said)))[0]!.items.map(({ kind }) => kind)).toEqual(["thought", "steer"]);
  });

  it("of a steer that comes with the answer leave the answer and begin the next turn", () => {
    const waits = events(
      "c",
      "t1",
      2,
      { kind: "answer", delta: "seen", step: 1 },
      { kind: "steer", text: "And?", id: "s", state: "waiting", step: 1 },
      ended("c", "t1"),
    );
    const waiting = reduce(begin, heard(...waits));
    expect(turns(waiting)[0]!.items).toMatchObject([{ text: "seen" }, { text: "And?", state: "waiting" }]);
    const next = events("c", "t2", 5, { ...started("And?"), steered: true, steers: ["s"] });
    const after = reduce(waiting, heard(...next));
    expect(turns(after).map(({ text, items }) => [text, items.map(({ kind }) => kind)])).toEqual([
      ["Hello", ["answer"]],
      ["And?", []],
    ]);
    expect(after.chat!.running).toBe("t2");
  });

  it("of a steer move it to where it was told, and take a withdrawn one away", () => {
    const said = events(
      "c",
      "t1",
      2,
      { kind: "steer", text: "one", id: "s1", state: "waiting" },
      { kind: "steer", text: "two", id: "s2", state: "waiting" },
      { kind: "thought", delta: "a", step: 1 },
      { kind: "steer", text: "two", id: "s2", state: "withdrawn" },
      { kind: "steer", text: "one", id: "s1", state: "told", step: 2 },
    );
    expect(turns(reduce(begin, heard(...said)))[0]!.items).toMatchObject([
      { kind: "thought" },
      { id: "steer-s1", state: "told" },
    ]);
  });

  const steer = (state: string): object => ({ kind: "steer", text: "one", id: "s1", state });
  const steered = { kind: "steered", id: "s1" } as const;
  const back = events("c", "t1", 2, steer("waiting"), steer("returned"), ended("c", "t1"));

  it("of a returned steer bring its text back to the composer, once", () => {
    const draft = { kind: "composer", composer: { text: "more" } } as const;
    const after = run(begin, heard(back[0]!), steered, draft, heard(...back.slice(1)), heard(...back));
    expect(after.composer.text).toBe("one\n\nmore");
    expect(turns(after)[0]!.items).toMatchObject([{ text: "one", state: "returned" }]);
    const whole = record("c", [...events("c", "t1", 1, started("Go")), ...back]);
    const anew = run(initial(kept(after)), { kind: "opening", chatId: "c" });
    expect(run(anew, { kind: "record", how: "replace", record: whole }).composer.text).toBe("one\n\nmore");
  });

  it("of a steer that is returned at once bring it back, whether the answer or the events come first", () => {
    expect(run(begin, heard(...back), steered).composer.text).toBe("one");
    expect(run(begin, steered, heard(...back)).composer.text).toBe("one");
  });

  it("of a steer that is returned while the panel is away bring it back when it is made anew", () => {
    const waiting = run(begin, heard(back[0]!), steered);
    const whole = record("c", [...events("c", "t1", 1, started("Go")), ...back]);
    const anew = run(initial(kept(waiting)), { kind: "opening", chatId: "c" });
    const after = run(anew, { kind: "record", how: "replace", record: whole });
    expect(after.composer.text).toBe("one");
    expect(kept(after).steers).toBeUndefined();
  });

  it("of a steer that came from another window bring nothing to this composer", () => {
    expect(run(begin, heard(back[0]!), heard(...back.slice(1))).composer.text).toBe("");
  });

  it("of older turns leave none waiting whose next turn was read before", () => {
    const older = events("c", "t1", 1, started("Go"), steer("waiting"), ended("c", "t1"));
    const newer = events("c", "t2", 4, { ...started("one"), steers: ["s1"] }, ended("c", "t2"));
    const paged = showing(record("c", newer, { earlier: true }));
    const all = reduce(paged, { kind: "record", how: "earlier", record: record("c", older) });
    expect(turns(all).map(({ items }) => items)).toEqual([[], []]);
  });

  it("between turns stand between them, and a compaction is one line from its beginning to its end", () => {
    const report = { compacted: true, reason: "manual" };
    const quiet = run(
      begin,
      heard(...events("c", "t1", 2, ended("c", "t1"))),
      heard(
        ...events("c", "", 3, { kind: "compaction", phase: "started" }, { kind: "compaction", phase: "summarising" }),
      ),
    );
    expect(quiet.chat!.compacting).toBe(true);
    const done = run(quiet, heard(...events("c", "", 5, { kind: "compaction", phase: "finished", report })));
    expect(done.chat!.compacting).toBe(false);
    expect(done.chat!.entries.map(({ kind }) => kind)).toEqual(["turn", "between"]);
    expect(done.chat!.entries[1]!.items).toHaveLength(1);
    expect(done.chat!.entries[1]!.items[0]).toMatchObject({ kind: "compaction", phase: "finished", report });
  });

  it("of a turn that was not read yet do not bring it in", () => {
    const late = { kind: "notice", level: "info", code: "reverted", message: "Undone in a.py." };
    const paged = showing(record("c", events("c", "t8", 50, started("New")), { earlier: true }));
    const state = reduce(paged, heard(...events("c", "t1", 51, late)));
    expect(turns(state).map(({ id }) => id)).toEqual(["t8"]);
    expect(state.chat!.lastSeq).toBe(51);
  });

  it("of a revert say whether files or the model's memory of a turn are gone", () => {
    const notice = (code: string, message: string): object => ({ kind: "notice", level: "info", code, message });
    const files = reduce(begin, heard(...events("c", "t1", 2, notice("reverted", "Undone in a.py."))));
    expect(turns(files)[0]).toMatchObject({ reverted: true, withdrawn: false });
    const part = { ...notice("reverted", "Undone in a.py. Left alone: b.py."), level: "warning" };
    expect(turns(reduce(begin, heard(...events("c", "t1", 2, part))))[0]).toMatchObject({ reverted: false });
    const memory = reduce(begin, heard(...events("c", "t1", 2, notice("turn_withdrawn", "It is gone."))));
    expect(turns(memory)[0]).toMatchObject({ reverted: false, withdrawn: true });
  });

  it("of ten thousand deltas, one by one and in one batch, are one item", () => {
    const deltas = Array.from({ length: 10_000 }, (_, place) => ({ kind: "answer", delta: `${place} `, step: 1 }));
    const said = events("c", "t1", 2, ...deltas);
    const batch = reduce(begin, heard(...said));
    const single = said.reduce((state, one) => reduce(state, heard(one)), begin);
    expect(turns(batch)[0]!.items).toHaveLength(1);
    expect(told(single)).toEqual(told(batch));
  });
});

describe("a turn whose server died", () => {
  const events1 = events("c", "t1", 1, started("Go"), { kind: "thought", delta: "hm", step: 1 });

  it("is interrupted when nothing runs and it has no end", () => {
    expect(turns(showing(record("c", events1)))[0]).toMatchObject({ interrupted: true, result: null });
  });

  it("runs on when the record says so", () => {
    expect(turns(showing(record("c", events1, { running: "t1" })))[0]).toMatchObject({ interrupted: false });
  });

  it("has the end that the next server writes", () => {
    const state = run(showing(record("c", events1)), heard(...events("c", "t1", 3, ended("c", "t1", "", "failed"))));
    expect(turns(state)[0]).toMatchObject({ interrupted: false, result: { stopReason: "failed" } });
  });
});

describe("records", () => {
  it("that are older than what was heard take nothing back", () => {
    const said = events("c", "t1", 1, started("A"), { kind: "answer", delta: "x", step: 1 });
    const state = run(showing(record("c")), heard(...said));
    const late = reduce(state, { kind: "record", how: "replace", record: record("c", said.slice(0, 1)) });
    expect(told(late)).toEqual(told(state));
    const since = reduce(state, { kind: "record", how: "since", record: record("c"), asked: 0 });
    expect(since.chat!.running).toBe("t1");
  });

  it("of earlier turns stand in front, once", () => {
    const first = events("c", "t1", 1, started("A"), ended("c", "t1"));
    const second = events("c", "t2", 3, started("B"), ended("c", "t2"));
    const paged = run(showing(record("c", second, { earlier: true })), { kind: "readingEarlier", reading: true });
    const twice: Parameters<typeof run>[1] = {
      kind: "record",
      how: "earlier",
      record: record("c", [...first, ...second]),
    };
    const state = run(paged, twice, twice);
    expect(turns(state).map(({ id }) => id)).toEqual(["t1", "t2"]);
    expect(state.chat).toMatchObject({ earlier: false, readingEarlier: false, lastSeq: 4 });
    expect(state.chat!.entries[1]).toBe(paged.chat!.entries[0]);
  });

  it("of earlier turns show no word as waiting that a later turn is made of", () => {
    const waits = (id: string, text: string) => ({ kind: "steer" as const, text, id, state: "waiting" as const });
    const first = events("c", "t1", 1, started("A"), waits("s1", "one"), waits("s2", "gap"), ended("c", "t1"));
    const next = events("c", "t2", 5, { ...started("one"), steered: true, steers: ["s1"] });
    const earlier = { kind: "record" as const, how: "earlier" as const, record: record("c", first) };
    const words = (state: State) => turns(state)[0]!.items.map(({ id }) => id);
    const running = showing(record("c", next, { earlier: true, running: "t2" }));
    expect(words(reduce(running, earlier))).toEqual(["steer-s2"]);
    const told = events("c", "t2", 6, { ...waits("s2", "gap"), state: "told" });
    expect(words(reduce(reduce(running, heard(...told)), earlier))).toEqual([]);
    const over = showing(record("c", [...next, ...events("c", "t2", 6, ended("c", "t2"))], { earlier: true }));
    expect(words(reduce(over, earlier))).toEqual([]);
  });

  it("of a chat that is no longer shown change nothing but what they replace", () => {
    const state = showing(record("c"));
    expect(reduce(state, { kind: "record", how: "since", record: record("d") })).toBe(state);
    expect(reduce(state, { kind: "record", how: "earlier", record: record("d") })).toBe(state);
  });

  it("bring what tools gave", () => {
    const message = { id: "m", turnId: "t", role: "tool" as const, content: "{}", metadata: { callId: "k" } };
    expect(showing(record("c", [], { messages: [message] })).chat!.results.get("k")).toBe("{}");
  });
});

describe("a message on its way", () => {
  const pending = { chatId: null, text: "Hello", attachments: [] };
  const sending = reduce(initial(null), { kind: "composer", composer: { sending: 7, pending } });

  it("becomes a chat with the first event of its turn", () => {
    const state = reduce(sending, heard(...events("new", "t1", 1, started("Hello"))));
    expect(state.composer).toMatchObject({ sending: null, pending: null });
    expect(state.chat).toMatchObject({ chat: { id: "new" }, running: "t1", lastSeq: 1 });
    expect(turns(state)).toHaveLength(1);
  });

  it("is not taken for the turn of somebody else", () => {
    const state = reduce(sending, heard(...events("other", "t1", 1, started("Something else"))));
    expect(state.chat).toBeNull();
    expect(state.composer.pending).toBe(pending);
  });

  it("does not bring its chat in front of one that was opened meanwhile", () => {
    const away = run(sending, { kind: "record", how: "replace", record: record("c") });
    const state = reduce(away, heard(...events("new", "t1", 1, started("Hello"))));
    expect(state.chat!.chat.id).toBe("c");
    expect(state.composer.pending).toBeNull();
  });

  it("is gone once a record has its turn", () => {
    const there = run(showing(record("c")), {
      kind: "composer",
      composer: { sending: 7, pending: { ...pending, chatId: "c" } },
    });
    const said = events("c", "t1", 1, started("Hello"), ended("c", "t1"));
    const state = reduce(there, { kind: "record", how: "since", record: record("c", said) });
    expect(state.composer).toMatchObject({ sending: null, pending: null });
  });

  it("is kept as a draft until it has arrived", () => {
    const typed = reduce(sending, { kind: "composer", composer: { text: "and more" } });
    expect(kept(typed)).toEqual({ chatId: null, draft: "Hello\n\nand more", attachments: [] });
  });
});

describe("the rest of the state", () => {
  it("begins with what was kept", () => {
    const attachment = { uri: "file:///a.py", label: "a.py" };
    const state = initial({ chatId: "c", draft: "half a", attachments: [attachment] });
    expect(state).toMatchObject({ opening: "c", composer: { text: "half a", attachments: [attachment] } });
    expect(kept(state)).toEqual({ chatId: "c", draft: "half a", attachments: [attachment] });
  });

  it("does not attach the same thing twice, and puts a text behind the draft", () => {
    const one = { uri: "file:///a.py", label: "a.py" };
    const part = { ...one, range: { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } } };
    const state = run(
      initial(null),
      { kind: "attach", attachments: [one], text: "Why?" },
      { kind: "attach", attachments: [one, part], text: "@src/ " },
    );
    expect(state.composer).toMatchObject({ text: "Why? @src/ ", attachments: [one, part] });
  });

  it("takes a page of chats only for the query that is asked", () => {
    const asked = reduce(initial(null), { kind: "chatsLoading", query: "new" });
    const late = reduce(asked, { kind: "chats", query: "old", chats: [chat("c")], nextCursor: null, more: false });
    expect(late.chats).toEqual(asked.chats);
    const page = { kind: "chats" as const, query: "new", nextCursor: "2", more: true };
    const both = run(asked, { ...page, chats: [chat("a")] }, { ...page, chats: [chat("a"), chat("b")] });
    expect(both.chats.chats.map(({ id }) => id)).toEqual(["a", "b"]);
  });

  it("shows a new chat when the one at hand is deleted", () => {
    expect(reduce(showing(record("c")), { kind: "chatDeleted", chatId: "c" }).chat).toBeNull();
    expect(reduce(showing(record("c")), { kind: "chatDeleted", chatId: "d" }).chat).not.toBeNull();
  });

  it("keeps the same thought while it grows", () => {
    const begin = run(
      showing(record("c")),
      heard(...events("c", "t1", 1, started("A"), { kind: "thought", delta: "a", step: 1 })),
    );
    const more = run(begin, heard(...events("c", "t1", 3, { kind: "thought", delta: "b", step: 1 })));
    const [one, two] = [begin, more].map((state) => turns(state)[0]!.items[0] as Thought);
    expect(two).toMatchObject({ id: one!.id, text: "ab" });
    expect(one!.text).toBe("a");
  });
});
