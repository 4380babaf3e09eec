"""Calls about files that other programs obey: which of them only a person may allow, one by one (S-8).

And which of these files a command names, so that an approval of it can open them.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain

from codelaw.domain.safety.globs import spelt_out, translate
from codelaw.domain.safety.sensitive_files import TABLE, about, folded, obeyed
from codelaw.permissions.expand_command import Expansion
from codelaw.permissions.risky_flags import has_risky_flag
from codelaw.permissions.shell import Simple, Word, goes_to, listed, program, read, unquoted

MOST_NAMED = 200
"""Paths of one command that are opened; what it names beyond is asked about when it fails there."""
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
_LIKELY = re.compile(r"[.*?\[]|jenkinsfile", re.IGNORECASE)
"""What the names that are looked for have."""
_OPTION = re.compile(r"-|\d+$")
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
_NAMES = tuple(sorted({*TABLE, ".git", _PRIVATE}))
_HOLDERS = frozenset(first for first, _, rest in (name.partition("/") for name in TABLE) if rest)
"""Folders in which others obey some."""
_GIT_READERS = listed(
    "add annotate blame cat-file check-attr check-ignore commit describe diff diff-files diff-index diff-tree"
    " for-each-ref grep log ls-files ls-remote ls-tree name-rev push range-diff reflog rev-list rev-parse shortlog"
    " show show-ref status var whatchanged"
)
"""Subcommands that change no file of the work tree."""
_SETTING_WRITERS: dict[str, frozenset[str] | None] = {
    "git init": None,
    "git init-db": None,
    "git lfs": listed("install uninstall update"),
    "git maintenance": listed("start stop register unregister"),
    "git remote": listed("add rename remove rm set-url set-branches set-head"),
    "git sparse-checkout": listed("init set add reapply disable"),
    "git submodule": listed("add init deinit set-branch set-url sync absorbgitdirs --init --recursive"),
    "direnv": listed("allow edit grant permit"),
    "husky": None,
    "lefthook": listed("install add uninstall"),
    "pre-commit": listed("install uninstall init-templatedir autoupdate migrate-config"),
}
"""What writes git's settings or hooks, or decides what runs outside of codelaw: always, or with one of these words."""
_CONFIG_READS = listed("get list -l --list --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool")
_CONFIG_WRITES = listed("--unset --unset-all --add --replace-all --edit -e")
_CONFIG_PLACES = listed("--global --local --system --worktree --show-origin --show-scope -z")
_GIT_VALUED = listed("-C -c --git-dir --work-tree --namespace --exec-path --config-env")
_WRITERS = listed("cp mv tee touch install ln dd rsync truncate")


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
    return next((said for _, said in _mentions(command, parts)), None)


def named_paths(command: str) -> tuple[str, ...]:
    """The paths that a command is seen to change and other programs obey: absolute, or relative to where it starts.

    They come from the words as they are written: what a variable or a pattern stands for is not among them.
    """
    parts = read(command)
    names = [path for path, _ in _mentions(command, parts) if path]
    folders = ["."]
    for part in parts or ():
        if to := goes_to(part.command):
            folders.append(posixpath.join(folders[-1], to.value or "."))
    paths = (posixpath.normpath(posixpath.join(folder, name)) for folder in folders[:9] for name in names)
    return tuple(dict.fromkeys(paths))[:MOST_NAMED]


def _mentions(command: str, parts: Sequence[Simple] | None) -> Iterator[tuple[str, str]]:
    """What other programs obey and a command is seen to change: a path, where it is one, and what is said of it."""
    if parts is None:
        yield from _obeyed_pieces([unquoted(command.replace("\\\n", ""))])
    moved = changes = False
    at, feeds = ".", any(map(_hands_on, parts or ()))
    for part in parts or ():
        reads = only_reads(part.command)
        if to := goes_to(part.command):
            at = posixpath.normpath(posixpath.join(at, to.value or "."))
            moved = moved or _obeyed_piece(at) is not None or any(_named([to]))
        elif not reads or part.writes:
            yield from _held(part, at)
        changes = changes or not reads or bool(part.writes)
        yield from _named(part.writes, writes=True)
        for said in filter(None, map(_writes_settings, Expansion(part).commands)):
            yield from ((path, said) for path in about(part.text) or [""])
        quiet = reads and not feeds
        yield from _named(part.assignments if quiet else part.words, writes=program(part.command) in _WRITERS)
    if changes and moved:
        yield "", "a command is run in a folder that other programs obey"
    if changes:
        yield from _obeyed_pieces(LOOP.findall(command))


def _hands_on(part: Simple) -> bool:
    """Whether a command gives names that it reads to one that may change them."""
    if program(part.command) != "xargs":
        return False
    rest = part.command[1:]
    while rest and _OPTION.match(rest[0].raw):
        rest = rest[1:]
    return not rest or not only_reads(rest)


def _held(part: Simple, at: str) -> Iterator[tuple[str, str]]:
    """The folders in a command's words that hold what others obey, and what lies in one that it runs in."""
    inside = folded(posixpath.basename(at)) in _HOLDERS
    for word in (*part.words, *part.writes):
        value = (word.value or "").rstrip("/")
        if inside and value and (said := _obeyed_piece(posixpath.join(posixpath.basename(at), value))):
            yield posixpath.join(at, value), said
        if folded(posixpath.basename(value)) in _HOLDERS:
            yield value, f"other programs obey what lies in {value}"


def only_reads(command: tuple[Word, ...]) -> bool:
    """Whether the command is known to change no file that it names."""
    name = program(command)
    if name == "git":
        verb, rest = _git_verb(command)
        if verb == "config":
            return _reads_config([word.value for word in rest])
        return verb in _GIT_READERS and not has_risky_flag(command, 1)
    if name == "printf":
        return len(command) < 2 or command[1].value not in (None, "-v")
    return not command or (name in READERS and not has_risky_flag(command, 1))


def _git_verb(command: tuple[Word, ...]) -> tuple[str, tuple[Word, ...]]:
    """Git's subcommand and what follows it; options in front are passed over."""
    at = 1
    while at < len(command) and (value := command[at].value) is not None and value.startswith("-"):
        at += 2 if value in _GIT_VALUED else 1
    return ((command[at].value or "") if at < len(command) else ""), command[at + 1 :]


def _writes_settings(command: tuple[Word, ...]) -> str | None:
    """What the command does to git's settings or hooks, by its very words."""
    name, rest = program(command), command[1:]
    if any(_HOOKS_PATH.search(word.value or word.raw) for word in rest) and not only_reads(command):
        return "core.hooksPath says which hooks git runs"
    if name == "git":
        verb, rest = _git_verb(command)
        if verb == "config" and not _reads_config([word.value for word in rest]):
            return "it writes git's settings"
        name = f"git {verb}"
    wanted = _SETTING_WRITERS.get(name, frozenset())
    if wanted is not None and wanted.isdisjoint(word.value or "" for word in rest):
        return None
    what = "writes git's settings or hooks" if name.startswith("git ") else "decides what is run outside of codelaw"
    return f"{name} {what}"


def _reads_config(values: Sequence[str | None]) -> bool:
    if not _CONFIG_READS.isdisjoint(filter(None, values[:6])):
        return _CONFIG_WRITES.isdisjoint(filter(None, values))
    operands = [value for value in values if value is None or value not in _CONFIG_PLACES]
    return len(operands) == 1 and operands[0] is not None and not operands[0].startswith("-")


def _named(words: Sequence[Word], *, writes: bool = False) -> Iterator[tuple[str, str]]:
    """What of the words other programs obey; `writes`: the program writes files that it is given."""
    texts: list[str] = []
    excluding = False
    for word in words:
        value = word.value or word.raw
        if writes and folded(value.removeprefix("./")) == "head":
            yield "", "HEAD at the top of the workspace would make it a bare repository"
        before, excluding = excluding, _EXCLUDING.fullmatch(word.raw) is not None
        if before or excluding:
            excluding = excluding and "=" not in word.raw
            continue
        texts += [unquoted(word.raw), value]
        if value.startswith("-") and not value.startswith("--"):
            texts.append(value[2:])
    yield from _obeyed_pieces(texts)


def _obeyed_pieces(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The parts of some words that may be paths and that other programs obey, and what is said of each."""
    braced = (spelt_out(text) for text in texts if not _BLANK.search(text))
    options = dict.fromkeys((*texts, *chain.from_iterable(braced)))
    pieces = dict.fromkeys(piece for option in options for piece in _PIECE.split(option))
    pieces = [piece for piece in pieces if _LIKELY.search(piece)]
    if len(pieces) > MAX_PIECES:
        yield "", "it names too many files to look at each of them"
        return
    for piece in pieces:
        if said := _obeyed_piece(piece):
            yield piece, said


def _obeyed_piece(piece: str) -> str | None:
    parts = [part for part in re.split(r"[/\\]", piece) if part not in ("", ".")]
    for at, part in enumerate(parts):
        name = folded(part)
        if name == _PRIVATE:
            return "codelaw itself obeys .codelaw"
        if found := obeyed(parts[at : at + 2]):
            return f"other programs obey {found}"
        if name == ".git" and not (len(parts) > at + 1 and _GIT_DATA.fullmatch(folded(parts[at + 1]))):
            return "git obeys what lies in .git"
        above = folded(parts[at - 1]) if at else ""
        if above in _HOLDERS and _MAGIC.search(part) and (stands_for := meant(f"{above}/{name}")):
            return f"{part} may be {stands_for}, which other programs obey"
        if name.startswith((".", "[")) and _MAGIC.search(part) and (stands_for := meant(name)):
            return f"{part} may be {stands_for}, which other programs obey"
    return None


@lru_cache(maxsize=256)
def meant(pattern: str, names: tuple[str, ...] = _NAMES) -> str | None:
    """The first of some names that a glob without braces stands for; without any given, of those that are obeyed."""
    expression = translate(pattern, braces=False)
    compiled = re.compile(expression, re.DOTALL) if expression is not None else None
    return next((name for name in names if compiled is not None and compiled.fullmatch(name)), None)
