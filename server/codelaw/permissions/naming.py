"""Paths that a command names, and whether rules for `Read` and `Edit` deny them (S-1)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice

from codelaw.domain.errors import ToolFailure
from codelaw.domain.safety.globs import spelt_out, translate
from codelaw.domain.safety.obeyed_paths import ObeyedPaths
from codelaw.permissions.risky_flags import has_risky_flag
from codelaw.permissions.rules import Refusal, Rule
from codelaw.permissions.sensitive_files import LOOP, READERS, only_reads
from codelaw.permissions.shell import SPOKEN, Simple, Word, goes_to, listed, program, unquoted

Name = tuple[str, bool, bool | None]
"""A path as it would be shown, whether just that is named, and whether it is written (None: perhaps)."""

MAX_NAMES = 1_500
"""Names of one command that are looked at; a command with more is asked about (S-6)."""
MAX_LOOKS = 30_000
"""Names times rules."""
LONGEST_PATH = 4096
"""Characters; no file has a longer one."""
MAX_PATTERN = 300
"""Characters of a glob in a command; of a longer one it is said that it may mean anything (S-6)."""
MAX_SPELT = 50
"""Of the names that one word stands for by its braces."""
MAX_FOLDERS = 8
"""Folders in which a command may be by then, after several `cd`."""

_INSIDE = re.compile(r"[=:@,]")
_PIECE = re.compile(r"[\s;&|<>()$`'\"=,@]+")
_MAGIC = re.compile(r"[*?\[{]")
_MAGICAL = re.compile(r"[*?\[\]{}]")
_ANYTHING = re.compile(".*", re.DOTALL)
_ESCAPED = re.compile(r"\$'([^']*)'")
_BY_PROCESS = re.compile(r"^/proc/(?:self|thread-self)/(?:task/\d+/)?(cwd|root)(?=/)")
"""Where a process works, and where its paths begin."""
_SOME = Word("?", "?")
"""In the place of a program."""
_SPEAKS_ONLY = frozenset({"echo", "true", "false", ":"})
_CHECKERS = re.compile(
    r"pytest|mypy|pyright|ruff|eslint|tsc|jest|vitest|node|python[\d.]*|ruby|perl|go|cargo|npm|npx|pnpm|yarn|uv|make|bash|sh"
)
"""Programs that are given files to look at them or to run them: a rule against editing does not speak of that."""
_MENDS = re.compile(r"-[a-zA-Z]*i.*|-w|--(?:fix|write|in-?place).*|format", re.DOTALL)
"""By which such a program changes the files that it is given."""
_WRITERS = listed(
    "rm rmdir unlink mv cp tee touch install ln dd rsync truncate shred chmod chown patch mkdir unzip gunzip gzip"
)


def denied_name(
    command: str, parts: Sequence[Simple] | None, deny: Sequence[Rule], roots: Mapping[str, str]
) -> Refusal | None:
    """The rule by which a command must not run, or has to be asked about, for a path that it names.

    `roots` are the workspace's folders: the absolute path, and what shown paths in it begin with. What is named
    literally is denied, what only may be meant is asked about. A rule for `Edit` speaks of what a command writes.
    """
    rules = [rule for rule in deny if rule.tool in ("Read", "Edit") and not rule.blanket]
    if not rules:
        return None
    near: Refusal | None = None
    count = 0
    for name, literal, writes in named_by(command, parts, roots):
        if len(name) > LONGEST_PATH:
            continue
        count += 1 + name.count("/")
        if count > MAX_NAMES or count * len(rules) > MAX_LOOKS:
            return near or ("ask", rules[0])
        for rule in rules:
            if rule.tool == "Edit" and writes is False:
                continue
            named = literal and rule.forbids_path(name)
            if named and (rule.tool == "Read" or writes):
                return "deny", rule
            if named or (_holds(name, rule) if literal else _may_match(name, rule)):
                near = near or ("ask", rule)
    return near


def decided_name(command: str, parts: Sequence[Simple] | None, obeyed: ObeyedPaths, roots: Mapping[str, str]) -> str:
    """Why a command is asked about every time for a file that it is seen to name and not only to read (S-8).

    Empty where nothing is seen. What checks or runs such a file leaves it as it is, but for text that it is given.
    """
    if not obeyed.names and not obeyed.paths:
        return ""
    seen = parts and [
        _run(part) for part in parts if part.writes or goes_to(part.command) or not only_reads(part.command)
    ]
    names = islice(named_by(command, seen, roots), MAX_NAMES + 1)
    for count, (name, literal, writes) in enumerate(names):
        if count == MAX_NAMES:
            return "It names too many files to look at each of them"
        if (writes is not False or not literal) and (why := obeyed.why(name)):
            return f"{why}: {name}"
    return ""


def _run(part: Simple) -> Simple:
    """A command without the name of its program, where that is a file: it is run and not changed."""
    first = len(part.assignments)
    runs = first < len(part.words) and "/" in part.words[first].raw
    return replace(part, words=(*part.words[:first], _SOME, *part.words[first + 1 :])) if runs else part


def named_by(command: str, parts: Sequence[Simple] | None, roots: Mapping[str, str]) -> Iterator[Name]:
    """Every path that a command names; `roots` are as for `denied_name`, and `parts` None where it cannot be read."""
    joined = unquoted(command.replace("\\\n", ""))
    for words in [joined] if parts is None else LOOP.findall(command):
        yield from ((piece, False, None) for piece in dict.fromkeys(_PIECE.split(words)))
    places = [root for root in list(roots)[:1] if root]
    for part in parts or ():
        for target in part.targets:
            yield from _word(target, places, roots, writes=target in part.writes)
        name = program(part.command)
        if to := goes_to(part.command):
            places += [posixpath.normpath(posixpath.join(place, to.value or "")) for place in places]
            places = list(dict.fromkeys(places))[:MAX_FOLDERS]
        writes = _use(part.command)
        message = False
        for word in part.words:
            before, message = message, name == "git" and word.raw in ("-m", "--message", "-am", "--grep", "-S", "-G")
            if not before and not (name in _SPEAKS_ONLY and word.value is not None):
                yield from _word(word, places, roots, writes=writes)


def _use(command: tuple[Word, ...]) -> bool | None:
    """Whether the program writes the files it is given: False where it only looks at them, None where it may."""
    name = program(command)
    if name in _WRITERS or (name in ("sed", "yq") and has_risky_flag(command, 1)):
        return True
    if name in READERS or name == "git":
        return False if only_reads(command) else None
    mends = any(word.value is None or _MENDS.fullmatch(word.value) for word in command[1:])
    return False if _CHECKERS.fullmatch(name) and not mends else None


def _word(word: Word, places: Iterable[str], roots: Mapping[str, str], *, writes: bool | None) -> Iterator[Name]:
    text = word.value
    if text is None:
        plain = unquoted(_ESCAPED.sub(_spelt, word.raw)).removeprefix("~+/")
        pieces = _PIECE.split(plain) if _MAGIC.search(plain) is None else [plain]
        if "$" in plain:
            pieces += [piece.partition("/")[2] for piece in pieces]
        for option in (option for piece in pieces for option in spelt_out(piece)[:MAX_SPELT]):
            yield option.lstrip("/"), _MAGIC.search(option) is None and "$" not in plain, writes
        return
    spoken = SPOKEN.search(text) is not None
    whole = {text} if spoken else {text, *_INSIDE.split(text)}
    if text.startswith("-") and not text.startswith("--"):
        whole.add(text[2:])
    named = [(name, True) for name in sorted(whole)]
    named += [(piece, False) for piece in dict.fromkeys(_PIECE.split(text))] if spoken else []
    for name, literal in named:
        if name and name != "-":
            yield from ((shown, literal, writes) for shown in _shown(name, places, roots))


def _shown(name: str, places: Iterable[str], roots: Mapping[str, str]) -> list[str]:
    """The ways in which a path of the workspace would be shown; none for a path outside of it."""
    found: list[str] = []
    name = _BY_PROCESS.sub(lambda match: "." if match[1] == "cwd" else "", name)
    for place in ["/"] if name.startswith("/") else places:
        path = posixpath.normpath(posixpath.join(place, name))
        for root, first in roots.items():
            if f"{path}/".startswith(f"{root.rstrip('/')}/"):
                found.append(posixpath.join(first, path[len(root.rstrip("/")) :].lstrip("/")))
    if not roots and not name.startswith("/"):
        found.append(posixpath.normpath(name))
    return [shown for shown in dict.fromkeys(found) if shown not in ("", ".")]


def _may_match(name: str, rule: Rule) -> bool:
    """Whether a name in which something is unknown, or that only may be a path, may be one that the rule denies."""
    plain = name.removeprefix("./").rstrip("/")
    if not plain.strip("*?/."):
        return False  # everything there is: what that shows, the sandbox decides
    if _MAGIC.search(plain) is None:
        return rule.forbids_path(plain)
    wanted = (rule.specifier or "").removeprefix("./").lstrip("/")
    literal, folder = (_MAGIC.split(pattern, maxsplit=1)[0] for pattern in (plain, wanted))
    if rule.forbids_path(literal.rstrip("/") + "/x") or rule.forbids_path(_MAGICAL.sub("x", plain)):
        return True
    if folder == wanted:
        return _matches(plain, wanted) or _matches(posixpath.basename(plain), wanted)
    if _alike(posixpath.basename(plain).casefold(), posixpath.basename(wanted).casefold()):
        return True
    return bool(folder) and _matches(plain.split("/")[0], folder.split("/")[0]) and "/" in plain


def _holds(name: str, rule: Rule) -> bool:
    """Whether what a folder holds is denied: who lists, copies or moves it has it all."""
    return not name.endswith("/..") and rule.forbids_path(f"{name.rstrip('/')}/x")


def _alike(pattern: str, wanted: str) -> bool:
    """Whether two names, one or both with something unknown in them, begin or end in a way that fits."""
    if not pattern.strip("*?") or not wanted.strip("*?"):
        return False
    if _MAGIC.search(wanted) is None:
        return _matches(pattern, wanted)
    ours, theirs = _MAGICAL.split(pattern), _MAGICAL.split(wanted)
    fits = _fits(ours[0], theirs[0]) and _fits(ours[-1][::-1], theirs[-1][::-1])
    return fits and bool((ours[0] and theirs[0]) or (ours[-1] and theirs[-1]))


def _fits(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _spelt(match: re.Match[str]) -> str:
    """What bash makes of `$'…'`, as far as it is plain."""
    try:
        return match[1].encode("ascii").decode("unicode_escape")
    except UnicodeError:
        return match[1]


def _matches(pattern: str, name: str) -> bool:
    compiled = _compiled(pattern) if len(pattern) <= MAX_PATTERN else _ANYTHING
    return compiled is not None and compiled.fullmatch(name.casefold().rstrip("/")) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        expression = translate(pattern.casefold(), braces=True)
    except ToolFailure:
        return _ANYTHING  # it stands for too much to be looked at
    return None if expression is None else re.compile(expression, re.DOTALL)
