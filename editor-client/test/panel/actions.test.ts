import { describe, expect, it } from "vitest";
import type { Turn } from "../../webview/state";
import { kept } from "../../webview/draft";
import { initial } from "../../webview/store";
import { chat, empty, ended, events, heard, NAMES, record, run, showing, started, stream, told } from "./streams";
import { NOTHING, READY, Refused, readOf, rig, settle, type Rig } from "./extension";

const READ = "codelaw/chat/read";
const SEND = "codelaw/chat/send";

const inChat = (...said: Parameters<typeof heard>): Rig => {
  const state = run(showing(record("c")), { kind: "server", server: READY });
  return rig(run(state, heard(...said)));
};
const write = (made: Rig, text: string): void => made.panel.dispatch({ kind: "composer", composer: { text } });
const turn = (made: Rig, id: string): Turn =>
  made.state().chat!.entries.find((entry): entry is Turn => entry.kind === "turn" && entry.id === id)!;

describe("catching up", () => {
  it.each(NAMES)("gives the whole of %s wherever the connection broke", async (name) => {
    const { events: all, record: whole } = stream(name);
    const stored = [...all, ...whole.events.filter(({ seq }) => seq > all.at(-1)!.seq)];
    for (let cut = 0; cut <= all.length; cut += 1) {
      const made = rig(run(empty(whole), { kind: "server", server: READY }));
      made.answers[READ] = readOf(whole, stored);
      made.event(...all.slice(0, cut));
      await made.actions.catchUp();
      expect(told(made.state()), `broken after ${cut}`).toEqual(told(showing(whole)));
      expect(made.state().problem).toBeNull();
    }
  });

  it("happens by itself when an event is missing, and loses nothing that comes meanwhile", async () => {
    const deltas = ["one ", "two ", "three ", "four "].map((delta) => ({ kind: "answer", delta, step: 1 }));
    const said = events("c", "t1", 1, started("Count"), ...deltas, ended("c", "t1", "one two three four "));
    const made = inChat(said[0]!, said[1]!);
    made.answers[READ] = readOf(record("c"), said.slice(0, 4));
    made.event(said[3]!);
    made.event(said[4]!);
    await settle();
    made.answers[READ] = readOf(record("c"), said);
    made.event(said[5]!);
    await settle();
    expect(turn(made, "t1").items).toMatchObject([{ kind: "answer", text: "one two three four " }]);
    expect(turn(made, "t1").result?.stopReason).toBe("finished");
  });

  it("happens once after every start of the server, and not for one that is dying", async () => {
    const made = inChat();
    made.answers[READ] = readOf(record("c"), []);
    made.receive({ kind: "server", server: { ...READY, phase: "crashed", session: 2 } });
    expect(made.requests(READ)).toHaveLength(0);
    made.receive({ kind: "server", server: { ...READY, session: 3 } });
    made.receive({ kind: "server", server: { ...READY, session: 3 } });
    await settle();
    expect(made.requests(READ)).toHaveLength(1);
  });

  it("looks after a chat that runs in another window, and only when it has been silent", async () => {
    const made = inChat(...events("c", "t1", 1, started("Far away")));
    made.answers[READ] = readOf(record("c"), events("c", "t1", 1, started("Far away"), ended("c", "t1", "Done.")));
    made.habits.heard(10_000);
    made.habits.look(11_000);
    expect(made.requests(READ)).toHaveLength(0);
    made.habits.look(12_500);
    await settle();
    expect(turn(made, "t1").result?.answer).toBe("Done.");
    expect(made.state().chat!.running).toBeNull();
  });
});

describe("a compaction in another window", () => {
  it("is looked after until it has ended", async () => {
    const begun = { kind: "compaction", phase: "started" };
    const made = inChat(...events("c", "", 1, begun));
    made.answers[READ] = readOf(record("c"), events("c", "", 1, begun, { ...begun, phase: "cancelled" }));
    expect(made.state().chat!.compacting).toBe(true);
    made.habits.look(5_000);
    await settle();
    expect(made.state().chat!.compacting).toBe(false);
  });
});

describe("opening a chat", () => {
  it("shows the one that was asked for last, whichever answer comes first", async () => {
    const made = rig();
    made.answers[READ] = () => NOTHING;
    void made.actions.openChat("a");
    void made.actions.openChat("b");
    const [a, b] = made.requests(READ);
    made.answer(b!.id, record("b"));
    made.answer(a!.id, record("a"));
    await settle();
    expect(made.state()).toMatchObject({ opening: null, chat: { chat: { id: "b" } } });
  });

  it("that is gone is told, and a new one is there to write in", async () => {
    const made = rig();
    made.answers[READ] = () => Promise.reject(new Refused("chat_not_found", "There is no such chat."));
    await made.actions.openChat("x");
    expect(made.state()).toMatchObject({ opening: null, chat: null, problem: { message: "There is no such chat." } });
  });

  it("whose server is not there is opened by the next start", async () => {
    const made = rig();
    made.answers[READ] = () => Promise.reject(new Refused("disconnected"));
    await made.actions.openChat("a");
    made.answers[READ] = () => record("a");
    made.answers["codelaw/model/list"] = () => ({ models: [] });
    made.receive({ kind: "server", server: { ...READY, session: 9 } });
    await settle();
    expect(made.state().chat?.chat.id).toBe("a");
  });

  it("reads older turns page by page", async () => {
    const all = [1, 2, 3].flatMap((number) =>
      events("c", `t${number}`, number * 2 - 1, started(`Q${number}`), ended("c", `t${number}`)),
    );
    const made = rig();
    const answer = readOf(record("c"), all);
    made.answers[READ] = (params, id) => answer({ ...params, turns: 1 }, id);
    await made.actions.openChat("c");
    await Promise.all([made.actions.loadEarlier(), made.actions.loadEarlier()]);
    expect(made.state().chat!.entries.map(({ id }) => id)).toEqual(["t2", "t3"]);
    await made.actions.loadEarlier();
    expect(made.state().chat).toMatchObject({ earlier: false, readingEarlier: false });
    expect(made.state().chat!.entries.map(({ id }) => id)).toEqual(["t1", "t2", "t3"]);
  });
});

describe("sending", () => {
  it("shows the text at once, and never twice", async () => {
    const made = rig();
    made.answers[SEND] = () => NOTHING;
    write(made, "Hello");
    void made.actions.send();
    expect(made.state().composer).toMatchObject({ text: "", pending: { text: "Hello", chatId: null } });
    made.event(...events("new", "t1", 1, started("Hello")));
    expect(made.state().composer).toMatchObject({ sending: null, pending: null });
    expect(made.state().chat!.entries).toHaveLength(1);
    await settle();
  });

  it("takes the choices for the next chat along, and the attachments without their labels", () => {
    const made = rig();
    made.answers[SEND] = () => NOTHING;
    made.panel.dispatch({ kind: "next", next: { mode: "plan", strategy: "full" } });
    const range = { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } };
    const attachments = [{ uri: "file:///a.py", range, label: "a.py:2" }];
    made.panel.dispatch({ kind: "composer", composer: { text: "Hi", attachments } });
    void made.actions.send();
    expect(made.requests(SEND)[0]!.params).toEqual({
      text: "Hi",
      attachments: [{ uri: "file:///a.py", range }],
      mode: "plan",
      model: null,
      strategy: "full",
      effort: null,
    });
    expect(made.state().composer.attachments).toEqual([]);
  });

  it("that is refused puts everything back, before what was typed since", async () => {
    const made = inChat();
    made.answers[SEND] = () => NOTHING;
    made.answers[READ] = readOf(record("c"), []);
    const attachments = [{ uri: "file:///a.py", label: "a.py" }];
    made.panel.dispatch({ kind: "composer", composer: { text: "Hello", attachments } });
    const sent = made.actions.send();
    write(made, "and then");
    made.refuse(made.requests(SEND)[0]!.id, "chat_busy");
    await sent;
    expect(made.state().composer).toMatchObject({
      text: "Hello\n\nand then",
      attachments,
      pending: null,
      sending: null,
    });
    expect(made.state().problem).toMatchObject({ code: "chat_busy", hint: "Do something." });
  });

  it("leaves the text alone once its turn has begun, whatever becomes of the server", async () => {
    const made = inChat();
    made.answers[SEND] = () => NOTHING;
    write(made, "Hello");
    const sent = made.actions.send();
    made.event(...events("c", "t1", 1, started("Hello")));
    made.refuse(made.requests(SEND)[0]!.id, "disconnected");
    await sent;
    expect(made.state().composer.text).toBe("");
  });

  it("keeps the text while no server is there, and asks nothing", async () => {
    const made = rig(run(empty(record("c")), { kind: "composer", composer: { text: "Hello" } }));
    await made.actions.send();
    expect(made.state().composer.text).toBe("Hello");
    expect(made.posted).toEqual([]);
    expect(made.state().problem?.hint).toMatch(/kept/);
  });

  it("is a word to the turn while one runs, and begins the next when that is over", async () => {
    const made = inChat(...events("c", "t1", 1, started("Go")));
    made.answers["codelaw/chat/steer"] = () => ({ queued: true });
    write(made, "Faster");
    await made.actions.send();
    expect(made.requests("codelaw/chat/steer")[0]!.params).toEqual({ chatId: "c", text: "Faster" });
    made.answers["codelaw/chat/steer"] = () => Promise.reject(new Refused("turn_not_found"));
    made.answers[SEND] = () => NOTHING;
    write(made, "Again");
    void made.actions.send();
    await settle();
    expect(made.requests(SEND)[0]!.params).toMatchObject({ chatId: "c", text: "Again" });
  });

  it("takes attachments along to a running turn, and has them again when the word is taken back", async () => {
    const made = inChat(...events("c", "t1", 1, started("Go")));
    const attachments = [{ uri: "file:///a.py", label: "a.py" }];
    made.answers["codelaw/chat/steer"] = () => ({ queued: true, id: "s1" });
    made.answers["codelaw/chat/unsteer"] = () => ({ withdrawn: true });
    made.panel.dispatch({ kind: "composer", composer: { text: "Faster", attachments } });
    await made.actions.send();
    expect(made.requests("codelaw/chat/steer")[0]!.params).toMatchObject({ attachments: [{ uri: "file:///a.py" }] });
    expect(made.state().composer).toMatchObject({ text: "", attachments: [] });
    const word = { kind: "steer" as const, id: "steer-s1", step: 1, at: 1, text: "Faster", state: "waiting" as const };
    await made.actions.editSteer(word);
    expect(made.state().composer).toMatchObject({ text: "Faster", attachments });
    const image = { mediaType: "image/png", width: 4, height: 3, size: 9, digest: "d" };
    made.answers["codelaw/chat/picture"] = () => ({ mediaType: "image/png", data: "AA==" });
    made.panel.dispatch({ kind: "composer", composer: { text: "", attachments: [] } });
    await made.actions.editSteer({ ...word, id: "steer-s2", images: [image] });
    const picture = { mediaType: "image/png", data: "AA==" };
    expect(made.state().composer.attachments).toEqual([{ uri: "picture:d", label: "image", picture }]);
    expect(made.requests("codelaw/chat/picture")[0]!.params).toEqual({ chatId: "c", digest: "d" });
  });

  it("puts back what was not taken", async () => {
    const made = inChat(...events("c", "t1", 1, started("Go")));
    const attachments = [{ uri: "file:///a.py", label: "a.py" }];
    made.answers["codelaw/chat/steer"] = () => Promise.reject(new Refused("store_unavailable"));
    made.panel.dispatch({ kind: "composer", composer: { text: "Faster", attachments } });
    await made.actions.send();
    expect(made.state().composer).toMatchObject({ text: "Faster", attachments });
  });

  it("is not forgotten when a word to the turn before fails beside it", async () => {
    const made = inChat(...events("c", "t1", 1, started("Go")));
    made.answers["codelaw/chat/steer"] = () => NOTHING;
    made.answers[SEND] = () => NOTHING;
    write(made, "Faster");
    const steered = made.actions.send();
    made.event(...events("c", "t1", 2, ended("c", "t1")));
    write(made, "And this");
    const sent = made.actions.send();
    made.refuse(made.requests("codelaw/chat/steer")[0]!.id, "turn_not_found");
    await steered;
    expect(made.requests(SEND)).toHaveLength(1);
    expect(made.state().composer).toMatchObject({ text: "Faster", pending: { text: "And this" } });
    made.refuse(made.requests(SEND)[0]!.id, "disconnected");
    await sent;
    expect(made.state().composer).toMatchObject({ text: "And this\n\nFaster", pending: null, sending: null });
  });

  it("that the user stops before it arrives is withdrawn, and told as no problem", async () => {
    const made = rig();
    made.answers[SEND] = () => NOTHING;
    write(made, "Hello");
    const sent = made.actions.send();
    await made.actions.stop();
    const { id } = made.requests(SEND)[0]!;
    expect(made.posted.at(-1)).toEqual({ kind: "withdraw", id });
    made.refuse(id, "cancelled");
    await sent;
    expect(made.state()).toMatchObject({ problem: null, composer: { text: "Hello", pending: null } });
  });

  it("by a command leaves the draft in place", async () => {
    const made = inChat();
    made.answers[SEND] = () => NOTHING;
    write(made, "my draft");
    made.receive({ kind: "ask", text: "Explain this.", attachments: [], newChat: true });
    await settle();
    expect(made.requests(SEND)[0]!.params).toMatchObject({ text: "Explain this." });
    expect(made.state().composer.text).toBe("my draft");
  });
});

describe("a panel that is made anew while a message is on its way", () => {
  const left = (chatId: string | null): Rig => {
    const before = rig(chatId === null ? undefined : run(showing(record("c")), { kind: "server", server: READY }));
    before.answers[SEND] = () => NOTHING;
    write(before, "Hello");
    void before.actions.send();
    write(before, "and then");
    const made = rig(initial(kept(before.state())));
    expect(made.state().composer.text).toBe("Hello\n\nand then");
    made.answers["codelaw/model/list"] = () => ({ models: [] });
    return made;
  };
  const now = Date.now() / 1000;
  const arrived = events("c", "t1", 1, started("Hello")).map((event) => ({ ...event, at: now }));

  it("shows it once when its turn is in the chat", async () => {
    const made = left("c");
    made.answers[READ] = readOf(record("c"), arrived);
    made.receive({ kind: "server", server: READY });
    await settle();
    expect(made.state().composer).toMatchObject({ text: "and then", sent: null });
    expect(made.state().chat!.entries).toHaveLength(1);
  });

  it("shows the chat that it has made", async () => {
    const made = left(null);
    const title = { ...chat("c"), title: "Hello", createdAt: now };
    made.answers["codelaw/chat/list"] = () => ({ chats: [title] });
    made.answers[READ] = readOf(record("c"), arrived);
    made.receive({ kind: "server", server: READY });
    await settle();
    expect(made.state()).toMatchObject({ chat: { chat: { id: "c" } }, composer: { text: "and then" } });
  });

  it("takes it in when its turn begins only then", async () => {
    const made = left(null);
    made.answers["codelaw/chat/list"] = () => ({ chats: [] });
    made.receive({ kind: "server", server: READY });
    await settle();
    made.event(...arrived);
    expect(made.state()).toMatchObject({ chat: { chat: { id: "c" } }, composer: { text: "and then" } });
  });

  it("keeps it as a draft when it has not arrived", async () => {
    const made = left("c");
    made.answers[READ] = readOf(record("c"), events("c", "t1", 1, started("Hello"), ended("c", "t1")));
    made.receive({ kind: "server", server: READY });
    await settle();
    expect(made.state().composer.text).toBe("Hello\n\nand then");
  });
});

describe("a question by a command", () => {
  it("waits for the chat that is being read", async () => {
    const made = rig(initial({ chatId: "c", draft: "", attachments: [] }));
    made.answers[READ] = () => record("c");
    made.answers["codelaw/model/list"] = () => ({ models: [] });
    made.answers[SEND] = () => NOTHING;
    made.receive({ kind: "server", server: READY });
    made.receive({ kind: "ask", text: "Explain this.", attachments: [], newChat: false });
    await settle();
    expect(made.requests(SEND)[0]!.params).toMatchObject({ chatId: "c", text: "Explain this." });
  });
});

describe("going back", () => {
  const two = [
    ...events("c", "t1", 1, started("One"), ended("c", "t1", "1")),
    ...events("c", "t2", 3, started("Two"), ended("c", "t2", "2")),
  ];

  it("retries the last turn in its chat, which the model forgets first", async () => {
    const made = inChat(...two);
    made.answers["codelaw/chat/revert"] = () => ({ reverted: [], conflicts: [] });
    made.answers[SEND] = () => NOTHING;
    void made.actions.retry(turn(made, "t2"));
    await settle();
    const forget = { chatId: "c", turnId: "t2", files: false, messages: true };
    expect(made.requests("codelaw/chat/revert")[0]!.params).toEqual(forget);
    expect(made.requests(SEND)[0]!.params).toMatchObject({ chatId: "c", text: "Two" });
  });

  it("carries out a plan: in agent mode, with a message of its own", async () => {
    const made = inChat(...two);
    made.answers["codelaw/chat/update"] = () => chat("c", { mode: "agent" });
    made.answers[SEND] = () => NOTHING;
    void made.actions.carryOut();
    await settle();
    expect(made.requests("codelaw/chat/update")[0]!.params).toEqual({ chatId: "c", mode: "agent" });
    expect(made.requests(SEND)[0]!.params).toMatchObject({ chatId: "c", text: "Carry out the plan." });
  });

  it("retries an older turn in a fork that ends before it", async () => {
    const made = inChat(...two);
    made.answers["codelaw/chat/fork"] = () => chat("f");
    made.answers[READ] = () => record("f");
    made.answers[SEND] = () => NOTHING;
    void made.actions.retry(turn(made, "t1"));
    await settle();
    expect(made.requests("codelaw/chat/fork")[0]!.params).toEqual({ chatId: "c", turnId: null });
    expect(made.requests(SEND)[0]!.params).toMatchObject({ chatId: "f", text: "One" });
    expect(made.state().chat!.chat.id).toBe("f");
  });

  it("edits a turn in a fork, and gives the draft back that stood there", async () => {
    const made = inChat(...two);
    made.answers["codelaw/chat/fork"] = () => chat("f");
    made.answers[READ] = () => record("f");
    made.answers[SEND] = () => NOTHING;
    write(made, "my draft");
    made.actions.edit(turn(made, "t2"));
    await settle();
    expect(made.state().composer).toMatchObject({ text: "Two", editing: { chatId: "c", turnId: "t2", before: "t1" } });
    write(made, "Two, better");
    void made.actions.send();
    await settle();
    expect(made.requests("codelaw/chat/fork")[0]!.params).toEqual({ chatId: "c", turnId: "t1" });
    expect(made.requests(SEND)[0]!.params).toMatchObject({ chatId: "f", text: "Two, better" });
    expect(made.state().composer).toMatchObject({ text: "my draft", editing: null });
  });

  it("keeps the edited text when the fork is refused", async () => {
    const made = inChat(...two);
    made.answers["codelaw/chat/fork"] = () => Promise.reject(new Refused("store_unavailable"));
    made.actions.edit(turn(made, "t2"));
    await settle();
    write(made, "Two, better");
    await made.actions.send();
    expect(made.state()).toMatchObject({
      composer: { text: "Two, better", editing: { turnId: "t2" } },
      problem: { code: "store_unavailable" },
    });
  });

  it("gives the draft back when the edit is left", async () => {
    const made = inChat(...two);
    write(made, "my draft");
    made.actions.edit(turn(made, "t1"));
    await settle();
    made.actions.cancelEdit();
    expect(made.state().composer).toMatchObject({ text: "my draft", editing: null });
  });

  it("sends an edited turn once, however often Enter is pressed, and keeps what is typed meanwhile", async () => {
    const made = inChat(...two);
    made.answers["codelaw/chat/fork"] = () => NOTHING;
    made.answers[READ] = () => record("f");
    made.answers[SEND] = () => NOTHING;
    write(made, "my draft");
    made.actions.edit(turn(made, "t2"));
    await settle();
    void made.actions.send();
    void made.actions.send();
    write(made, "my draft, longer");
    void made.actions.send();
    const forks = made.requests("codelaw/chat/fork");
    expect(forks).toHaveLength(1);
    expect(kept(made.state()).draft).toBe("Two\n\nmy draft, longer");
    made.answer(forks[0]!.id, chat("f"));
    await settle();
    expect(made.requests(SEND).map(({ params }) => params["text"])).toEqual(["Two"]);
    expect(made.state().composer).toMatchObject({ text: "my draft, longer", editing: null });
  });

  it.each(["t1", "t2"])("retries %s once, however often it is asked to", async (id) => {
    const made = inChat(...two);
    made.answers["codelaw/chat/fork"] = () => chat("f");
    made.answers["codelaw/chat/revert"] = () => ({ reverted: [], conflicts: [] });
    made.answers[READ] = () => record("f");
    made.answers[SEND] = () => NOTHING;
    const again = turn(made, id);
    void made.actions.retry(again);
    void made.actions.retry(again);
    await settle();
    void made.actions.retry(again);
    await settle();
    expect(made.requests(SEND)).toHaveLength(1);
  });

  it("sends nothing that was stopped before its fork was there", async () => {
    const made = inChat(...two);
    made.answers["codelaw/chat/fork"] = () => NOTHING;
    made.answers["codelaw/chat/cancel"] = () => ({ cancelled: false });
    made.answers[READ] = () => record("f");
    made.actions.edit(turn(made, "t2"));
    await settle();
    const sent = made.actions.send();
    await made.actions.stop();
    made.answer(made.requests("codelaw/chat/fork")[0]!.id, chat("f"));
    await sent;
    expect(made.requests(SEND)).toEqual([]);
    expect(made.state().composer).toMatchObject({
      text: "Two",
      sending: null,
      pending: null,
      editing: { turnId: "t2" },
    });
  });

  it("goes on with an edit after the panel was made anew, and gives the draft back", async () => {
    const made = inChat(...two);
    write(made, "my draft");
    made.actions.edit(turn(made, "t2"));
    await settle();
    const anew = rig(run(initial(kept(made.state())), { kind: "server", server: READY }));
    expect(anew.state().composer).toMatchObject({ text: "Two", editing: { chatId: "c", turnId: "t2", before: "t1" } });
    anew.actions.cancelEdit();
    expect(anew.state().composer).toMatchObject({ text: "my draft", editing: null });
  });

  it("is not what a question by a command is sent with", async () => {
    const made = inChat(...two);
    made.answers[SEND] = () => NOTHING;
    made.actions.edit(turn(made, "t2"));
    await settle();
    made.receive({ kind: "ask", text: "Explain this.", attachments: [], newChat: false });
    await settle();
    expect(made.requests("codelaw/chat/fork")).toEqual([]);
    expect(made.requests(SEND)[0]!.params).toMatchObject({ chatId: "c", text: "Explain this." });
    expect(made.state().composer).toMatchObject({ text: "Two", editing: { turnId: "t2" } });
  });

  it("undoes a turn's files, and gives what was left alone", async () => {
    const made = inChat(...two);
    const conflicts = [{ uri: "file:///b.py", reason: "b.py was changed since." }];
    made.answers["codelaw/chat/revert"] = () => ({ reverted: ["file:///a.py"], conflicts });
    expect(await made.actions.revert(turn(made, "t2"))).toEqual(conflicts);
    expect(turn(made, "t2").reverted).toBe(false);
    made.answers["codelaw/chat/revert"] = () => ({ reverted: ["file:///b.py"], conflicts: [] });
    await made.actions.revert(turn(made, "t2"));
    expect(made.state().problem).toBeNull();
    expect(turn(made, "t2").reverted).toBe(true);
  });
});

describe("an older server", () => {
  it("is not sent what it does not know, and the user is told", async () => {
    const made = inChat();
    made.panel.dispatch({ kind: "server", server: { ...READY, methods: [SEND, READ] } });
    await made.actions.compact();
    expect(made.posted).toEqual([]);
    expect(made.state().problem).toMatchObject({ code: "unknown_method" });
    expect(made.state().problem?.hint).toMatch(/Update/);
  });
});

describe("when another model may be asked", () => {
  it("the picker of the chat at hand and that of the next one name it, and the list of chats too", async () => {
    const named = (model: string) => ({ ...chat("c", { model }) });
    const made = rig(run(showing(record("c")), { kind: "server", server: READY }));
    made.answers["codelaw/model/list"] = () => ({
      models: [{ name: "new", contextWindow: 1, maxOutput: 1, provider: "anthropic", current: true, family: "new", source: "profile" }],
    });
    made.answers["codelaw/chat/read"] = () => ({ ...record("c"), chat: named("new") });
    made.answers["codelaw/chat/list"] = () => ({ chats: [named("new")] });
    made.panel.dispatch({ kind: "chats", query: "", chats: [named("old")], nextCursor: null, more: false });
    made.panel.dispatch({ kind: "page", page: "chats" });
    expect(made.state().chat?.chat.model).toBe("m");
    made.receive({ kind: "modelChanged" });
    await settle();
    expect(made.state().chat?.chat.model).toBe("new");
    expect(made.state().models.map(({ name }) => name)).toEqual(["new"]);
    expect(made.state().chats.chats.map(({ model }) => model)).toEqual(["new"]);
    expect(made.requests("codelaw/chat/read").at(-1)?.params).toMatchObject({ chatId: "c", limit: 0 });
  });
});

describe("what another view does to a chat", () => {
  it("is followed: its names change, and one that was deleted gives way to a new one with the draft", () => {
    const made = rig(run(showing(record("c")), { kind: "server", server: READY }));
    made.receive({ kind: "chatChanged", chat: chat("c", { title: "new", model: "other" }) });
    expect(made.state().chat?.chat).toMatchObject({ title: "new", model: "other" });
    made.panel.dispatch({ kind: "composer", composer: { text: "draft" } });
    made.receive({ kind: "chatDeleted", chatId: "other" });
    expect(made.state()).toMatchObject({ chat: { chat: { id: "c" } }, problem: null });
    made.receive({ kind: "chatDeleted", chatId: "c" });
    expect(made.state()).toMatchObject({
      chat: null,
      composer: { text: "draft" },
      problem: { code: "chat_not_found" },
    });
  });
});

describe("permissions", () => {
  const LIST = "codelaw/permission/list";
  const grant = { id: "g", rule: "Bash", scope: "always" };

  it("that cannot be taken back say why, and stay listed", async () => {
    const made = rig();
    made.answers[LIST] = () => ({ grants: [grant] });
    made.answers["codelaw/permission/revoke"] = () => Promise.reject(new Refused("store_unavailable"));
    await made.actions.revokeGrant("g");
    expect(await made.actions.listGrants()).toEqual([grant]);
    expect(made.state().problem?.code).toBe("store_unavailable");
  });
});

describe("the context", () => {
  it("is counted by the vendor only when that is asked for", async () => {
    const made = inChat();
    made.answers["codelaw/context/inspect"] = () => ({ sections: [], exactTokens: 7 });
    made.answers["codelaw/context/archive"] = () => ({ text: "", checkpoints: [] });
    write(made, "Why?");
    await made.actions.inspect();
    await made.actions.count();
    const asked = made.requests("codelaw/context/inspect").map(({ params }) => params);
    expect(asked).toEqual([
      { chatId: "c", text: "Why?" },
      { chatId: "c", text: "Why?", exact: true },
    ]);
    expect(made.state().context.report).toMatchObject({ exactTokens: 7 });
  });
});
