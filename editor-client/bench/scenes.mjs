// The panel in all its states, as values: what the extension tells, what requests get, what is pressed then.
import { READY } from "./page.mjs";

const NOW = Math.floor(Date.now() / 1000);

/** Pixels of a panel that is high enough for a whole page. */
const TALL = 1300;
/** A picture of one pixel. */
const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export const CHAT = {
  id: "c",
  title: "Why does the retry stop after five attempts?",
  kind: "panel",
  mode: "agent",
  model: "claude-sonnet-5",
  strategy: "layered",
  createdAt: 1_760_000_000,
  updatedAt: 1_760_000_600,
  turns: 1,
  running: null,
};
const LONG_NAME = "server/codelaw/adapters/models/anthropic_failures_with_a_very_long_name_indeed.py";
const PROSE = `The retry is decided in [failures.py](src/failures.py:12) and **bounded** by \`MAX_ATTEMPTS\`.

1. The first attempt fails with 529.
2. It waits, *twice as long* each time.

| kind | again | waits |
|---|---|--:|
| overloaded | yes | 8 s |
| auth | no | 0 s |

\`\`\`python
@cached(size=100)
def decide(error: Failure, attempt: int) -> Decision:
    return Decision.RETRY if error.kind in TRANSIENT and attempt < MAX_ATTEMPTS else Decision.STOP  # bounded
    return print("never", None, 5.0)
\`\`\`

> A quote of the rules.
`;
const usage = {
  inputTokens: 12_000,
  cacheReadTokens: 8000,
  cacheWriteTokens: 900,
  outputTokens: 800,
  totalTokens: 21_700,
};
const result = (more = {}) => ({
  chatId: "c",
  turnId: "t1",
  stopReason: "finished",
  answer: PROSE,
  steps: 3,
  usage: { ...usage, costUsd: 0.0421 },
  notices: [],
  changes: [],
  model: "claude-sonnet-5",
  ...more,
});
const started = (text = "Why does the retry stop after five attempts? Look at @src/failures.py") => ({
  kind: "turn_started",
  text,
  mentions: [{ path: "src/failures.py", kind: "file", reminded: true }],
  mentionsLeftOut: 0,
});
const call = (id, tool, title, status, more = {}) => ({
  kind: "tool_call",
  callId: id,
  tool,
  title,
  status,
  step: 1,
  ...more,
});
const thought = (delta) => ({ kind: "thought", delta, step: 1 });
const progress = (delta, step = 1) => ({ kind: "thought", delta, step, progress: true });
const notice = (level, code, message) => ({ kind: "notice", level, code, message, step: 1 });
const answer = (delta) => ({ kind: "answer", delta, step: 3 });
const ended = (more) => ({ kind: "turn_ended", result: result(more) });
const failed = (code, message, hint) =>
  ended({ stopReason: "failed", answer: "", error: { code, message, hint }, changes: [] });
const CALLS = [
  call("1", "Read", "Read src/failures.py", "completed", {
    args: { path: "src/failures.py" },
    summary: "Lines 1-120 of 340.",
  }),
  call("2", "Grep", "Search for MAX_ATTEMPTS", "completed", {
    args: { pattern: "MAX_ATTEMPTS" },
    summary: "4 matches in 2 files.",
  }),
  call("3", "Edit", `Edit ${LONG_NAME}`, "completed", {
    args: { path: LONG_NAME, old_string: "attempt < 5", new_string: "attempt < MAX_ATTEMPTS" },
    summary: "1 place.",
  }),
  call("4", "Bash", "Run the tests", "failed", { args: { command: "pytest -q" }, summary: "Exit status 1." }),
  call("5", "Write", "Write notes.md", "rejected", { summary: "You did not allow it." }),
];
const CHANGES = [
  { uri: "file:///w/src/failures.py", path: "src/failures.py", kind: "modified", added: 12, removed: 3 },
  { uri: "file:///w/n.py", path: LONG_NAME, kind: "created", added: 240, removed: 0 },
  { uri: "file:///w/old.py", path: "old.py", kind: "deleted", added: 0, removed: 57 },
];
const TODO = {
  kind: "todo",
  step: 1,
  items: [
    { content: "Read the failures and the retry", status: "completed" },
    {
      content: "Bound the attempts by a constant that has a name, and say so in the rules and in the documents",
      status: "in_progress",
    },
    { content: "Run the tests", status: "pending" },
    { content: "Rename everything", status: "cancelled" },
  ],
};
const OPTIONS = [
  { id: "once", title: "Allow once", kind: "allow_once" },
  { id: "chat", title: "Allow in this chat", kind: "allow_chat", rule: "Bash(pytest:*)" },
  { id: "always", title: "Always allow", kind: "allow_always", rule: "Bash(pytest:*)" },
  { id: "reject", title: "Reject", kind: "reject" },
];
const approval = (request) => ({
  kind: "approval",
  approval: {
    id: 1,
    request: {
      chatId: "c",
      turnId: "t1",
      callId: "9",
      tool: "Bash",
      title: "Run pytest -q",
      risk: "execute",
      preview: {},
      options: OPTIONS,
      ...request,
    },
  },
});
const DIFF = `--- a/src/failures.py
+++ b/src/failures.py
@@ -10,4 +10,5 @@
 def decide(error, attempt):
-    return attempt < 5
+    # Bounded by a constant, so that the documents can name it and nobody has to count the lines of the table.
+    return attempt < MAX_ATTEMPTS
`;
const REPORT = {
  sections: [
    { layer: "L1", name: "core", tokens: 1800, chars: 5000, cut: false, cached: true, text: "You are codelaw." },
    { layer: "L1", name: "tools", tokens: 3200, chars: 9400, cut: false, cached: true, text: "Read, Edit" },
    { layer: "L2", name: "law", tokens: 900, chars: 2500, cut: false, cached: true, text: "# Law" },
    { layer: "L3", name: "history", tokens: 52_345, chars: 150_000, cut: false, cached: true, text: "x" },
    { layer: "turn", name: "question", tokens: 90, chars: 300, cut: false, cached: true, text: "What now?" },
    { layer: "turn", name: "scratchpad", tokens: 14_300, chars: 40_000, cut: true, cached: false, text: "Thought" },
  ],
  totalTokens: 72_635,
  contextWindow: 200_000,
  threshold: 160_000,
  strategy: "layered",
  dropped: [{ name: "memory", reason: "It took longer than 500 ms." }],
  text: "",
  kept: "12 of 26 rounds (48 messages)",
  budget: [
    { part: "system", share: 36_723, tokens: 3900, over: false },
    { part: "input", share: 9180, tokens: 14_390, over: true },
  ],
  model: "claude-sonnet-5",
};
const ARCHIVE = {
  text: "",
  checkpoints: [
    { id: "first", at: 1_760_000_000, roundsArchived: 8, summary: "model", text: "## Goal\nMend add." },
    { id: "second", at: 1_760_000_600, roundsArchived: 6, summary: "none", text: "" },
  ],
};
const MEMORIES = [
  {
    id: "m1",
    text: "Tests run by `python3 dev.py test`, never by make.",
    category: "preference",
    scope: "project",
    belongsTo: "w",
    confidence: 0.9,
    createdAt: 1_760_000_000,
    uses: 3,
  },
  {
    id: "m2",
    text: "The user wants short answers in plain English, with the file and the line of what is said.",
    category: "constraint",
    scope: "user",
    belongsTo: "u",
    confidence: 0.7,
    createdAt: 1_760_000_000,
    uses: 0,
  },
];
const SERVERS = [
  { name: "issues", state: "ready", tools: 12, source: "/w/.mcp.json" },
  { name: "browser", state: "failed", tools: 0, message: "It did not start within 30 s.", source: "/w/.mcp.json" },
  { name: "docs", state: "needs_auth", tools: 0, message: "Log in with the browser.", source: "/w/.mcp.json" },
  {
    name: "unknown-one",
    state: "needs_trust",
    tools: 0,
    message: "It would run `npx -y @somebody/server --root /w`.",
    source: "/w/.mcp.json",
    digest: "d",
    ask: true,
  },
  { name: "off-one", state: "off", tools: 0, source: "/srv/u/mcp.json" },
];
const AGENTS = [
  { name: "explore", description: "Finds things out.", mode: "ask" },
  { name: "general", description: "Does a whole piece of work." },
  {
    name: "reviewer",
    description: "Reads a change and says what is wrong with it.",
    uri: "file:///w/.codelaw/agents/reviewer.md",
    source: ".codelaw/agents/reviewer.md",
    tools: ["Read", "Grep"],
    model: "claude-haiku-4-5",
    maxTurns: 12,
  },
  {
    name: "plan",
    description: "",
    uri: "file:///w/.claude/agents/plan.md",
    source: ".claude/agents/plan.md",
    problem: "The kind plan is built in, and the file does not count.",
    refused: true,
  },
];
const SKILLS = [
  {
    name: "release",
    description: "How a release is made: version, changelog, tag.",
    uri: "file:///w/s.md",
    source: "workspace",
  },
  {
    name: "broken",
    description: "",
    uri: "file:///w/b.md",
    source: "user",
    problem: "Its front matter cannot be read.",
    unreadable: true,
  },
];
const ANSWERS = {
  "codelaw/model/list": {
    models: [
      { name: "claude-sonnet-5", contextWindow: 200_000, maxOutput: 64_000, provider: "anthropic", current: true },
      {
        name: "a-model-of-another-vendor-with-a-long-name",
        contextWindow: 1_000_000,
        maxOutput: 8000,
        provider: "openai",
      },
    ],
  },
  "codelaw/permission/list": {
    grants: [
      {
        id: "g1",
        rule: "Bash(pytest:*)",
        scope: "always",
        folder: "/srv/projects/a-folder-with-a-long-name/codelaw",
      },
      { id: "g2", rule: "Edit(docs/**)", scope: "chat" },
    ],
  },
  "codelaw/permission/audit": {
    entries: [
      {
        at: 1_760_000_000,
        chatId: "c",
        kind: "call",
        tool: "Bash",
        title: "Run pytest -q",
        decision: "allow",
        by: "user",
        rule: "Bash(pytest:*)",
      },
      {
        at: 1_760_000_100,
        chatId: "c",
        kind: "violation",
        tool: "Bash",
        title: "cat ~/.ssh/id",
        decision: "violation",
        by: "sandbox",
        detail: "It tried to read what is hidden.",
      },
    ],
  },
  "codelaw/memory/list": { memories: MEMORIES },
  "codelaw/mcp/list": { servers: SERVERS, problems: ["/w/.mcp.json: `browser2` has no command."] },
  "codelaw/skill/list": { skills: SKILLS },
  "codelaw/agent/list": { enabled: true, agents: AGENTS },
  "codelaw/command/list": { commands: [] },
  "codelaw/context/mentions": {
    items: [
      { path: "src/failures.py", kind: "file" },
      { path: LONG_NAME, kind: "file" },
      { path: "src", kind: "folder" },
    ],
  },
  "codelaw/context/editor": { path: "src/failures.py" },
  "codelaw/context/inspect": REPORT,
  "codelaw/context/archive": ARCHIVE,
  "codelaw/chat/list": {
    chats: [
      { ...CHAT, running: "t1" },
      {
        ...CHAT,
        id: "d",
        title: "Another chat with a title that is far too long for a narrow panel and goes on",
        turns: 42,
        mode: "plan",
      },
      { ...CHAT, id: "e", title: "", turns: 0 },
    ],
  },
};

/** A scene whose chat has had these events; the newest turn runs unless it has ended. */
const chat = (name, said, more = {}) => {
  const events = said.map((event, place) => ({
    chatId: "c",
    turnId: more.turnId ?? "t1",
    seq: place + 1,
    at: NOW - 90 + place,
    event,
  }));
  const running = said.some(({ kind }) => kind === "turn_ended") || said.length === 0 ? null : "t1";
  const record = { chat: { ...CHAT, running }, messages: [], events, running, earlier: false };
  return {
    name,
    kept: { chatId: "c", draft: more.draft ?? "", attachments: more.attachments ?? [] },
    ...more,
    answers: { ...ANSWERS, "codelaw/chat/read": record, ...more.answers },
  };
};
const banner = (name, server) => ({ name, answers: ANSWERS, server: { ...READY, ...server } });
const page = (name, shown, more = {}) =>
  chat(name, [started(), ...CALLS, answer(PROSE), ended({ changes: CHANGES })], {
    tell: [{ kind: "show", page: shown }],
    ...more,
  });

export const SCENES = [
  { name: "empty", answers: ANSWERS },
  banner("missing", {
    phase: "missing",
    session: 0,
    message: "There is no codelaw server on this machine yet.",
    actions: [
      { title: "Install Server", command: "codelaw.installServer" },
      { title: "Choose Python…", command: "codelaw.choosePython" },
      { title: "Logs", command: "codelaw.showLogs" },
    ],
  }),
  banner("installing", {
    phase: "installing",
    session: 0,
    message: "The server is being installed: Downloading numpy.",
    actions: [{ title: "Logs", command: "codelaw.showLogs" }],
  }),
  banner("crashed", {
    phase: "crashed",
    message: "The server has ended six times in three minutes: it ended with status 1.",
    actions: [
      { title: "Restart", command: "codelaw.restart" },
      { title: "Logs", command: "codelaw.showLogs" },
    ],
  }),
  banner("offline", { offline: true }),
  banner("restricted", { restricted: true }),
  chat("finished", [
    started(),
    thought("I read the file first, then the rules. "),
    ...CALLS,
    answer(PROSE),
    ended({ changes: CHANGES }),
  ]),
  chat(
    "running",
    [
      started(),
      thought("I read the file first. "),
      CALLS[0],
      call("6", "Bash", "Run pytest -q --maxfail=1", "running", {
        args: { command: "pytest -q" },
        startedAt: NOW - 60,
      }),
      TODO,
      { kind: "usage", ...usage, contextTokens: 130_000, contextWindow: 200_000, step: 1 },
    ],
    { draft: "And look at the documents too" },
  ),
  chat("subagent", [
    started("Explore the retry"),
    call("7", "Task", "Explore how retries are decided", "running", { args: { prompt: "Explore" } }),
    call("8", "Grep", "Search for retry", "completed", { parent: "7", summary: "12 matches in 5 files." }),
    call("10", "Read", `Read ${LONG_NAME}`, "running", { parent: "7" }),
  ]),
  chat("approval of a command", [started(), call("9", "Bash", "Run pytest -q", "awaiting_approval")], {
    tell: [
      approval({
        preview: { command: "pytest -q tests/adapters && git push --force origin main" },
        description: "Runs the tests, then pushes.",
      }),
    ],
  }),
  chat("approval of an edit", [started(), call("9", "Edit", "Edit src/failures.py", "awaiting_approval")], {
    tell: [approval({ tool: "Edit", title: "Edit src/failures.py", risk: "write", preview: { diff: DIFF } })],
  }),
  chat("approval of sending", [started()], {
    tell: [
      approval({
        tool: "",
        title: "Send this chat to api.example.com",
        risk: "send",
        preview: {},
        options: [
          { id: "once", title: "Send this chat to api.example.com", kind: "allow_once" },
          { id: "no", title: "Do not send", kind: "reject" },
        ],
      }),
    ],
  }),
  chat(
    "waiting words",
    [
      started(),
      CALLS[0],
      {
        kind: "steer",
        id: "s1",
        text: "Also look at the documents, and say what is missing in them.",
        state: "waiting",
      },
      { kind: "steer", id: "s2", text: "Told already.", state: "told", step: 1 },
    ],
    { kept: { chatId: "c", draft: "", attachments: [], steers: ["s1", "s2"] } },
  ),
  chat("failed", [
    started(),
    CALLS[0],
    failed("auth_failed", "The vendor does not take the key (401).", "Set another key."),
  ]),
  chat("refused for size", [
    started(),
    ended({
      stopReason: "refused",
      answer: "",
      error: {
        code: "context_overflow",
        message: "The message has 240,000 tokens; 180,000 fit.",
        hint: "Attach less.",
      },
    }),
  ]),
  chat("a silent model", [
    started(),
    CALLS[0],
    notice(
      "warning",
      "model_silent",
      "claude-sonnet-5-5 has sent nothing for 30 s; the request is still open. Wait, or cancel the turn and send the message again: what was done so far is kept.",
    ),
  ]),
  chat("progress notes", [
    started(),
    progress("I have read the failures; the bound stands in the retry. "),
    CALLS[0],
    thought("Five attempts, so the table may be wrong. "),
    progress("Now I compare the table of the rules with what the tests say of it."),
  ]),
  chat("refused by the model", [
    started(),
    thought("I look at it first."),
    ended({
      stopReason: "refused",
      answer: "",
      error: {
        code: "model_refused",
        message: "The model refused to answer (cyber: The request may help an attack).",
        hint: "Word the request differently, or choose another model: the same request is refused again.",
      },
    }),
  ]),
  chat("cache missed", [
    started(),
    answer("It is bounded."),
    ended({
      usage: { ...usage, costUsd: 0.0421, cacheMiss: { reason: "system_changed", words: "the law changed" } },
    }),
  ]),
  chat("cancelled", [
    started(),
    CALLS[0],
    call("6", "Bash", "Run pytest", "interrupted"),
    ended({ stopReason: "cancelled", answer: "" }),
  ]),
  chat("retry and notices", [
    started(),
    { kind: "retry", attempt: 2, inSeconds: 600, reason: "The vendor is overloaded (529).", step: 1 },
    notice("warning", "memory_unavailable", "Memory took longer than 500 ms and was left out."),
    notice("error", "law_unreadable", "AGENTS.md cannot be read."),
    notice("info", "law_changed", "The law has changed."),
  ]),
  chat("compaction", [
    started(),
    CALLS[0],
    {
      kind: "compaction",
      phase: "finished",
      report: {
        compacted: true,
        reason: "threshold",
        checkpointId: "k",
        roundsArchived: 8,
        roundsKept: 4,
        tokensBefore: 162_000,
        tokensAfter: 48_000,
        summary: "model",
        seconds: 12.4,
        thinned: 14,
        message: "",
      },
    },
    { kind: "compaction", phase: "summarising" },
  ]),
  chat("hooks", [
    started(),
    CALLS[0],
    {
      kind: "hook",
      id: "h1",
      name: "ruff check --fix",
      event: "PostToolUse",
      status: "failed",
      seconds: 1.2,
      message: "2 errors are left.",
      step: 1,
      callId: "1",
    },
    { kind: "hook", id: "h2", name: "notify", event: "Stop", status: "running", seconds: 0 },
  ]),
  chat("attachments", [], {
    draft: "What does this do?",
    attachments: [
      { uri: "file:///w/a.py", label: "src/a.py:10-24" },
      { uri: "file:///w/b.py", label: LONG_NAME },
      { uri: "picture:1", label: "picture.png", picture: { mediaType: "image/png", data: DOT } },
    ],
    tell: [{ kind: "looking", looking: { uri: "file:///w/src/failures.py", label: "src/failures.py:12-16" } }],
  }),
  chat("open calls", [started(), ...CALLS, ended({ answer: "" })], {
    press: [".log article button[aria-expanded=false], article [aria-expanded=false]", ".call > summary"],
    height: TALL,
  }),
  chat("mentions", [], { type: "@s" }),
  page("chats", "chats"),
  page("context", "context", { height: TALL }),
  page("permissions", "permissions", { height: TALL }),
  page("audit", "audit"),
];
