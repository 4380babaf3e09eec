"""Facts as lines of Markdown, in as few tokens as they are given (K-5)."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from codelaw.transcript.summaries.facts import (
    LONGEST_MESSAGE,
    ArchiveFacts,
    CommandRuns,
    FailedCall,
    FileChanges,
    one_line,
)
from codelaw.transcript.summaries.identifiers import folded

Count = Callable[[str], int]

_WIDTHS = (160, 90, 60)
"""Characters of a command, from the roomiest writing to the tightest."""
_MUST = 0.7
"""Share of the budget that changed files and failed commands may take before they are written tighter."""
_FAILURES = 0.4
"""Share of what is left then, for the failed calls."""
_BACKTICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class FactLines:
    """What stands under each heading, one line each; commands and calls newest first."""

    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


def fact_lines(
    facts: ArchiveFacts,
    budget: int,
    count: Count,
    *,
    most: int | None = None,
    described: Mapping[str, str] | None = None,
) -> FactLines:
    """The facts in `budget` tokens as `count` counts them.

    Every changed file and every failed command is in it, written tighter when there are many, in up to `most` tokens;
    what even these do not hold is told as a number. The other failed calls and commands share what is left of the
    budget, newest first. `described` has a sentence for some of the files, beyond the budget.
    """
    others = [call for call in reversed(facts.failures) if call.tool != "Bash"]
    passed = [_command(one, _WIDTHS[1]) for one in reversed(facts.commands) if not one.failed]
    files, commands, calls = _must(facts, budget, max(budget, most or 0), count)
    left = max(0, budget - _cost([*files, *commands, *calls], count))
    failures = _failures(others, left if not passed else int(left * _FAILURES), count)
    left -= _cost(failures, count)
    succeeded = _fitting(passed, left, count, ", none of which failed")
    left -= _cost(succeeded, count)
    flat = len(files) == len(facts.files)
    if flat and all(line.startswith(f"{code(one.path)}: ") for line, one in zip(files, facts.files, strict=True)):
        files = _named(files, facts.files, left, count)
        said = {path: f"; {words}" for path, words in (described or {}).items()}
        files = [f"{line}{said.get(one.path, '')}" for line, one in zip(files, facts.files, strict=True)]
    return FactLines(tuple(files), (*commands, *succeeded), (*calls, *failures))


def code(text: str) -> str:
    """The text as a code span, whatever backticks it holds."""
    fence = "`" * (max(map(len, _BACKTICKS.findall(text)), default=0) + 1)
    return f"`{text}`" if fence == "`" else f"{fence} {text} {fence}"


def _must(facts: ArchiveFacts, budget: int, most: int, count: Count) -> tuple[list[str], list[str], list[str]]:
    """What has to be said: the changed files, the commands that failed and those that never ran, newest first.

    In the roomiest writing that leaves some of the budget, else in the tightest, in at most `most` tokens.
    """
    flat = [_file(one) for one in facts.files]
    tight = [code(path) for path in folded(one.path for one in facts.files)]
    commands, calls = list[str](), list[str]()
    for files, width in ((flat, _WIDTHS[0]), (flat, _WIDTHS[1]), (tight, _WIDTHS[1]), (tight, _WIDTHS[2])):
        commands = [_command(one, width) for one in reversed(facts.commands) if one.failed]
        calls = [_failure(one, width, width) for one in reversed(facts.failures) if one.tool == "Bash"]
        if _cost([*files, *commands, *calls], count) <= budget * _MUST:
            return files, commands, calls
    files = _bounded(facts.files, max(most // 2, most - _cost([*commands, *calls], count)), count)
    commands = _fitting(commands, most - _cost([*files, *calls], count), count, " that failed")
    calls = _fitting(calls, most - _cost([*files, *commands], count), count, " that never ran")
    return files, commands, calls


def _named(lines: Sequence[str], files: Sequence[FileChanges], budget: int, count: Count) -> list[str]:
    """The lines of the files with what their changes name, the best of each file first, as far as the budget goes."""
    shown: list[list[str]] = [[] for _ in files]
    for rank in range(max((len(one.names) for one in files), default=0)):
        for place, one in reversed(list(enumerate(files))):
            if rank < len(one.names):
                budget -= count(f" {one.names[rank]}") + (0 if shown[place] else count(" (``)"))
                if budget >= 0:
                    shown[place].append(one.names[rank])
    named = (f" ({code(' '.join(names))})" if names else "" for names in shown)
    return list(map(str.__add__, lines, named))


def _bounded(files: Sequence[FileChanges], budget: int, count: Count) -> list[str]:
    """The newest files, folded, as many as the budget holds, and the number of the others."""

    def written(size: int) -> list[str]:
        lines = [code(path) for path in folded(one.path for one in files[len(files) - size :])]
        return [*lines, f"and {len(files) - size} more"] if size < len(files) else lines

    return written(bisect_right(range(1, len(files) + 1), budget, key=lambda size: _cost(written(size), count)))


def _failures(calls: Sequence[FailedCall], budget: int, count: Count) -> list[str]:
    """The calls, their messages shortened where not all fit."""
    lines: list[str] = []
    for width in (LONGEST_MESSAGE, *_WIDTHS[1:]):
        lines = [_failure(call, _WIDTHS[1], width) for call in calls]
        if _cost(lines, count) <= budget:
            break
    return _fitting(lines, budget, count)


def _fitting(lines: Sequence[str], budget: int, count: Count, others: str = "") -> list[str]:
    """The first lines that fit, and the number of the others where even that fits."""
    if not lines or _cost(lines, count) <= budget:
        return list(lines)
    kept: list[str] = []
    left = budget - _cost([f"and {len(lines)} more{others}"], count)
    for line in lines:
        left -= _cost([line], count)
        if left < 0:
            break
        kept.append(line)
    return [*kept, f"and {len(lines) - len(kept)} more{others}"]


def _cost(lines: Sequence[str], count: Count) -> int:
    return count("".join(f"* {line}\n" for line in lines)) if lines else 0


def _file(one: FileChanges) -> str:
    said = [
        "created" if one.created else "",
        f"overwritten{_times(one.overwritten)}" if one.overwritten else "",
        f"edited{_times(one.edits)}" if one.edits else "",
        "changed by a command" if one.by_command else "",
    ]
    what = ", ".join(filter(None, said))
    return f"{code(one.path)}: {what}"


def _command(one: CommandRuns, width: int) -> str:
    runs = ", then ".join(f"{ended}{_times(times)}" for ended, times in one.runs)
    return f"{code(one_line(one.text, width))}: {runs}"


def _failure(call: FailedCall, target_width: int, width: int) -> str:
    target = f" {code(one_line(call.target, target_width))}" if call.target else ""
    said = f": {one_line(call.message, width)}" if call.message else ""
    return f"{call.tool}{target}: {call.code}{_times(call.times)}{said}"


def _times(number: int) -> str:
    return f" ×{number}" if number > 1 else ""
