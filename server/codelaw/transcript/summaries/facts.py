"""What code can tell of a stretch of the record: times, changed files, commands, failures (K-5)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from codelaw.domain.listing import as_list, as_object, as_text, clipped, parsed
from codelaw.domain.messages import Call, Message
from codelaw.transcript.summaries.identifiers import names_by_place

LONGEST_PATH = 400
LONGEST_COMMAND = 400
LONGEST_MESSAGE = 240
"""Characters of a line's parts; longer ones lose their end."""
_MOST_RUNS = 4
"""Outcomes of one command that are told apart; of more, the newest."""
_SPACE = re.compile(r"\s+")
_TARGETS = ("path", "command", "pattern", "query", "name", "url")
_WRITERS = frozenset({"Edit", "MultiEdit", "Write"})
_SPREAD = frozenset({"Rename", "QuickFix"})
"""Tools whose calls change several files."""
_TELLING = frozenset({"Bash", "Task"})
"""Tools whose results only name what has changed."""


@dataclass(frozen=True, slots=True)
class FileChanges:
    """A file that was changed, and how."""

    path: str
    """As the tools show it."""
    created: bool = False
    edits: int = 0
    """Successful calls of Edit and MultiEdit."""
    overwritten: int = 0
    by_command: bool = False
    """A command changed it after it was read."""
    names: tuple[str, ...] = ()
    """What the changed lines name, the most telling first."""


@dataclass(frozen=True, slots=True)
class CommandRuns:
    """A command and how its runs ended."""

    text: str
    """On one line."""
    runs: tuple[tuple[str, int], ...]
    """`exit 1` and the like with how many in a row, oldest first."""
    failed: bool
    """At least one run did not end with exit code 0."""


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call of another tool that failed, or a command that never ran."""

    tool: str
    target: str
    """A path, a pattern, a command; empty when the call names none."""
    code: str
    message: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class ArchiveFacts:
    """All of it, newest last."""

    started: float | None = None
    """When the first turn began, in seconds since the epoch."""
    ended: float | None = None
    """When the last turn began."""
    files: tuple[FileChanges, ...] = ()
    commands: tuple[CommandRuns, ...] = ()
    failures: tuple[FailedCall, ...] = ()


def facts(messages: Sequence[Message], started: Mapping[str, float]) -> ArchiveFacts:
    """The facts of `messages`; `started` tells when each turn began, in seconds since the epoch. Never raises."""
    files: dict[str, FileChanges] = {}
    texts: list[tuple[str, str]] = []
    commands: dict[str, CommandRuns] = {}
    failures: dict[tuple[str, str, str], FailedCall] = {}
    for outcome in outcomes(messages):
        changes, lines = _changes(outcome)
        noted = [path for change in changes if (path := _note(files, change))]
        texts += [] if lines is None else [(path, lines) for path in noted]
        if _ran(outcome):
            _note_command(outcome, commands)
        elif outcome.code:
            _note_failure(outcome, failures)
    named = names_by_place(texts)
    times = [started[message.turn_id] for message in messages if message.turn_id in started]
    return ArchiveFacts(
        min(times, default=None),
        max(times, default=None),
        tuple(replace(one, names=named.get(one.path, ())) for one in files.values()),
        tuple(commands.values()),
        tuple(failures.values()),
    )


def one_line(text: str, limit: int) -> str:
    """The text on one line, without control characters, at most `limit` characters."""
    flat = _SPACE.sub(" ", text[: 4 * limit]).strip()
    if not flat.isprintable():
        flat = "".join(char if char.isprintable() else "\ufffd" for char in flat)
    return clipped(flat, limit)


def _changes(outcome: Outcome) -> tuple[list[FileChanges], str | None]:
    """What a call changed, and the text of that; None where only the files are known."""
    data, tool = outcome.data, outcome.call.tool
    if tool in _TELLING:
        how = FileChanges("", by_command=True) if tool == "Bash" else FileChanges("", edits=1)
        return [replace(how, path=as_text(name)) for name in as_list(data.get("changed"))], None
    done = tool in _WRITERS and outcome.status == "success" and data.get("applied") is not False
    if not (done or data.get("applied") is True) or outcome.status == "error" or data.get("dry_run") is True:
        return [], None
    if tool in _SPREAD:
        # The editor worked it out: what was changed stands in the result alone.
        paths = [as_object(file).get("path") for file in as_list(data.get("files"))]
        named = " ".join(as_text(outcome.call.arguments.get(name)) for name in ("symbol", "new_name"))
        return [FileChanges(as_text(path), edits=1) for path in (*paths, *as_list(data.get("also")))], named
    change = FileChanges(as_text(data.get("path")) or outcome.text("path"))
    if data.get("operation") == "created":
        change = replace(change, created=True)
    elif data.get("operation") == "overwritten" or tool == "Write":
        change = replace(change, overwritten=1)
    else:
        change = replace(change, edits=1)
    return [change], "\n".join(_changed_lines(outcome.call.arguments))


def _changed_lines(arguments: Mapping[str, Any]) -> Iterator[str]:
    given = as_object(arguments)
    yield as_text(given.get("content"))
    for edit in [given, *map(as_object, as_list(given.get("edits")))]:
        old, new = (as_text(edit.get(name)).split("\n") for name in ("old_string", "new_string"))
        yield from set(old) ^ set(new)


def _note(files: dict[str, FileChanges], more: FileChanges) -> str:
    """Take in one change; gives the path as it is shown, empty when there is none."""
    path = one_line(more.path, LONGEST_PATH)
    if path:
        known = files.pop(path, FileChanges(path))
        files[path] = FileChanges(
            path,
            known.created or more.created,
            known.edits + more.edits,
            known.overwritten + more.overwritten,
            known.by_command or more.by_command,
        )
    return path


def _ran(outcome: Outcome) -> bool:
    """Whether a command was started: its exit code, its timeout or its interruption is what became of it."""
    return outcome.call.tool == "Bash" and (
        isinstance(outcome.data.get("exit_code"), int)
        or outcome.code == "TIMEOUT"
        or outcome.message.startswith("interrupted")
        or outcome.status in {"success", "partial"}
    )


def _ended(outcome: Outcome) -> str:
    code = outcome.data.get("exit_code")
    if outcome.code == "TIMEOUT" or outcome.data.get("timed_out") is True:
        return "timed out"
    if isinstance(code, int) and not isinstance(code, bool):
        return f"exit {code}"
    return "interrupted" if outcome.code else "done"


def _note_command(outcome: Outcome, commands: dict[str, CommandRuns]) -> None:
    text, ended = one_line(outcome.text("command"), LONGEST_COMMAND), _ended(outcome)
    if not text:
        return
    known = commands.pop(text, CommandRuns(text, (), failed=False))
    *runs, (last, times) = known.runs or (("", 0),)
    runs = [*runs, (ended, times + 1)] if last == ended else [*known.runs, (ended, 1)]
    commands[text] = CommandRuns(text, tuple(runs[-_MOST_RUNS:]), known.failed or ended not in {"exit 0", "done"})


def _note_failure(outcome: Outcome, failures: dict[tuple[str, str, str], FailedCall]) -> None:
    target = next((text for name in _TARGETS if (text := outcome.text(name))), "")
    call = FailedCall(
        one_line(outcome.call.tool, 80),
        one_line(target, LONGEST_COMMAND),
        one_line(outcome.code, 40),
        one_line(outcome.message, LONGEST_MESSAGE),
    )
    key = (call.tool, call.target, call.code)
    known = failures.pop(key, None)
    failures[key] = replace(call, times=known.times + 1) if known else call


@dataclass(frozen=True, slots=True)
class Outcome:
    """A call and the result that history keeps of it (C-4)."""

    call: Call
    status: str
    """`success`, `partial` or `error`; empty for a result that cannot be read."""
    data: Mapping[str, Any]
    code: str = ""
    """Of the error, when there is one."""
    message: str = ""

    def text(self, name: str) -> str:
        """A text that the call was given or, failing that, that the result names; empty when neither has one."""
        for values in (self.call.arguments, self.data):
            value = as_object(values).get(name)
            if isinstance(value, str) and value.strip():
                return value
        return ""


def outcomes(messages: Sequence[Message]) -> Iterator[Outcome]:
    """Every call that has a result, in the order of the calls; of several results the first counts."""
    results: dict[str, str] = {}
    for message in messages:
        if message.role == "tool" and message.metadata.call_id is not None:
            results.setdefault(message.metadata.call_id, message.content)
    for message in messages:
        for call in message.metadata.calls if message.role == "assistant" else ():
            if call.id not in results:
                continue
            result = parsed(results[call.id])
            error = as_object(result.get("error"))
            status, code = as_text(result.get("status")), as_text(error.get("code"))
            yield Outcome(call, status, as_object(result.get("data")), code, as_text(error.get("message")))
