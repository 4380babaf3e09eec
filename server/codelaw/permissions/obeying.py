"""Calls about files that other programs obey: which of them only a person may allow, one by one (S-8)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from codelaw.domain.errors import ToolFailure
from codelaw.domain.safety.globs import alternatives, translate
from codelaw.domain.safety.obeyed import NAMES, WORKSPACES, folded, obeyed
from codelaw.permissions.flags import escape_flag
from codelaw.permissions.programs import listed, program
from codelaw.permissions.runs import inner_commands
from codelaw.permissions.shell import Simple, Word

MAX_PIECES = 4_000
"""Parts of a command's words that are looked at; a command with more is asked about (S-6)."""

_BARE = frozenset({"head", "config", "config.worktree", "objects", "refs", "hooks", "packed-refs", "commondir"})
"""What a bare repository consists of."""
_PRIVATE = ".codelaw"
_GIT_DATA = re.compile(
    r"(?:head|orig_head|fetch_head|merge_head|cherry_pick_head|revert_head|commit_editmsg|merge_msg|squash_msg|index"
    r"|packed-refs|refs|logs|objects|rebase-merge|rebase-apply|shallow|description|gc\.log)(?:\.lock)?"
)
"""What git keeps in `.git` and obeys none of."""
_PIECE = re.compile(r"[\s;&|<>()$`'\"=,:@!]+")
_UNQUOTED = str.maketrans("", "", "\\'\"")
_MAGIC = re.compile(r"[*?\[]")
_BLANK = re.compile(r"\s")
LOOP = re.compile(r"\bfor\s+\w+\s+in\s([^;\n]*)")
"""The words that a loop goes through; a reader of commands does not keep them."""
_EXCLUDING = re.compile(r"--(?:exclude|ignore|jq)[\w-]*(?:=.*)?|-(?:i?path|i?name|i?wholename|i?regex)", re.DOTALL)
"""Options whose word is a pattern of what is left out or looked for, and no file that is changed."""
_HOOKS_PATH = re.compile(r"core\.hookspath", re.IGNORECASE)

READERS = listed(
    "ls dir vdir cat tac head tail wc grep egrep fgrep zgrep rg ag ack stat file du df which type diff cmp comm cut"
    " sort jq yq tree find fd fdfind bat batcat less nl od hexdump strings md5sum sha1sum sha256sum sha512sum cksum"
    " b3sum realpath readlink basename dirname test [ cd pushd popd pwd echo true false : column fold sed delta"
)
"""Programs that change no file they are given, unless a flag says so."""
_MOVERS = frozenset({"cd", "pushd"})
_GIT_READERS = listed(
    "add annotate blame cat-file check-attr check-ignore commit describe diff diff-files diff-index diff-tree"
    " for-each-ref grep log ls-files ls-remote ls-tree name-rev push range-diff reflog rev-list rev-parse shortlog"
    " show show-ref status var whatchanged"
)
"""Subcommands that change no file of the work tree."""
_GIT_SETTINGS = {
    "init": None,
    "init-db": None,
    "lfs": frozenset({"install", "uninstall", "update"}),
    "maintenance": frozenset({"start", "stop", "register", "unregister"}),
    "remote": frozenset({"add", "rename", "remove", "rm", "set-url", "set-branches", "set-head"}),
    "sparse-checkout": frozenset({"init", "set", "add", "reapply", "disable"}),
    "submodule": frozenset(
        {"add", "init", "deinit", "set-branch", "set-url", "sync", "absorbgitdirs", "--init", "--recursive"}
    ),
}
"""Subcommands that write git's settings or hooks: always, or with one of these words."""
_HOOK_MAKERS = {
    "direnv": frozenset({"allow", "edit", "grant", "permit"}),
    "husky": None,
    "lefthook": frozenset({"install", "add", "uninstall"}),
    "pre-commit": frozenset({"install", "uninstall", "init-templatedir", "autoupdate", "migrate-config"}),
}
_CONFIG_READS = frozenset(
    {
        *("get", "list", "-l", "--list", "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color"),
        *("--get-colorbool",),
    }
)
_CONFIG_PLACES = frozenset({"--global", "--local", "--system", "--worktree", "--show-origin", "--show-scope", "-z"})
_GIT_VALUED = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})
_WRITERS = frozenset(["cp", "mv", "tee", "touch", "install", "ln", "dd", "rsync", "truncate"])


def obeyed_path(shown: str) -> str | None:
    """The name in a path, as shown, that other programs obey; None for any other path."""
    return obeyed(re.split(r"[/\\]", shown))


def bare_piece(parts: Sequence[str], *, begun: bool) -> bool:
    """Whether a file at the top of a workspace folder makes the folder a bare repository, or part of one.

    `parts` are those of its path inside the folder; `begun` says that a `HEAD` lies at the top already.
    """
    first = folded(parts[0]) if parts else ""
    return (first == "head" and len(parts) == 1) or (begun and first in _BARE)


def obeyed_by_command(command: str, parts: Sequence[Simple] | None) -> str | None:
    """What a command is seen to do to files that other programs obey, in words; None when nothing is seen.

    `parts` is the command as read, None when it cannot be read. Programs that only read may name such a file.
    """
    if parts is None:
        return spoken(pieces([command.replace("\\\n", "").translate(_UNQUOTED)]))
    moved = False
    reading = True
    for part in parts:
        for target in part.targets:
            if target.raw in part.writes and (found := _target(target)):
                return found
        if found := next((said for one in inner_commands(part)[0] if (said := settings(one))), None):
            return found
        harmless = only_reads(part.command)
        assigned = part.words[: len(part.words) - len(part.command)]
        named = _named(assigned if harmless else part.words)
        if named is not None:
            return named
        if harmless and program(part.command) in _MOVERS:
            moved = moved or _named(part.command) is not None
        reading = reading and harmless and not part.writes
    if reading:
        return None
    if moved:
        return "a command is run in a folder that other programs obey"
    return next((said for words in LOOP.findall(command) if (said := spoken(pieces([words])))), None)


def only_reads(command: tuple[Word, ...]) -> bool:
    """Whether the command is known to change no file that it names."""
    name = program(command)
    if name == "git":
        verb, rest = _git_verb(command)
        if verb == "config":
            return _reads_config([word.value for word in rest])
        return verb in _GIT_READERS and escape_flag(command, 1) is None
    if name == "printf":
        return len(command) < 2 or command[1].value not in (None, "-v")
    return not command or (name in READERS and escape_flag(command, 1) is None)


def _git_verb(command: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]]:
    """Git's subcommand and what follows it; options in front are passed over."""
    at = 1
    while at < len(command) and (value := command[at].value) is not None and value.startswith("-"):
        at += 2 if value in _GIT_VALUED else 1
    return ((command[at].value or "") if at < len(command) else ""), command[at + 1 :]


def settings(command: tuple[Word, ...]) -> str | None:
    """What the command does to git's settings or hooks, by its very words."""
    name = program(command)
    if any(_HOOKS_PATH.search(word.value or word.raw) for word in command[1:]) and not only_reads(command):
        return "core.hooksPath says which hooks git runs"
    if name == "git":
        verb, rest = _git_verb(command)
        values = [word.value for word in rest]
        if verb == "config" and not _reads_config(values):
            return "it writes git's settings"
        if verb in _GIT_SETTINGS:
            words = _GIT_SETTINGS[verb]
            if words is None or words.intersection(value for value in values if value):
                return f"git {verb} writes git's settings or hooks"
        return None
    if name in _HOOK_MAKERS:
        words = _HOOK_MAKERS[name]
        if words is None or words.intersection(word.value for word in command[1:] if word.value):
            return f"{name} decides what is run outside of codelaw"
    return None


def _reads_config(values: Sequence[str | None]) -> bool:
    if any(value is not None and (value in _CONFIG_READS) for value in values[:6]):
        return not {"--unset", "--unset-all", "--add", "--replace-all", "--edit", "-e"}.intersection(
            value for value in values if value
        )
    operands = [value for value in values if value is None or value not in _CONFIG_PLACES]
    return len(operands) == 1 and operands[0] is not None and not operands[0].startswith("-")


def _target(target: Word) -> str | None:
    if folded(_plain(target)) == "head":
        return "HEAD at the top of the workspace would make it a bare repository"
    return _named((target,))


def _plain(word: Word) -> str:
    """The path a word stands for, without `./` in front; what is not known stays as it is written."""
    return (word.value if word.value is not None else word.raw).removeprefix("./")


def _named(words: Sequence[Word]) -> str | None:
    """The first name in the words that other programs obey."""
    texts: list[str] = []
    excluding = False
    for word in words:
        before, excluding = excluding, _EXCLUDING.fullmatch(word.raw) is not None
        if before or excluding:
            excluding = excluding and "=" not in word.raw
            continue
        texts.append(word.raw.translate(_UNQUOTED))
        if word.value is not None:
            texts.append(word.value)
            if word.value.startswith("-") and not word.value.startswith("--"):
                texts.append(word.value[2:])
    command = program(tuple(words))
    if command in _WRITERS and any(folded(_plain(word)) == "head" for word in words[1:]):
        return "HEAD at the top of the workspace would make it a bare repository"
    return spoken(pieces(texts))


def pieces(texts: Iterable[str]) -> list[str]:
    """The parts of some words that may be paths, each once."""
    found: dict[str, None] = {}
    for text in texts:
        for option in _braced(text):
            for piece in _PIECE.split(option):
                if "." in piece or _MAGIC.search(piece):
                    found[piece] = None
    return list(found)


def _braced(text: str) -> list[str]:
    if "{" not in text or _BLANK.search(text):
        return [text]
    try:
        return [text, *(alternatives(text) or ())]
    except ToolFailure:
        return [text]


def spoken(found: Sequence[str]) -> str | None:
    """What is said of the first of these parts that other programs obey; None when they obey none."""
    if len(found) > MAX_PIECES:
        return "it names too many files to look at each of them"
    for piece in found:
        parts = [part for part in re.split(r"[/\\]", piece) if part not in ("", ".")]
        for at, part in enumerate(parts):
            name = folded(part)
            if name in NAMES or name == _PRIVATE or name.endswith(WORKSPACES):
                return f"other programs obey {name}" if name != _PRIVATE else "codelaw itself obeys .codelaw"
            if name == ".git" and not (len(parts) > at + 1 and _GIT_DATA.fullmatch(folded(parts[at + 1]))):
                return "git obeys what lies in .git"
            if name.startswith((".", "[")) and _MAGIC.search(part) and (meant := _meant(name)):
                return f"{part} may be {meant}, which other programs obey"
    return None


@lru_cache(maxsize=256)
def _meant(pattern: str) -> str | None:
    """The first obeyed name that a glob stands for."""
    try:
        expression = translate(pattern, braces=False)
    except ToolFailure:
        return None
    if expression is None:
        return None
    compiled = re.compile(expression, re.DOTALL)
    return next((name for name in sorted({*NAMES, ".git", _PRIVATE}) if compiled.fullmatch(name)), None)
