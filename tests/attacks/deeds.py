"""What attacks do that no command line can say: by our own tools, by rules, by what codelaw starts."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from codelaw.agent.hooks.running import Hooks
from codelaw.agent.recording.outbox import Outbox
from codelaw.agent.recording.turn_record import TurnRecord
from codelaw.agent.services import ChatServices
from codelaw.agent.turn.approval import Gate, Policy
from codelaw.agent.turn.pending import PendingMessages
from codelaw.agent.turn.running import TurnRun
from codelaw.agent.turn.turn import Executor, planned
from codelaw.app.hooking import declared
from codelaw.app.obeyed_paths import obeyed_paths
from codelaw.domain.chats import Chat, Mode
from codelaw.domain.files import Folder
from codelaw.domain.messages import Call, Message
from codelaw.domain.permissions import ApprovalAnswer, ApprovalQuestion
from codelaw.domain.results import ToolResult
from codelaw.permissions.options import options_for
from codelaw.permissions.policy import CallFacts, Default, Rules, judge
from codelaw.permissions.rules import parse
from codelaw.settings.model import Settings
from tests.agent.planning import inputs_of
from tests.attacks.row import Action, Attack, NotRun
from tests.attacks.world import SECRET, World
from tests.fakes.book import Book
from tests.fakes.desk import Desk, make_desk

TOOLS = ("Read", "LS", "Glob", "Grep", "Write", "Edit", "MultiEdit")


def desk_of(world: World, **more: Any) -> Desk:
    """The tools on the workspace of a world."""
    root = world.ws.resolve()
    return make_desk(Folder(root.name, root, root.as_uri()), **more)


def arguments(tool: str, path: str) -> dict[str, Any]:
    """A call of `tool` that reads `path` or writes `pwned` there."""
    folder = path.removesuffix("/a.txt")
    return {
        "Read": {"path": path},
        "Write": {"path": path, "content": "pwned"},
        "Edit": {"path": path, "old_string": SECRET, "new_string": "pwned"},
        "MultiEdit": {"path": path, "edits": [{"old_string": SECRET, "new_string": "pwned"}]},
        "LS": {"path": folder, "hidden": True},
        "Glob": {"path": folder, "pattern": "*"},
        "Grep": {"path": path, "pattern": "MARK"},
    }[tool]


def by_tools(path: str, tools: Sequence[str] = TOOLS) -> Action:
    """Calls each tool with a path, with words of the world in braces."""

    async def act(world: World) -> list[str]:
        desk = desk_of(world)
        named = path
        for word, value in world.words().items():
            named = named.replace(f"{{{word}}}", str(value))
        found: list[str] = []
        for tool in tools:
            async with asyncio.timeout(150):
                result = await desk(tool, **arguments(tool, named))
            reported = str(result.data)
            if SECRET in reported or SECRET in result.text:
                found.append(f"{tool} read a secret")
            if "a.txt" in str(result.data.get("entries", result.data.get("files", ""))):
                found.append(f"{tool} listed what lies outside")
        written = [one for one in world.ws.rglob("*") if one.is_file() and not one.is_symlink() and _pwned(one)]
        found += [
            f"wrote {one}"
            for one in written
            if {".git", ".codelaw"} & {part.lower().rstrip(". ") for part in one.parts}
        ]
        return found + await asyncio.to_thread(world.breaches)

    return act


def _pwned(path: Path) -> bool:
    try:
        return b"pwned" in path.read_bytes()
    except OSError:
        return False


@dataclass
class Asked:
    """An approver who always says the same, and remembers what it was asked."""

    answer: str | None = None
    questions: list[ApprovalQuestion] = field(default_factory=list)

    async def ask(self, question: ApprovalQuestion) -> ApprovalAnswer:
        self.questions.append(question)
        return ApprovalAnswer(self.answer)


@dataclass
class Heard(TurnRecord):
    """A turn that keeps results as the tools gave them."""

    heard: list[ToolResult] = field(default_factory=list)

    async def observe(self, caller: Message, call: Call, result: ToolResult, behind: Sequence[Any] = ()) -> None:
        self.heard.append(result)


@dataclass
class Answers:
    """What came of some calls of a model's."""

    results: list[ToolResult]
    questions: list[ApprovalQuestion]

    @property
    def said(self) -> str:
        return "\n".join(f"{one.text} {one.data} {one.error}" for one in self.results)


async def called(
    world: World,
    *calls: tuple[str, Mapping[str, Any]],
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
    default: Default = "ask",
    restricted: bool = False,
    mode: Mode = "agent",
    desk: Desk | None = None,
    settings: Mapping[str, Any] | None = None,
    answer: str | None = None,
) -> Answers:
    """Runs calls as a turn does: validated, judged, asked about, and run where that is allowed.

    Of `settings` hooks count, and what they name.
    """
    desk = desk or desk_of(world)
    asked = Asked(answer)
    given, folders = Settings.model_validate(settings or {}), desk.workspace.folders
    policy = Policy(
        mode,
        tuple(map(parse, allow)),
        tuple(map(parse, deny)),
        default,
        sandboxed=True,
        restricted=restricted,
        obeyed=obeyed_paths(given, folders, (), str(world.home)),
    )

    book, said = cast("Any", Book()), Message("say", "t", "assistant", "")
    gate = Gate(policy, asked, book, [])
    outbox = Outbox("c", book, lambda _: None)
    roots = tuple(folder.root for folder in folders)
    processes, path = desk.environment.processes, os.environ["PATH"]
    hooks = Hooks(declared(given.hooks), processes, roots[0], "c", mode, outbox, folders=roots, path=path)
    turn = Heard("c", "t", Message("ask", "t", "user", ""), book, outbox, step=1)
    run = TurnRun(
        record=turn,
        inputs=replace(inputs_of(100_000), toolbox=desk.toolbox),
        typed="",
        chat=Chat("c", "", "panel", "agent", "model", "layered", 1.0, 1.0),
        house=ChatServices(book, desk.workspace, processes, lambda _: None, hooks=hooks if settings else None),
        gate=gate,
        pending=PendingMessages(desk.workspace, gate),
        past=book,
        compacting=book,
        environment=desk.environment,
    )
    executor = Executor(run)
    for number, (name, given) in enumerate(calls):
        await executor.execute([planned(Call(f"call-{number}", name, dict(given)), desk.toolbox)], said)
    await outbox.drain()
    return Answers(turn.heard, asked.questions)


def kept_back(calls: Sequence[tuple[str, Mapping[str, Any]]], deny: Sequence[str], *names: str) -> Action:
    """Calls tools where rules deny paths: no word and no number of what is denied comes out.

    The same calls without the rules have to bring the secret or one of `names`, or the attack proves nothing.
    """

    async def act(world: World) -> list[str]:
        open_to = await called(world, *calls, answer="once")
        if not _telling(open_to.said, names):
            raise NotRun(f"without a rule it brings nothing either: {open_to.said[-300:]}")
        answers = await called(world, *calls, deny=deny)
        return [f"it told {word!r}" for word in _telling(answers.said, names)]

    return act


def asked_for_keys(calls: Sequence[tuple[str, Mapping[str, Any]]], *allow: str, **more: Any) -> Action:
    """Calls tools on files that are made to hold keys: nothing of them is told without a person's answer.

    With it the same calls have to bring the secret, or the attack proves nothing.
    """

    async def act(world: World) -> list[str]:
        if not _telling((await called(world, *calls, answer="once")).said, ()):
            raise NotRun("an answer brings nothing either")
        answers = await called(world, *calls, allow=allow, **more)
        return [f"it told {word!r}" for word in _telling(answers.said, ())]

    return act


def _telling(said: str, names: Sequence[str]) -> list[str]:
    return [word for word in (*names, SECRET) if word in said]


def counted(pattern: str, deny: Sequence[str], **more: Any) -> Action:
    """Compares what `Grep` says of a pattern that is in a denied file with what it says of one that is nowhere."""

    async def act(world: World) -> list[str]:
        def grep(word: str) -> tuple[str, dict[str, Any]]:
            return "Grep", {"pattern": word, **more}

        some, none = await called(world, grep(pattern)), await called(world, grep("nowhere" + pattern))
        if some.results[0].data == none.results[0].data:
            raise NotRun("without a rule there is no difference either")
        one, other = (
            await called(world, grep(pattern), deny=deny),
            await called(world, grep("nowhere" + pattern), deny=deny),
        )
        first, second = (_plain(answers, word) for answers, word in ((one, pattern), (other, "nowhere" + pattern)))
        return [] if first == second else [f"it tells them apart: {first} {second}"]

    return act


def _plain(answers: Answers, pattern: str) -> str:
    result = answers.results[0]
    return f"{result.status} {result.text} {result.data} {result.error}".replace(pattern, "PATTERN")


def unasked(calls: Sequence[tuple[str, Mapping[str, Any]]], files: Sequence[str], *allow: str, **more: Any) -> Action:
    """Calls tools by rules that allow all files: what other programs obey is asked about, or refused, every time."""

    async def act(world: World) -> list[str]:
        def now() -> list[str | None]:
            return [path.read_text() if path.is_file() else None for path in (world.ws / one for one in files)]

        control = await called(world, ("Write", {"path": "plain.txt", "content": "x"}), allow=allow, **more)
        if control.results[0].error is not None and not more.get("restricted"):
            raise NotRun(f"the rules allow nothing: {control.results[0].error}")
        before = now()
        await called(world, *calls, allow=allow, **more)
        return [f"{name} was written" for name, one, other in zip(files, before, now(), strict=True) if one != other]

    return act


def judged(
    command: str,
    *,
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
    grants: Sequence[str] = (),
    plain: str = "",
    default: Default = "ask",
    sandboxed: bool = False,
    want: Sequence[str] = ("ask", "deny"),
) -> Action:
    """Judges a command. `plain` is one that the same rules must decide otherwise, or the attack proves nothing."""

    async def act(_: World) -> list[str]:
        rules = Rules(tuple(map(parse, allow)), tuple(map(parse, deny)), tuple(map(parse, grants)))

        def decide(line: str) -> str:
            facts = CallFacts("Bash", "execute", line)
            return judge(facts, mode="agent", rules=rules, default=default, sandboxed=sandboxed).action

        if plain and decide(plain) in want:
            raise NotRun(f"{plain!r} is decided alike")
        action = decide(command)
        return [] if action in want else [f"{command!r}: {action}"]

    return act


def offered(command: str) -> Action:
    """Asks what a user may answer to a command for always: nothing that covers another command."""

    async def act(_: World) -> list[str]:
        options = options_for(CallFacts("Bash", "execute", command))
        rules = [parse(option.rule) for option in options if option.rule is not None]
        return [f"{command!r}: {rule.text}" for rule in rules if rule.blanket or rule.prefix is not None]

    return act


def row(name: str, aim: Any, does: Action, says: str, means: Any, **more: Any) -> Attack:
    """A row of a deed, tried once."""
    return Attack(name, aim, does, says, means=(means,), bare="", **more)


def environment_with(folder: Path) -> dict[str, str]:
    """Where PATH begins with a folder of the workspace."""
    return {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
