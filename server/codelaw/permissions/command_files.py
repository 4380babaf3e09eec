"""Which files a command names or may load, by its words alone (S-8): nothing here looks at the disk.

Who may write one of them decides what the command does. Of a hook its answer is then not the user's, and a server that
is started from one runs what stands there. What a program reads of its own accord is known of some programs only.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from codelaw.permissions.expand_command import runs_its_words
from codelaw.permissions.shell import Word, listed, program, read

MOST_NAMES = 2_000
"""Paths of one command; of one with more it cannot be said what it reads (S-6)."""
MAX_DEPTH = 4
"""Texts for shells within texts."""
_MOST_PLACES = 8

_SHELLS = listed("sh bash zsh dash ksh mksh ash fish")
_SOURCES = listed("source .")
_SPEAKS = listed("echo printf true false : exit return shift set")
"""Their words are no files."""
_MOVES = listed("cd pushd")
_INTERPRETER = re.compile(
    r"python[\d.]*w?|pypy[\d.]*|node|nodejs|deno|bun|tsx|ts-node|ruby|perl[\d.]*|php[\d.]*|lua[\d.]*|tclsh|julia|Rscript"
)
"""They run the file that is their first operand, load what lies in the folder, or run code in their arguments."""
_NODE = listed("node nodejs deno bun tsx ts-node")
_ENDINGS = ("", ".js", ".cjs", ".mjs", ".ts")
_VALUED = listed("-W -X -r --require --import --loader --experimental-loader --env-file --conditions -I -M --preload")
"""Flags of interpreters whose value stands behind them."""
_CODE = re.compile(r"-[bBdEhiIOPqRsSuvxnlaw0]*[ceEpr]|--(?:eval|print)(?:=.*)?|eval", re.DOTALL)
_MODULE = re.compile(r"-[bBdEiIOPqRsSuvx]*m(.*)", re.DOTALL)
_OF_THE_FOLDER = listed(
    "make gmake npm pnpm yarn uv poetry pipenv hatch pdm rye pixi tox nox pytest just task rake bundle cargo go gradle"
    " gradlew mvn mvnw composer docker-compose podman-compose dotnet mix sbt ant bazel nx turbo gulp grunt direnv mise"
    " invoke inv fab doit pre-commit lefthook vite jest vitest git"
)
"""Programs that run, or tell, what the folder says in which they are started."""
_LOOKED_INTO = {
    **dict.fromkeys(listed("npx bunx pnpx"), ("node_modules", ".npmrc", "package.json", "bunfig.toml")),
    "uvx": ("uv.toml", "pyproject.toml"),
}
"""Of some it is known which names of the folder decide what they run."""
_PLACES = re.compile(
    r"(?:-C|--directory|--chdir|--cwd|--prefix|--project|--project-directory|--dir)(?:=(.*))?", re.DOTALL
)
_LOADING = re.compile(
    r"PATH|(?:BASH_ENV|ENV|LD_\w+|DYLD_\w+|PERL5\w+|PYTHON\w+|NODE_\w+|RUBY\w+|GIT_\w+|npm_config_\w+|UV_\w+|PIP_\w+)"
    r"|\w*(?:SHELL|OPTIONS|_OPTS|FLAGS)",
    re.IGNORECASE,
)
"""Variables that name what a program loads."""
_PIECE = re.compile(r"[\s;&|<>()$`'\"=,@:{}\[\]]+")


@dataclass(frozen=True, slots=True)
class CommandFiles:
    """What a command is seen to need, as absolute paths with no link followed."""

    programs: tuple[str, ...] = ()
    """Names that are looked up on PATH."""
    loaded: tuple[str, ...] = ()
    """What is run or loaded, and folders of which anything may be."""
    named: tuple[str, ...] = ()
    """What the other words may mean; most of it is not there."""
    unknown: str = ""
    """Why it cannot be said what it runs or reads, in a few words; empty where it can."""


def files_of_line(line: str, cwd: str) -> CommandFiles:
    """What a line for the shell names or may load when it is run in the folder `cwd`, an absolute path."""
    files = _Files()
    files.line(line, [cwd], 0)
    return files.found()


def files_of_program(words: Sequence[str], cwd: str, variables: Mapping[str, str] | None = None) -> CommandFiles:
    """The same of a program that is started without a shell, with `variables` in its environment."""
    files = _Files()
    for name, value in (variables or {}).items():
        files.variable(name, value, [cwd])
    files.command(words, [cwd], 0)
    return files.found()


class _Files:
    def __init__(self) -> None:
        self._programs: dict[str, None] = {}
        self._loaded: dict[str, None] = {}
        self._named: dict[str, None] = {}
        self._unknown = ""

    def found(self) -> CommandFiles:
        if len(self._named) + len(self._loaded) > MOST_NAMES:
            self._doubt("it names too many files")
        loaded, named = tuple(self._loaded)[:MOST_NAMES], tuple(self._named.keys() - self._loaded.keys())
        return CommandFiles(tuple(self._programs), loaded, tuple(sorted(named))[:MOST_NAMES], self._unknown)

    def line(self, text: str, places: Sequence[str], depth: int) -> None:
        parts = read(text) if depth < MAX_DEPTH else None
        if parts is None:
            self._doubt("its line cannot be read with certainty")
        here = [*places]
        for part in parts or ():
            for word in part.assignments:
                name, _, value = (word.value or word.raw).partition("=")
                self.variable(name.rstrip("+"), value, here)
                self._certain([word])
            self._certain(part.targets)
            self._take(self._named, (word.value or "" for word in part.targets), here)
            self._certain(part.command)
            words = [word.value or "" for word in part.command]
            if program(part.command) in _MOVES and len(words) > 1:
                here = _joined([*here, *_under(here, words[1])])
            self.command(words, here, depth)

    def variable(self, name: str, value: str, places: Sequence[str]) -> None:
        pieces = [piece or "." for piece in value.split(":")] if name == "PATH" else [value, *_PIECE.split(value)]
        self._take(self._loaded if _LOADING.fullmatch(name) else self._named, pieces, places)

    def command(self, words: Sequence[str], places: Sequence[str], depth: int) -> None:
        """One command; of a program that runs another, each tail of its words may be that."""
        runs = runs_its_words(tuple(Word(word, word) for word in words))
        for at, word in enumerate(words):
            if (match := _PLACES.fullmatch(word)) and (to := match[1] or next(iter(words[at + 1 :]), "")):
                places = _joined([*places, *_under(places, to)])
        if words and "/" in words[0]:
            self._take(self._loaded, words[:1], places)
        for start in range(len(words) if runs else min(len(words), 1)):
            self._one(words[start], words[start + 1 :], places, depth)

    def _one(self, first: str, rest: Sequence[str], places: Sequence[str], depth: int) -> None:
        name = posixpath.basename(first)
        if first == name:
            self._programs[first] = None
        if name in _SPEAKS:
            return
        if name in _SOURCES or name == "eval":
            self._take(self._loaded, rest[:1], places)
            self._doubt("it evaluates what it makes" if name == "eval" else "")
        elif name in _SHELLS:
            self._shell(rest, places, depth)
        elif _INTERPRETER.fullmatch(name):
            self._doubt(self._interpreter(name, rest, places))
        elif name in _OF_THE_FOLDER or "compose" in rest[:4]:
            self._take(self._loaded, [".", *(word for word in rest if "/" in word or word.startswith("."))], places)
        self._take(self._loaded, _LOOKED_INTO.get(name, ()), places)
        self._take(self._named, (piece for word in rest for piece in _pieces(word)), places)

    def _shell(self, rest: Sequence[str], places: Sequence[str], depth: int) -> None:
        operands = [word for word in rest if not word.startswith(("-", "+"))]
        if any(re.fullmatch(r"-[a-zA-Z]*c", word) for word in rest):
            self.line(operands[0] if operands else "", places, depth + 1)
        elif operands:
            self._take(self._loaded, operands[:1], places)
        else:
            self._doubt("it runs what it reads")

    def _interpreter(self, name: str, rest: Sequence[str], places: Sequence[str]) -> str:
        """Take what an interpreter runs; why that cannot be said, empty where it can."""
        before = ""
        for at, word in enumerate(rest):
            if before in _VALUED:
                self._take(self._loaded, [word], places)
            elif name.startswith(("py", "python")) and (match := _MODULE.fullmatch(word)):
                module = (match[1] or next(iter(rest[at + 1 :]), "")).replace(".", "/")
                self._take(self._loaded, [".", module, f"{module}.py"], places)
                return ""
            elif _CODE.fullmatch(word):
                self._take(self._loaded, ["."], places)
                return "it runs code in its arguments"
            elif word in ("run", "x", "test", "start", "task") and name in ("deno", "bun"):
                self._take(self._loaded, ["."], places)
            elif not word.startswith("-"):
                self._take(self._loaded, (word + ending for ending in _ENDINGS[: 5 if name in _NODE else 1]), places)
                return ""
            elif word == "-":
                break
            self._take(self._loaded, [word.partition("=")[2]], places)
            before = word
        return "it runs what it reads"

    def _certain(self, words: Iterable[Word]) -> None:
        if any(word.value is None for word in words):
            self._doubt("a part of its line is known only when it runs")

    def _doubt(self, why: str) -> None:
        self._unknown = self._unknown or why

    def _take(self, found: dict[str, None], names: Iterable[str], places: Sequence[str]) -> None:
        for name in names:
            if (
                len(found) <= MOST_NAMES
                and name
                and not name.startswith("-")
                and "://" not in name
                and "\0" not in name
            ):
                found |= dict.fromkeys(_under(places, name))


def _under(places: Sequence[str], name: str) -> list[str]:
    return [posixpath.normpath(posixpath.join(place, name)) for place in places]


def _joined(places: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(places))[:_MOST_PLACES]


def _pieces(word: str) -> list[str]:
    """What of a word may be a path: all of it, what stands behind a short flag or a sign."""
    return [word, *([word[2:]] if word.startswith("-") else []), *_PIECE.split(word)]
