"""Which deny rules for `Bash` speak of a command, or of what it runs (S-1).

Rules are sorted once by the programs that they name: a long line of many commands is not held against each of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from codelaw.permissions.copying import brought, runs_what_it_makes
from codelaw.permissions.expand_command import Expansion, runs_none_of_its_words
from codelaw.permissions.rules import MAX_RULES, Refusal, Rule, strictest
from codelaw.permissions.sensitive_files import only_reads
from codelaw.permissions.shell import Simple, Word, listed, program, read, unquoted

MAX_LOOKS = 200
"""Names of denied programs in one command that are looked at; one with more may mean them (S-6)."""
LONGEST = 1_000
"""Characters behind such a name in which the other words of a rule are looked for."""

_ONLY_NAMES = listed(
    "alias apk apropos apt apt-get aptitude brew chmod chown cp dnf dpkg export gem info kill killall ln man mkdir mv"
    " pacman pgrep pidof pip pip3 pkill printf read rm rmdir rpm service set systemctl tee tldr touch unset whatis"
    " whereis yum zypper"
)
"""Programs that speak of others and run none of their words."""
_MESSAGES = frozenset(["-m", "--message", "--title", "--body", "--description", "--notes"])
"""Options whose word is a text for people."""
_BEGUN = re.compile(r"(?:^|[;&|(){}!=:\"'`\n])[ \t]*([^\s;&|(){}!=:\"'`<>,]+)")
"""A word of a text that may be a program: at its begin, or behind what a shell or a setting has before one."""
_APART = re.compile(r"[\s;&|(){}!=\"'`<>,]+")
_INSTALLED = re.compile(r"(?:/.*)?/s?bin/([^/]+)|([^/]+)")
"""A program by its name alone or where programs lie."""


class DenyRules:
    """Deny rules for `Bash`, none of them a blanket one."""

    def __init__(self, deny: Sequence[Rule]) -> None:
        self._rules = [(rule, rule.prefix or _words(rule.specifier or "")) for rule in deny]
        self._by_text: dict[str, list[int]] = {}
        self._by_program: dict[str, list[int]] = {}
        for number, (rule, words) in enumerate(self._rules):
            self._by_text.setdefault(rule.specifier or "", []).append(number)
            for name in _names(words[0]) if words else ():
                self._by_program.setdefault(name, []).append(number)

    def judge(self, parts: Sequence[Simple]) -> Refusal | None:
        """The first rule that hits one of the parts or anything they run, else the first that may."""
        if not self._rules:
            return None
        expanded = [(part, Expansion(part)) for part in parts]
        return strictest([*(self._judge(*one) for one in expanded), self._made([inner for _, inner in expanded])])

    def _made(self, expanded: Sequence[Expansion]) -> Refusal | None:
        """What of the line's programs it brings to another name, and whether it runs what it has made."""
        commands = [command for one in expanded for command in one.commands]
        parts = [part for one in expanded for part in one.parts]
        near = next((rule for rule, words in self._rules if words), None)
        near = near if runs_what_it_makes(commands, parts) else None
        for name, certain in brought(commands, parts):
            every = range(len(self._rules)) if name is None else self._by_program.get(name.casefold(), ())
            for rule, words in (self._rules[number] for number in every):
                if certain and len(words) == 1:
                    return "deny", rule
                near = near or rule
        return ("ask", near) if near else None

    def _judge(self, part: Simple, inner: Expansion) -> Refusal | None:
        candidates = inner.commands
        near = next((rule for rule, words in self._rules if words and inner.hidden), None)
        programs = {program(candidate).casefold() for candidate in candidates}
        about = [number for name in programs for number in self._by_program.get(name, ())]
        for number in sorted({*about, *self._by_text.get(part.text, ())}):
            rule, words = self._rules[number]
            if rule.specifier == part.text:
                return "deny", rule
            for candidate in candidates:
                if _begins(words, candidate, exact=rule.prefix is None):
                    return "deny", rule
                near = near or (rule if _may_mean(words, candidate) else None)
        near = near or self._perhaps(part, candidates)
        return ("ask", near) if near else None

    def _perhaps(self, part: Simple, candidates: Sequence[tuple[Word, ...]]) -> Rule | None:
        """A rule that speaks of what a program may run that nobody knows: `setpriv rm x`, `capsh -- -c 'rm x'`."""
        head: tuple[Word, ...] = ()
        looks = 0
        for candidate in candidates:
            if head and len(candidate) < len(head) and candidate[-1] is head[-1]:
                continue  # a part of the one before
            head = candidate
            if program(candidate) in _ONLY_NAMES or runs_none_of_its_words(candidate) or only_reads(candidate):
                continue
            texts = [word.value for word in candidate[1:]] + [*(part.inputs if candidate is candidates[0] else ())]
            for at, value in enumerate(texts):
                if value is None or (at and texts[at - 1] in _MESSAGES) or value.partition("=")[0] in _MESSAGES:
                    continue
                for rule, words, said in self._named(value):
                    looks += 1
                    following = [*said, *texts[at + 1 : at + len(words)]]
                    if looks > MAX_LOOKS or following[: len(words) - 1] == list(words[1:]):
                        return rule
        return None

    def _named(self, text: str) -> Iterator[tuple[Rule, tuple[str, ...], list[str]]]:
        """The rules whose program a text names where one may begin, their words, and what follows it in the text.

        Quotes inside of the name hide it from nobody: `split --filter='cu""rl x'`.
        """
        for spelt in dict.fromkeys((text, unquoted(text))):
            for begun in _BEGUN.finditer(spelt):
                name = _INSTALLED.fullmatch(begun[1])
                numbers = self._by_program.get((name[1] or name[2]).casefold(), ()) if name else ()
                said = list(filter(None, _APART.split(spelt[begun.end() :][:LONGEST]))) if numbers else []
                for number in numbers:
                    yield *self._rules[number], said


@lru_cache(maxsize=2 * MAX_RULES)
def _words(command: str) -> tuple[str, ...]:
    parts = read(command)
    if parts is None or len(parts) != 1:
        return ()
    return tuple(word.value if word.value is not None else word.raw for word in parts[0].command)


def _names(program_of_rule: str) -> set[str]:
    """As it is written in a rule, and without its folder."""
    return {program_of_rule.casefold(), program_of_rule.rpartition("/")[2].casefold()}


def _begins(words: tuple[str, ...], candidate: tuple[Word, ...], *, exact: bool) -> bool:
    if (exact and len(words) != len(candidate)) or program(candidate).casefold() not in _names(words[0]):
        return False
    return tuple(word.value for word in candidate[1 : len(words)]) == words[1:]


def _may_mean(words: tuple[str, ...], candidate: tuple[Word, ...]) -> bool:
    """The program is the rule's, and its other words come later, or may: `git -C x push` for `git push`."""
    if program(candidate).casefold() != words[0].rpartition("/")[2].casefold():
        return False
    values = iter(pairwise(word.value for word in candidate))
    for wanted in words[1:]:
        passed = False
        for before, value in values:
            if value == wanted or (value is None and not passed):
                break
            passed = passed or not (value is None or value.startswith("-") or (before or "-").startswith("-"))
        else:
            return False
    return True
