"""What a hook's end says, and what the answers of several come to (X-7)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from codelaw.domain.events import HookMoment, HookStatus
from codelaw.domain.files import MadeChange, ProcessResult
from codelaw.hooks.matching import Hook

Verdict = Literal["allow", "ask", "deny"]

LONGEST_CONTEXT = 10_000
"""Characters that the hooks of one moment may add to what the model is told (S-6)."""
LONGEST_REASON = 2_000
"""Characters of a reason."""
BLOCKS = 2
"""The exit code that blocks, with standard error as the reason."""
ADDING: frozenset[HookMoment] = frozenset({"UserPromptSubmit", "SessionStart"})
"""Moments at which plain text on standard output is context."""
_INNER = "hookSpecificOutput"
"""The table in which fields may stand as well; what it says of verdicts does not take back what stands outside."""
_BY_STRICTNESS: tuple[Verdict, ...] = ("deny", "ask", "allow")
_FIELDS: dict[str, type] = {
    "continue": bool,
    "stopReason": str,
    "systemMessage": str,
    "decision": str,
    "reason": str,
    "permissionDecision": str,
    "permissionDecisionReason": str,
    "additionalContext": str,
}


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What one hook has said."""

    verdict: Verdict | None = None
    """`deny` is a block at every moment; `allow` and `ask` are said before a tool runs, and only there."""
    reason: str = ""
    context: str = ""
    """What the model is to be told."""
    message: str = ""
    """What the user is to be told."""
    problem: str = ""
    """Why nothing of it counts: it failed, in a few words."""

    @property
    def status(self) -> HookStatus:
        """How the run is shown."""
        if self.problem:
            return "failed"
        return "blocked" if self.verdict == "deny" else "passed"

    @property
    def reported(self) -> str:
        """The sentence for the user, if there is one."""
        return self.problem or self.message or self.reason


@dataclass(frozen=True, slots=True)
class Merged:
    """What all hooks of a moment come to."""

    verdict: Verdict | None = None
    reason: str = ""
    """The reasons of those who said so."""
    contexts: tuple[tuple[Hook, str], ...] = ()
    """Together at most `LONGEST_CONTEXT` characters."""
    changed: tuple[MadeChange, ...] = ()
    """What they have done to files, where that is kept (E-2)."""


NOTHING = Merged()


def answer(event: HookMoment, ended: ProcessResult) -> HookAnswer:
    """What a hook of `event` says by its exit code and its output."""
    if ended.timed_out:
        return HookAnswer(problem="it was killed, because it took too long")
    if ended.exit_code is None:
        return HookAnswer(problem=f"it was killed: {ended.limit}" if ended.limit else "it was killed")
    if ended.exit_code == BLOCKS:
        return HookAnswer("deny", _cut(ended.stderr.strip(), LONGEST_REASON) or "It gave no reason.")
    if ended.exit_code != 0:
        last = next((line.strip() for line in reversed(ended.stderr.splitlines()) if line.strip()), "")
        return HookAnswer(problem=f"it ended with exit code {ended.exit_code}{': ' + last[:200] if last else ''}")
    said = ended.stdout.removeprefix("\ufeff").strip()
    if not said.startswith("{"):
        if event in ADDING:
            return HookAnswer(context=_cut(said, LONGEST_CONTEXT))
        said = _behind_words(said)
        if not said:
            return HookAnswer()
    if ended.stdout_omitted:
        return HookAnswer(problem="it printed more than is read")
    return _spoken(event, said)


def merged(event: HookMoment, answers: Sequence[tuple[Hook, HookAnswer]]) -> Merged:
    """All answers together: deny wins over ask, and ask over allow.

    A hook that fails before a tool runs was perhaps to refuse: the user is asked. At other moments it counts for
    nothing.
    """
    verdicts: list[tuple[Verdict, str]] = []
    contexts: list[tuple[Hook, str]] = []
    room = LONGEST_CONTEXT
    for hook, one in answers:
        if one.problem and event == "PreToolUse":
            verdicts.append(("ask", f"A hook failed: {one.problem}."))
        elif one.verdict is not None and not one.problem:
            verdicts.append((one.verdict, one.reason))
        if one.context and room > 0 and not one.problem:
            contexts.append((hook, _cut(one.context, room)))
            room -= len(one.context)
    if not verdicts:
        return Merged(contexts=tuple(contexts))
    strictest = _strictest([verdict for verdict, _ in verdicts])
    reasons = dict.fromkeys(reason for verdict, reason in verdicts if verdict == strictest and reason)
    return Merged(strictest, _cut(" ".join(reasons), LONGEST_REASON), tuple(contexts))


def _behind_words(said: str) -> str:
    """The answer of a hook that has printed other lines first; empty where none of them begins one."""
    start = said.find("\n{") + 1
    try:
        given: Any = json.loads(said[start:]) if start else None
    except (ValueError, RecursionError):
        return ""
    named: Mapping[str, Any] = cast("Mapping[str, Any]", given) if isinstance(given, dict) else {}
    return said[start:] if _INNER in named or not _FIELDS.keys().isdisjoint(named) else ""


class _Twice(ValueError):
    """A field that stands twice in a table: who reads the last one overhears the first."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Twice(next(name for name in table if names.count(name) > 1))
    return table


def _spoken(event: HookMoment, said: str) -> HookAnswer:
    """The answer as JSON, its fields at the top or in `hookSpecificOutput`; of two verdicts the stricter one counts."""
    try:
        top = cast("Mapping[str, Any]", json.loads(said, object_pairs_hook=_once))
    except _Twice as twice:
        return HookAnswer(problem=f"`{str(twice)[:40]}` stands twice in what it printed")
    except (ValueError, RecursionError):
        return HookAnswer(problem="what it printed is not JSON that can be read")
    inner = top.get(_INNER)
    tables = [top, cast("Mapping[str, Any]", inner)] if isinstance(inner, Mapping) else [top]
    given = {name: table[name] for table in tables for name in _FIELDS if table.get(name) is not None}
    for name, value in ((name, table.get(name)) for table in tables for name in _FIELDS):
        if value is not None and type(value) is not _FIELDS[name]:
            return HookAnswer(
                problem=f"`{name}` of what it printed is not {'text' if _FIELDS[name] is str else 'a boolean'}"
            )
    reason = given.get("permissionDecisionReason") or given.get("reason") or given.get("stopReason") or ""
    verdicts = [_verdict(event, table) for table in tables]
    # The turn or the child is to end, which it does.
    ends = event in {"Stop", "SubagentStop"} and any(table.get("continue") is False for table in tables)
    spoken: list[Verdict] = [verdict for verdict, _ in verdicts if verdict is not None and not ends]
    verdict = _strictest(spoken) if spoken else None
    problem = next((problem for _, problem in verdicts if problem), "")
    return HookAnswer(
        verdict,
        _cut(reason, LONGEST_REASON) or ("It gave no reason." if verdict == "deny" else ""),
        _cut(given.get("additionalContext", ""), LONGEST_CONTEXT),
        _cut(given.get("systemMessage", ""), LONGEST_REASON),
        problem,
    )


def _verdict(event: HookMoment, given: Mapping[str, Any]) -> tuple[Verdict | None, str]:
    """The strictest of what it says, and what of it means nothing."""
    found: list[Verdict] = []
    if given.get("continue") is False:
        found.append("deny")
    match given.get("decision"):
        case "block":
            found.append("deny")
        case "approve" if event == "PreToolUse":
            found.append("allow")
        case "approve" | None:
            pass
        case other:
            return None, f"`decision` is {str(other)[:40]!r}, which means nothing"
    if event == "PreToolUse" and (said := given.get("permissionDecision")) is not None:
        if said not in _BY_STRICTNESS:
            return None, f"`permissionDecision` is {str(said)[:40]!r}, which means nothing"
        found.append(said)
    return (_strictest(found) if found else None), ""


def _strictest(verdicts: Sequence[Verdict]) -> Verdict:
    return min(verdicts, key=_BY_STRICTNESS.index)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
