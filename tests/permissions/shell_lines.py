"""Command lines by chance, and what two shells make of those that the rules allow (S-1).

Each line is judged twice: under rules for a few programs, and under a blanket `Bash` with one program denied. What is
allowed is run by bash and by dash, in a folder of its own, where every program is a function, or a script on PATH, that
writes down how it was called. A program that ran and that no rule speaks of is a failure; so is one that was denied.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from codelaw.permissions.policy import CallFacts, Rules, judge
from codelaw.permissions.risky_flags import has_risky_flag
from codelaw.permissions.rules import parse
from codelaw.permissions.shell import Word, read
from tests.permissions.shell_pieces import lines

SHELLS = ("bash", "dash")
BATCH = 1500
"""Lines of one shell process."""
BATCH_SECONDS = 300
PROGRAMS = ("a", "b", "e", "git", "sort", "find")
RUNNERS = ("sh", "bash", "env", "nice", "timeout", "xargs", "nohup", "setsid")

NARROW = Rules(
    allow=tuple(
        parse(f"Bash({text}:*)")
        for text in ("a", "b x", "git diff", "sort", "find", "test", "printf", "export", "read")
    )
)
BLANKET = Rules(allow=(parse("Bash"),), deny=(parse("Bash(e:*)"),))

_FIELD, _RECORD = "\x1f", "\x1e"
_FUNCTIONS = r"""
exec 9>>"$LOG"
COUNT=0
rec() {
  COUNT=$((COUNT + 1)); [ "$COUNT" -gt 12 ] && exit 7
  printf '%s\037' "$LINE" "$@" '<record>' >&9
}
"""
_SCRIPT = r"""#!/bin/dash
exec 9>>"$LOG"
printf '%s\037' "$LINE" "${0##*/}" "$@" '<record>' >&9
"""
# One call of printf for a record: what runs in the background writes between two.
_FUNCTIONS, _SCRIPT = (text.replace("<record>", _RECORD) for text in (_FUNCTIONS, _SCRIPT))


@dataclass(slots=True)
class Outcome:
    """What came of a number of lines."""

    lines: int = 0
    run: int = 0
    """Allowed by either set of rules, so run by both shells."""
    programs: int = 0
    """Programs that the shells started."""
    unfinished: int = 0
    """Lines of batches that a shell did not end in time."""
    failures: list[str] = field(default_factory=list)


def tried(seed: int, count: int) -> Outcome:
    """Generate, judge and run `count` lines."""
    outcome = Outcome()
    waiting: list[tuple[str, bool, bool]] = []
    for line in lines(seed, count):
        outcome.lines += 1
        if read(line) is None:
            continue  # asked about, whatever the rules
        narrow, blanket = _allowed(line, NARROW, sandboxed=False), _allowed(line, BLANKET, sandboxed=True)
        if narrow or blanket:
            waiting.append((line, narrow, blanket))
        if len(waiting) == BATCH:
            _run(waiting, outcome)
            waiting = []
    if waiting:
        _run(waiting, outcome)
    return outcome


def _allowed(line: str, rules: Rules, *, sandboxed: bool) -> bool:
    facts = CallFacts("Bash", "execute", line)
    return judge(facts, mode="agent", rules=rules, sandboxed=sandboxed).action == "allow"


def _run(batch: list[tuple[str, bool, bool]], outcome: Outcome) -> None:
    outcome.run += len(batch)
    for shell in SHELLS:
        ran, written, ended = _ran(shell, [line for line, _, _ in batch])
        outcome.unfinished += 0 if ended else len(batch)
        for number, argv in ran:
            line, narrow, blanket = batch[number]
            outcome.programs += 1
            if narrow and not _covered(argv):
                outcome.failures.append(f"{shell}: {line!r} ran {argv}, which no rule allows")
            if blanket and argv[0] == "e":
                outcome.failures.append(f"{shell}: {line!r} ran {argv}, which is denied")
        if written:
            outcome.failures += [f"{shell}: {line!r} wrote a file" for line in _writers(shell, batch)]


def _covered(argv: list[str]) -> bool:
    words = tuple(Word(value, value) for value in argv)
    beyond = {("b", "x"): 2, ("git", "diff"): 2}.get(
        (argv[0], argv[1] if len(argv) > 1 else ""), 1 if argv[0] in ("a", "sort", "find") else 0
    )
    return beyond > 0 and not has_risky_flag(words, beyond)


def _writers(shell: str, batch: list[tuple[str, bool, bool]]) -> list[str]:
    """The lines that write a file under the narrow rules; a blanket rule lets a command write."""
    return [line for line, narrow, _ in batch if narrow and _ran(shell, [line])[1]]


def _ran(shell: str, batch: list[str]) -> tuple[list[tuple[int, list[str]]], bool, bool]:
    """What ran, by the line's number; whether a file was written; whether the shell came to an end."""
    with tempfile.TemporaryDirectory(prefix="codelaw-lines-") as made:
        folder = Path(made)
        (folder / "bin").mkdir()
        (folder / "cwd").mkdir()
        for name in ("f1", "--output=z", "-delete", "[x]"):
            (folder / "cwd" / name).write_text("e\n")
        for name in PROGRAMS:
            (folder / "bin" / name).write_text(_SCRIPT)
            (folder / "bin" / name).chmod(0o755)
        for name in RUNNERS:
            if (found := shutil.which(name)) is not None:
                (folder / "bin" / name).symlink_to(found)
        before = sorted(path.name for path in (folder / "cwd").iterdir())
        script = [_FUNCTIONS, *(f'{name}() {{ rec {name} "$@"; }}' for name in PROGRAMS)]
        for number, line in enumerate(batch):
            quoted = line.replace("'", "'\\''")
            script.append(f"LINE={number}; export LINE\nT='{quoted}'")
            script.append('( ulimit -t 1; eval "$T" ) </dev/null >/dev/null 2>&1')
        (folder / "script").write_text("\n".join(script) + "\nwait\n", "utf-8")
        environment = {"PATH": str(folder / "bin"), "LOG": str(folder / "log"), "HOME": made, "LC_ALL": "C.UTF-8"}
        program = shutil.which(shell)
        if program is None:
            raise FileNotFoundError(shell)
        options = ["--norc", "--noprofile"] if shell == "bash" else []
        process = subprocess.Popen(
            [program, *options, str(folder / "script")],
            cwd=folder / "cwd",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        ended = True
        try:
            process.wait(BATCH_SECONDS)
        except subprocess.TimeoutExpired:
            ended = False
        with_group = os.getpgid(process.pid) if process.poll() is None else process.pid
        with contextlib.suppress(ProcessLookupError):  # nothing was left of it
            os.killpg(with_group, signal.SIGKILL)
        process.wait()
        log = (folder / "log").read_bytes().decode("utf-8", "replace") if (folder / "log").exists() else ""
        after = sorted(path.name for path in (folder / "cwd").iterdir())
        return _records(log), before != after, ended


def _records(log: str) -> list[tuple[int, list[str]]]:
    found: list[tuple[int, list[str]]] = []
    for record in log.split(_RECORD):
        fields = record.removeprefix(_FIELD).split(_FIELD)[:-1]
        if len(fields) > 1 and fields[0].isdigit():
            found.append((int(fields[0]), fields[1:]))
    return found
