"""A session without an engine, for tests of the wire.

What is sent decides what happens: `wait` runs until it is cancelled, `ask` puts a question to the user, `print`
pollutes standard output, `service [name, …]` asks the editor's language servers, `bug` raises, `thread` keeps a worker thread for ever, `loop` holds up the event loop, `words a b c` streams the words, `compact` compacts first, anything else is
answered at once.

The title of a chat decides how it is compacted: `hold` until another chat is updated, `timeout` as if the summary took
too long, `few` with nothing to archive, `late` begins only when another chat is updated, `bug` raises, anything else
at once.
"""

from __future__ import annotations

import asyncio
import base64
import ctypes
import gc
import hashlib
import json
import os
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from codelaw.domain.chats import Chat, TurnResult
from codelaw.domain.checkpoints import Checkpoint, CompactionReport
from codelaw.domain.code import Position, Span
from codelaw.domain.edits import (
    CheckpointFile,
    CheckpointReport,
    RevertConflict,
    RevertReport,
    ReviewedFile,
    TurnChange,
)
from codelaw.domain.errors import Refusal, ToolFailure
from codelaw.domain.events import (
    AnswerDelta,
    ChatEvent,
    CompactionEvent,
    NoticeEvent,
    SteerEvent,
    ToolCallEvent,
    TurnEnded,
    TurnStarted,
)
from codelaw.domain.extensions import AgentList, AgentSheet, BuiltInAgent, Sheet, Skill, UserCommand
from codelaw.domain.laws import LawState, NamedPath
from codelaw.domain.media.images import Picture
from codelaw.domain.memories import Memory, Recalled, Saved
from codelaw.domain.messages import Message
from codelaw.domain.models import Usage
from codelaw.domain.permissions import ApprovalOption, ApprovalQuestion
from codelaw.domain.reports import (
    ArchiveReport,
    ChatRecord,
    ContextReport,
    LawDocument,
    LawReport,
    Looked,
    MentionItem,
    ModelInfo,
    SectionReport,
)
from codelaw.domain.served import ServerList, ServerState, ServerStateName
from codelaw.ports.cancelling import Cancelled, Scope
from codelaw.ports.code import FoundPlaces, IndexState, Place

OPTIONS = (
    ApprovalOption("once", "Allow once", "allow_once"),
    ApprovalOption("chat", "Always in this chat", "allow_chat", "Bash(ls:*)"),
    ApprovalOption("no", "Reject", "reject"),
)
FOR_EVER = 987654
"""Seconds."""
OVER = 5 << 20
"""Characters of a text that this session refuses."""


class FakeTurn:
    def __init__(self, session: FakeSession, chat_id: str, turn_id: str, text: str) -> None:
        self.chat_id = chat_id
        self.turn_id = turn_id
        self._session = session
        self._cancelled = False
        self._done = asyncio.get_running_loop().create_future()
        self._work = asyncio.ensure_future(self._play(text))
        self._work.add_done_callback(self._finish)

    def cancel(self) -> None:
        self._cancelled = True
        self._work.cancel()

    async def result(self) -> TurnResult:
        return await asyncio.shield(self._done)

    async def _play(self, text: str) -> str:
        if text in {"wait", "late"}:
            self._session.say(self, ToolCallEvent("c1", "Bash", "Run sleep", "running", 1))
            await asyncio.Event().wait()
        if text in {"thread", "loop", "computing"}:
            self._session.say(self, ToolCallEvent("c1", "Bash", "Run sleep", "running", 1))
            await asyncio.sleep(0)
            if text == "loop":
                time.sleep(FOR_EVER)  # noqa: ASYNC251 - that is what it is for
            if text == "computing":
                hashlib.pbkdf2_hmac("sha256", b"", b"", 2**31 - 1)  # no signal interrupts it
            await asyncio.to_thread(time.sleep, FOR_EVER)
        if text == "compact":
            return (await self._session.compact(self.chat_id)).reason
        if text == "ask" or text.startswith("ask "):
            question = ApprovalQuestion(
                self.chat_id, self.turn_id, "c1", "Bash", "Run ls", "execute", OPTIONS, command=text[4:] or "ls -l"
            )
            answer = await self._session.approver.ask(question)
            return f"{answer.option_id}|{answer.comment}"
        if text == "print":
            print("pollution")
            sys.stdout.flush()
            os.write(1, b"more pollution\n")
            ctypes.CDLL(None).puts(b"pollution from C")
            ctypes.CDLL(None).fflush(None)
        if text == "kept":
            return str(gc.get_freeze_count())
        if text == "documents":
            return json.dumps([[item.uri, item.text, item.version] for item in self._session.documents.all()])
        if text.startswith("at "):
            buffer = self._session.documents.at(Path(text[3:]))
            return buffer.text if buffer else "not open"
        if text.startswith("service "):
            return await _served(self._session.services, json.loads(text.removeprefix("service ")))
        for word in text.split()[1:] if text.startswith("words") else ():
            self._session.say(self, AnswerDelta(word, 1))
        return f"you said {text[:40]}"

    def _finish(self, work: asyncio.Future[str]) -> None:
        answer = "" if work.cancelled() else work.result()
        stop = "cancelled" if work.cancelled() else "finished"
        result = TurnResult(self.chat_id, self.turn_id, stop, answer, 1, Usage(1, 2, 3, 4))
        self._session.say(self, TurnEnded(result))
        self._session.running.pop(self.chat_id, None)
        self._done.set_result(result)


async def _served(services: Any, asked: list[Any]) -> str:
    """What the editor answers, as JSON; lists of two numbers are positions, of two such lists spans;
    a last object holds arguments by name."""

    def place(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return Position(*value) if isinstance(value[0], int) else Span(*map(place, value))

    more = asked.pop() if isinstance(asked[-1], dict) else {}
    try:
        answer = await getattr(services, asked[0])(*map(place, asked[1:]), **more)
    except ToolFailure as failure:
        return f"{failure.code}: {failure.message}"
    every = [asdict(item) for item in answer] if isinstance(answer, tuple | list) else answer and asdict(answer)
    return json.dumps(every)


class FakeSession:
    """The methods of `codelaw.app.session.Session` and of most of its resources."""

    def __init__(self, **given: Any) -> None:
        self.settings = given["settings"]
        self.folders = given["folders"]
        self.documents = given["documents"]
        self.approver = given["approver"]
        self.emit = given["emit"]
        self.home = given["home"]
        self.services = given.get("services")
        self.stored: dict[str, Chat] = {}
        self.chats = self.records = self.contexts = self.files = self.laws = self.extensions = self
        self.permissions = self.commits = self
        self.memories, self.servers, self.code = FakeMemories(), FakeServers(), FakeCode()
        self.running: dict[str, FakeTurn] = {}
        self.beginning = asyncio.Event()
        """A turn with the text `late` is about to begin."""
        self.compactions: dict[str, asyncio.Future[CompactionReport]] = {}
        self.archives: dict[str, list[Checkpoint]] = {}
        self.released = asyncio.Event()
        """A chat was updated."""
        self._seq = 0
        self._numbers = 0

    @classmethod
    async def open(cls, **given: Any) -> FakeSession:
        return cls(**given)

    def say(self, turn: FakeTurn, event: Any) -> None:
        self.say_of(turn.chat_id, turn.turn_id, event)

    def say_of(self, chat_id: str, turn_id: str, event: Any) -> None:
        self._seq += 1
        self.emit(ChatEvent(chat_id, turn_id, self._seq, time.time(), event))

    async def create(self, *, title=None, mode=None, model=None, kind=None, **_choices) -> Chat:
        self._numbers += 1
        name = model or self.settings.value.model.chosen_name
        chat = Chat(f"chat{self._numbers}", title or "", kind or "panel", mode or "agent", name, "layered", 1.0, 2.0)
        self.stored[chat.id] = chat
        return chat

    def _chat(self, chat_id: str) -> Chat:
        if chat_id not in self.stored:
            raise Refusal("chat_not_found", f"There is no chat {chat_id}", "List the chats")
        return self.stored[chat_id]

    async def list(self, query, limit, cursor, here):
        if query == "unserialisable":
            return [replace(next(iter(self.stored.values())), created_at=float("nan"))], None
        if query == "bug":
            raise RuntimeError("the secret of the bug")
        if query == "slow":
            await asyncio.Event().wait()
        return list(self.stored.values())[: limit or 50], None

    async def read(self, chat_id, **_page) -> ChatRecord:
        chat = self._chat(chat_id)
        running = self.running.get(chat_id)
        archived = [cut.summary for cut in self.archives.get(chat_id, []) if cut.summary]
        messages = (*archived, Message("m1", "t1", "user", "hello"))
        return ChatRecord(chat, messages, (), running.turn_id if running else None)

    async def send(
        self,
        chat_id,
        text,
        *,
        mode=None,
        model=None,
        attachments=(),
        editor=None,
        kind=None,
        scope=None,
        **_more,
    ):
        if not text.strip() or len(text) > OVER:
            raise Refusal("invalid_text", f"A text of {len(text)} characters cannot be sent", "Send 1 to 5 MB")
        if text == "late":
            self.beginning.set()
            await asyncio.sleep(0.2)
        if text == "begun?":
            await self.beginning.wait()
        chat = await self.create(mode=mode, model=model, kind=kind) if chat_id is None else self._chat(chat_id)
        if chat.id in self.running:
            raise Refusal("chat_busy", "A turn is running", "Wait, steer or cancel")
        self._numbers += 1
        turn = FakeTurn(self, chat.id, f"turn{self._numbers}", text)
        self.running[chat.id] = turn
        if scope is not None:
            scope.becomes(turn)
        self.say(turn, TurnStarted(text[:100]))
        if attachments or editor:
            self.say(turn, NoticeEvent("info", "given", f"{list(attachments)} {editor}"))
        return turn

    async def picture(self, chat_id, digest) -> tuple[str, str]:
        self._chat(chat_id)
        return "image/png", base64.b64encode(digest.encode()).decode()

    async def steer(self, chat_id, text, editor=None, attachments=()) -> str:
        if chat_id not in self.running:
            raise Refusal("turn_not_found", "No turn is running")
        images = tuple(one.image for one in attachments if isinstance(one, Picture))
        self.say(self.running[chat_id], SteerEvent(text, 1, "s1", "waiting", images=images))
        return "s1"

    async def unsteer(self, chat_id, steer_id) -> bool:
        self.say(self.running[chat_id], SteerEvent("left", None, steer_id, "withdrawn"))
        return steer_id == "s1"

    async def stop_call(self, chat_id, call_id) -> bool:
        self._chat(chat_id)
        return call_id == "k1"

    async def cancel(self, chat_id) -> bool:
        self._chat(chat_id)
        turn = self.running.get(chat_id)
        compacting = await self.cancel_compaction(chat_id)
        if turn is None:
            return compacting
        turn.cancel()
        await turn.result()
        return True

    async def update(self, chat_id, *, title=None, mode=None, **_choices) -> Chat:
        chat = self._chat(chat_id)
        self.stored[chat_id] = replace(chat, title=title or chat.title, mode=mode or chat.mode)
        self.released.set()
        return self.stored[chat_id]

    async def delete(self, chat_id) -> None:
        self._chat(chat_id)
        del self.stored[chat_id]

    async def fork(self, chat_id, turn_id) -> Chat:
        source = self._chat(chat_id)
        return await self.create(title=f"{source.title} (fork)", mode=source.mode, model=source.model)

    async def export(self, chat_id, form) -> str:
        return f"{self._chat(chat_id).title} as {form}"

    async def changes(self, chat_id):
        self._chat(chat_id)
        return [
            TurnChange("t1", "file:///w/a.py", "a.py", "modified", 7),
            TurnChange("t1", "file:///w/c.py", "c.py", "created", 8, renamed_from="b.py"),
        ]

    async def reviewed(self, chat_id, uri, above=0) -> ReviewedFile:
        self._chat(chat_id)
        if uri != "file:///w/a.py" or (above or 0) >= 7:
            raise Refusal("nothing_to_undo", "This chat has changed nothing in that file.")
        return ReviewedFile("a.py", "old\n", "new\n", 7)

    async def revert(self, chat_id, turn_id, *, files=None, messages=None, uris=None) -> RevertReport:
        files = files is not False
        self._chat(chat_id)
        conflict = RevertConflict("b.py", "file:///w/b.py", "b.py was removed since.")
        return RevertReport(("file:///w/a.py",) if files else (), (conflict,) if files and messages else ())

    async def checkpoint(self, chat_id, turn_id) -> CheckpointReport:
        self._chat(chat_id)
        lost = CheckpointFile("b.py", "file:///w/b.py", "modify", changed=True, lost="b.py was changed since.")
        return CheckpointReport((lost, CheckpointFile("a.py", "file:///w/a.py", "delete")))

    async def restore_files(self, chat_id, turn_id, overwrite) -> CheckpointReport:
        return replace(await self.checkpoint(chat_id, turn_id), restored=tuple(sorted(overwrite)), undoable=True)

    async def undo_restore(self, chat_id, turn_id) -> CheckpointReport:
        self._chat(chat_id)
        raise Refusal("nothing_to_undo", "Nothing to undo")

    async def inspect(self, chat_id, text, *, strategy=None, strategy_options=None, exact=False) -> ContextReport:
        section = SectionReport("L1", "core", 1, 4, cut=False, cached=True, text="core")
        return ContextReport((section,), 1, 200_000, 160_000, "layered", (), f"[user] {text}")

    async def compact(self, chat_id, scope=None) -> CompactionReport:
        scope = scope or Scope()
        if self._chat(chat_id).title.startswith("late"):
            try:
                await scope.wait(self.released.wait())
            except Cancelled:
                return CompactionReport(False, "cancelled")
        running = self.running.get(chat_id)
        work = self.compactions.get(chat_id)
        if work is None or work.done():
            work = asyncio.ensure_future(self._compact(self._chat(chat_id), running.turn_id if running else ""))
            self.compactions[chat_id] = work
        scope.becomes(work)  # pyright: ignore[reportArgumentType] - a task is cancelled alike
        return await asyncio.shield(work)

    async def _compact(self, chat: Chat, turn_id: str) -> CompactionReport:
        self.say_of(chat.id, turn_id, CompactionEvent("started"))
        self._numbers += 1
        id_ = f"cut{self._numbers}"
        try:
            if chat.title == "few":
                report = CompactionReport(False, "rounds_not_enough", rounds_kept=3, tokens_before=9, tokens_after=9)
                self.say_of(chat.id, turn_id, CompactionEvent("finished", report))
                return report
            self.say_of(chat.id, turn_id, CompactionEvent("summarising"))
            if chat.title == "hold":
                await self.released.wait()
            if chat.title.endswith("bug"):
                raise RuntimeError("the secret of the bug")
        except asyncio.CancelledError:
            report = CompactionReport(False, "cancelled", rounds_kept=24, tokens_before=161_000, tokens_after=161_000)
            self.say_of(chat.id, turn_id, CompactionEvent("cancelled", report))
            return report
        report = CompactionReport(True, "manual", 14, 10, 161_000, 62_000, 8.2, "model", id_)
        cut = Checkpoint(id_, "t15", 1000.5, 14, Message(f"summary_{id_}", "t14", "summary", f"# Summary {id_}"))
        if chat.title == "timeout":
            said = "Summary generation timed out, keeping recent history only."
            report = replace(report, reason="summary_timed_out", summary="none", message=said)
            cut = replace(cut, summary=None, by="none")
        self.archives.setdefault(chat.id, []).append(cut)
        self.say_of(chat.id, turn_id, CompactionEvent("finished", report))
        return report

    async def cancel_compaction(self, chat_id) -> bool:
        self._chat(chat_id)
        work = self.compactions.get(chat_id)
        if work is None or work.done():
            return False
        work.cancel()
        await asyncio.wait([work])
        return True

    async def restore(self, chat_id, checkpoint_id) -> Chat:
        cuts = self.archives.get(self._chat(chat_id).id, [])
        ids = [cut.id for cut in cuts]
        if not cuts or (checkpoint_id is not None and checkpoint_id not in ids):
            raise Refusal("nothing_to_undo", "There is no such compaction to undo", "Read the archive")
        del cuts[ids.index(checkpoint_id) if checkpoint_id is not None else -1 :]
        self.stored[chat_id] = replace(self.stored[chat_id], generation=self.stored[chat_id].generation + 1)
        return self.stored[chat_id]

    async def archive(self, chat_id) -> ArchiveReport:
        cuts = tuple(self.archives.get(self._chat(chat_id).id, ()))
        return ArchiveReport("\n\n".join(cut.summary.content if cut.summary else "No summary." for cut in cuts), cuts)

    async def report(self) -> LawReport:
        documents = tuple(
            LawDocument(folder.name, folder.uri, 1, "00", "disk", name="CODE_LAW.md") for folder in self.folders
        )
        return LawReport(bool(documents), documents, "")

    async def state(self) -> LawState:
        return LawState((), 0, 200_000)

    async def named_paths(self, paths, *, counted=False):
        return [NamedPath(path, "missing") for path in paths]

    async def looked_at(self, uri):
        return Looked("", "outside") if uri.startswith("git:") else Looked(uri.rpartition("/")[2])

    async def mentions(self, prefix, limit, typed_in=None):
        return [MentionItem(f"{prefix}{number}.py", "file") for number in range(limit or 50)][:3]

    async def commands(self):
        sheets = [Sheet(name, f".codelaw/commands/{name}.md", f"file:///{name}.md", own=False) for name in ("a", "b:c")]
        return [UserCommand(sheet, f"Do {sheet.name}", "[path]" if sheet.name == "a" else "", "x") for sheet in sheets]

    async def skills(self):
        return [Skill(Sheet("pdf", ".codelaw/skills/pdf/SKILL.md", "file:///pdf.md", own=False), "Fill forms")]

    async def agents(self):
        odd = Sheet("odd", ".claude/agents/odd.md", "file:///odd.md", own=False)
        brought = AgentSheet(odd, "", "", ("Read",), problem="It has no text below its head.", refused=True)
        return AgentList(True, (BuiltInAgent("explore", "Finds things out.", "ask"), brought))

    def set_trusted(self, *, trusted: bool) -> None:
        del trusted

    async def rule_notices(self):
        return []

    def models(self):
        return [ModelInfo(self.settings.value.model.chosen_name, 200_000, 8_000, "offline", current=True)]

    async def models_now(self, *, discover: bool = False):
        del discover
        return self.models(), []

    async def warm(self) -> None:
        self.warmed = True

    def set_folders(self, folders) -> None:
        self.folders = folders

    def reconfigure(self, settings) -> None:
        self.settings = settings

    async def close(self) -> None:
        for chat_id in self.compactions:
            await self.cancel_compaction(chat_id)
        for turn in list(self.running.values()):
            turn.cancel()
            await turn.result()


class FakeServers:
    def __init__(self) -> None:
        self.server_states: dict[str, ServerStateName] = {"desk": "ready", "odd": "needs_trust"}
        self.asking: set[str] = set()

    async def start(self) -> None:
        self.started = True

    async def list(self):
        return ServerList(
            tuple(
                ServerState(
                    name, state, 3, "x" * (name == "odd"), ".mcp.json", "d1", name in self.asking, state == "ready"
                )
                for name, state in self.server_states.items()
            ),
            ("It is not JSON.",),
        )

    async def restart(self, name):
        self.server_states[name] = "starting"

    async def log_out(self, name):
        return self.server_states[name] == "ready"

    async def decline(self, name, *, digest):
        self.asking -= {name}
        return await self.list()

    async def enable(self, name, *, enabled, digest=None):
        self.server_states[name] = "starting" if enabled else "off"
        self.asking |= {"desk"} & {name}
        return await self.list()


class FakeCode:
    async def search(self, query, *, path, **_asked):
        place = Place(f"{path}/a.py", 3, 5, query, "function", f"defines: {query}", 1.5, ("def f():", "    pass"))
        return FoundPlaces((place,), self.state()), ["file:///w/a.py"]

    def state(self):
        return IndexState("ready", 2, 3, 0, 0.5, (("binary", 1),))

    async def rebuild(self):
        return replace(self.state(), status="building")


class FakeMemories:
    def __init__(self) -> None:
        self._memories: dict[str, Memory] = {}

    async def save(self, text, *, category=None, scope=None, confidence=None, chat_id=None):
        sure = 0.8 if confidence is None else confidence
        kept = Memory(f"m{len(self._memories) + 1}", text, category or "fact", scope or "user", "ann", sure, 5.5)
        merged = next((one for one in self._memories.values() if one.text == text), None)
        self._memories[(merged or kept).id] = kept if merged is None else replace(kept, id=merged.id)
        return Saved(merged or kept, merged is not None)

    async def list(self, *, scope=None, category=None, limit=None, cursor=None, chat_id=None):
        limit = limit or 100
        fit = [
            one for one in self._memories.values() if scope in (None, one.scope) and category in (None, one.category)
        ]
        begin = int(cursor or 0)
        rest = str(begin + limit) if len(fit) > begin + limit else None
        return fit[begin : begin + limit], rest

    async def search(self, query, *, category=None, limit=None, chat_id=None):
        return [Recalled(one, 0.12345, 0.5) for one in self._memories.values() if query in one.text][:limit]

    async def update(self, memory_id, *, text=None, category=None, scope=None, confidence=None, chat_id=None):
        before = self._memories[memory_id]
        changed = {"text": text, "category": category, "scope": scope, "confidence": confidence}
        after = replace(before, **{name: value for name, value in changed.items() if value is not None})
        self._memories[memory_id] = after
        return after

    async def forget(self, memory_id) -> None:
        del self._memories[memory_id]
