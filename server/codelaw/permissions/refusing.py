"""Which deny rules for `Bash` speak of a command, or of what it runs (S-1).

Rules are sorted once by the programs that they name: a long line of many commands is not held against each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from codelaw.permissions.programs import program
from codelaw.permissions.rules import MAX_RULES, Rule
from codelaw.permissions.runs import inner_commands
from codelaw.permissions.shell import Simple, Word, read

Refusal = tuple[Literal["deny", "ask", "pass"], Rule | None]


class Refusing:
    """Deny rules for `Bash`, none of them a blanket one."""

    def __init__(self, deny: Sequence[Rule]) -> None:
        self._rules = [(rule, rule.prefix or _words(rule.specifier or "")) for rule in deny]
        self._by_text: dict[str, list[int]] = {}
        self._by_program: dict[str, list[int]] = {}
        for number, (rule, words) in enumerate(self._rules):
            self._by_text.setdefault(rule.specifier or "", []).append(number)
            for name in {words[0].casefold(), words[0].rpartition("/")[2].casefold()} if words else ():
                self._by_program.setdefault(name, []).append(number)
        self._first = next((rule for rule, words in self._rules if words), None)

    def judge(self, part: Simple) -> Refusal:
        """Whether a rule hits the part or anything it runs, or may hit what cannot be seen; the first that does."""
        candidates, hidden = inner_commands(part)
        near = self._first if hidden else None
        programs = {program(candidate).casefold() for candidate in candidates}
        about = [number for name in programs for number in self._by_program.get(name, ())]
        for number in sorted({*about, *self._by_text.get(part.text, ())}):
            rule, words = self._rules[number]
            if rule.specifier == part.text:
                return "deny", rule
            for candidate in candidates:
                if _begins(words, candidate, exact=rule.prefix is None):
                    return "deny", rule
                if near is None and _may_mean(words, candidate):
                    near = rule
        return ("ask", near) if near else ("pass", None)


@lru_cache(maxsize=2 * MAX_RULES)
def _words(command: str) -> tuple[str, ...]:
    parts = read(command)
    if parts is None or len(parts) != 1:
        return ()
    return tuple(word.value if word.value is not None else word.raw for word in parts[0].command)


def _begins(words: tuple[str, ...], candidate: tuple[Word, ...], *, exact: bool) -> bool:
    if exact and len(words) != len(candidate):
        return False
    if program(candidate).casefold() not in (words[0].casefold(), words[0].rpartition("/")[2].casefold()):
        return False
    return tuple(word.value for word in candidate[1 : len(words)]) == words[1:]


def _may_mean(words: tuple[str, ...], candidate: tuple[Word, ...]) -> bool:
    """The program is the rule's, and its other words come later, or may: `git -C x push` for `git push`."""
    if program(candidate).casefold() != words[0].rpartition("/")[2].casefold():
        return False
    at = 1
    for wanted in words[1:]:
        passed = False
        while at < len(candidate):
            value, before = candidate[at].value, candidate[at - 1].value
            at += 1
            if value == wanted or (value is None and not passed):
                break
            passed = passed or not (value is None or value.startswith("-") or (before or "-").startswith("-"))
        else:
            return False
    return True
