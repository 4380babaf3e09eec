"""Which files a command names or may load, by its words alone (S-8): nothing here looks at the disk.

Who may write one of them decides what the command does. Of a hook its answer is then not the user's, and a server that
is started from one runs what stands there. What a program reads of its own accord is known of some programs only.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath

from codelaw.permissions.expand_command import SHELLS, runs_its_words
from codelaw.permissions.shell import SPOKEN, Word, goes_to, listed, program, read

MOST_NAMES = 2_000
"""Paths of one command; of one with more it cannot be said what it reads (S-6)."""
MAX_DEPTH = 4
"""Texts for shells within texts."""
_LONGEST = 4_096
"""Characters of a path, as the kernel has it."""
TOO_MANY = "it names too many files"
_MOST_PLACES = 8

_SOURCES = listed("source . eval")
_SPEAKS = listed("echo printf true false : exit return shift set")
"""Their words are no files."""
_INTERPRETER = re.compile(
    r"(?:i?python|pypy|graalpy|micropython)[\d.]*t?w?(?:-dbg)?|node|nodejs|deno|bun|tsx|ts-node|ruby|perl[\d.]*|php[\d.]*"
    r"|lua[\d.]*|luajit|tclsh|julia|rscript|r|elixir|guile|osascript"
)
"""They run the file that is their first operand, load what lies in the folder, or run code in their arguments."""
_NODE = listed("node nodejs deno bun tsx ts-node")
_ENDINGS = ("", ".js", ".cjs", ".mjs", ".ts")
_VALUED = listed("-W -X -r --require --import --loader --experimental-loader --env-file --conditions -I -M --preload")
"""Flags of interpreters whose value stands behind them."""
_ALONE = re.compile(
    r"-[yquIsSBEOixPA]+|--|--(?:yes|quiet|silent|offline|isolated|allow-all)|--(?:no|enable|prefer|disable|trace-(?!event)"
    r"|experimental-(?!loader|config|default))[\w-]*|-[^=]*=.*",
    re.DOTALL,
)
"""Flags without a value behind them; behind any other one may stand."""
_RUN = listed("-c -m -e --eval")
"""Behind one of these stands what is run, but of packages."""
_CODE = re.compile(r"-[bBdEhiIOPqRsSuvxnlaw0]*[ceEpr]|--(?:eval|print)(?:=.*)?|eval", re.DOTALL)
_OPTION = re.compile(r"[-+][a-zA-Z]*o")
"""Behind it stands an option of a shell."""
_MODULE = re.compile(r"-[bBdEiIOPqRsSuvx]*m(.*)", re.DOTALL)
_OF_THE_FOLDER = listed(
    "make gmake bmake ninja npm pnpm yarn uv poetry pipenv hatch pdm rye pixi tox nox pytest just task rake bundle"
    " cargo go gradle gradlew mvn mvnw composer compose docker-compose podman-compose dotnet mix sbt ant bazel nx turbo"
    " lerna gulp grunt direnv mise asdf devbox flox invoke inv fab doit pre-commit lefthook vite jest vitest nix"
    " nix-shell swift stack cabal zig dart flutter git"
)
"""Programs that run, or tell, what the folder says in which they are started."""
_OF_ANY_FOLDER = _OF_THE_FOLDER | listed(
    "deno bun pipx conda mamba micromamba env sudo doas su cd nodemon watchexec entr concurrently xargs find parallel"
    " java uvicorn gunicorn hypercorn foreman honcho pm2 bb clojure lein kotlin scala groovy run-parts"
)
"""Programs to which any folder may be one that they run something of."""
_LOOKED_INTO: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(listed("npx bunx pnpx"), ("node_modules", ".npmrc", "package.json", "bunfig.toml")),
    "uvx": ("uv.toml", "pyproject.toml"),
    "busybox": (),
    "cmd": (),
}
"""Programs that run what is installed by the name of their first operand, and names in the folder that decide it."""
_ALSO_READ: dict[str, tuple[str, ...]] = {
    "bun": ("bunfig.toml",),
    "tsx": ("tsconfig.json",),
    **dict.fromkeys(listed("r rscript"), (".Rprofile", ".Renviron")),
    **dict.fromkeys(listed("lua luajit"), (".",)),
}
"""Interpreters, and what they load of the folder in which they are started, whatever they run."""
_PYTHONS = ("py", "ipy", "graalpy", "micropy")
_BEGIN = {"uv": "run", "pipx": "run", "deno": "run", "pnpm": "dlx", "yarn": "dlx", "bun": "x", "npm": "--"}
"""Behind this word stands what they run, and then what is for that."""
_JOINED = re.compile(r"-[rIM](?=.)")
"""What interpreters load may stand right behind it."""
_SCRIPTED = listed("awk gawk mawk nawk sed jq")
"""They run the file that `-f` names."""
_SCRIPT = re.compile(r"-[a-zA-Z]*f|--(?:file|from-file)")
_CLASSES = ("-jar", "-cp", "-classpath", "--class-path")
"""Without one of these Java looks for classes in the folder."""
_PROGRAMS = re.compile(
    "|".join((_INTERPRETER.pattern, *map(re.escape, (*SHELLS, *_OF_ANY_FOLDER, *_LOOKED_INTO, *_SCRIPTED))))
)
"""They count wherever they stand."""
_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|ps1|sh)$|(?<=\w)(?:@|==).*$|(?<=node|ruby)-?\d[\d.]*$|(?<=make|pnpm)-\d[\d.]*$")
"""What a program's name may end with, that of a package with its version."""
_PLACES = re.compile(
    r"(?:-C|--directory|--chdir|--cwd|--prefix|--project|--project-directory|--dir|--working-directory|--wd)(?:=(.*))?",
    re.DOTALL,
)
_LOADING = re.compile(
    r"(?:|CLASS|GO|GEM_|LUA_C?|DENO_|CD|NIX_|GCONV_)PATH|PERLLIB|INIT_CWD|R_LIBS\w*|OPENSSL_MODULES|(?:BASH_)?ENV|ZDOTDIR|VIRTUAL_ENV|CONDA_PREFIX|HOME"
    r"|(?:LD|DYLD|NODE|GIT|NPM_CONFIG|UV|PIP|BUNDLE|GEM|CARGO|PHP|BUN|XDG|COMPOSE|PDM|JUST|POETRY|MISE|YARN|PNPM)_\w+|(?:PYTHON|RUBY|PERL5)\w+"
    r"|\w*(?:SHELL|OPTIONS|OPTS?|FLAGS|JAVA\w*_OPTIONS)",
    re.IGNORECASE,
)
"""Variables that name what a program loads."""
_PIECE = re.compile(r"[\s;&|<>()$`'\"=,@#:{}\[\]]+")
_FILLED = re.compile(r"\$(?:\{(\w+)\}|(\w+))|(?<![\w/.~])~(?![\w.~])")


@dataclass(frozen=True, slots=True)
class CommandFiles:
    """What a command is seen to need, as absolute paths with no link followed."""

    programs: tuple[str, ...] = ()
    """Names that are looked up on PATH."""
    loaded: tuple[str, ...] = ()
    """What is run or loaded, and folders of which anything may be."""
    named: tuple[str, ...] = ()
    """What the other words may mean; most of it is not there."""
    folders: tuple[str, ...] = ()
    """What of all that may be a folder of which something is run; most of it is none."""
    unknown: str = ""
    """Why it cannot be said what it runs or reads, in a few words; empty where it can."""


@lru_cache(maxsize=64)
def files_of_line(line: str, cwd: str) -> CommandFiles:
    """What a line for the shell names or may load when it is run in the folder `cwd`, an absolute path."""
    files = _Files()
    files.line(line, [cwd], 0)
    return files.found()


def files_of_program(
    words: Sequence[str],
    cwd: str,
    variables: Mapping[str, str] | None = None,
    around: Mapping[str, str] | None = None,
) -> CommandFiles:
    """The same of a program that is started without a shell, with `variables` in its environment.

    With `around`, its whole environment, variables in its words count for what a shell would make of them.
    """
    files = _Files(around)
    files.command(words, [cwd], 0)
    for name, value in (variables or {}).items():
        files.variable(name, value, [cwd])
    return files.found()


_Found = dict[str, None]


class _Files:
    def __init__(self, around: Mapping[str, str] | None = None) -> None:
        self._around = around
        self._programs, self._loaded, self._named, self._folders = (_Found() for _ in range(4))
        self._unknown = ""
        self._code = False
        """It runs code in its arguments, which may go to any folder that they or its variables name."""

    def found(self) -> CommandFiles:
        if max(len(self._named) + len(self._loaded), len(self._folders)) > MOST_NAMES:
            self._doubt(TOO_MANY)
        loaded, named = tuple(self._loaded)[:MOST_NAMES], sorted(self._named.keys() - self._loaded.keys())
        folders = tuple(self._folders)[:MOST_NAMES]
        return CommandFiles(tuple(self._programs), loaded, tuple(named)[:MOST_NAMES], folders, self._unknown)

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
            if to := goes_to(part.command):
                here = _gone(here, to.value or "")
            self.command(words[: 1 if program(part.command) in _SPEAKS else None], here, depth)

    def variable(self, name: str, value: str, places: Sequence[str]) -> None:
        pieces = [*self._pieces([value]), *(one or "." for one in value.split(":") if name == "PATH")]
        self._take(self._loaded if _LOADING.fullmatch(name) else self._named, pieces, places)
        self._take(self._folders, pieces if self._code or SPOKEN.search(value) else (), places)

    def command(self, words: Sequence[str], places: Sequence[str], depth: int) -> None:
        """One command; what programs among its words may load counts for sure where it runs another."""
        runs = runs_its_words(tuple(Word(word, word) for word in words))
        names = [_SUFFIX.sub("", posixpath.basename(word).lower()) for word in words]
        self._programs |= dict.fromkeys(word for word in words[: None if runs else 1] if "/" not in word)
        starts = [
            at for at, name in enumerate(names) if _PROGRAMS.fullmatch(name) or ((runs or not at) and name in _SOURCES)
        ]
        self._take(self._loaded, (word for word in words[:1] if "/" in word), places)
        texts = (word for at, word in enumerate(words) if not at or SPOKEN.search(word))
        self._take(self._folders, (*self._pieces(texts), *(words[at] for at in starts)), places)
        for at, (before, word) in enumerate(pairwise(words), 1):
            if _LOOKED_INTO.keys() & names[:at] and not word.startswith("-") and _is_operand(before):
                break  # what is behind it is for the package
            if match := _PLACES.fullmatch(word):
                places = _gone(places, match[1] or next(iter(words[at + 1 :]), ""))
        self._take(self._named, self._pieces(words[1:]), places)
        for at, end in pairwise([*starts, len(words)]):
            name, rest = names[at], words[at + 1 :]
            near = _until_operand(name, words[at + 1 : end + 1])
            found = self._loaded if runs or not at or name == "compose" else self._folders
            self._take(found, _LOOKED_INTO.get(name, ()), places)
            self._take(found, _ALSO_READ.get(name.rstrip("-.0123456789"), ()), places)
            if name in _SOURCES:
                self._take(found, rest[:1], places)
                self._doubt("it evaluates what it makes" if name == "eval" else "")
            elif name in _OF_THE_FOLDER:
                self._take(found, [".", *(word for word in near if "/" in word or word.startswith("."))], places)
            elif name in _SCRIPTED:
                behind = (after for flag, after in pairwise(rest) if _SCRIPT.fullmatch(flag))
                joined = (word.partition("=")[2] or word.partition("f")[2] for word in rest if word.startswith("-"))
                self._take(found, [*behind, *joined], places)
            elif name == "java" and not any(word.startswith(_CLASSES) for word in rest):
                self._take(found, ["."], places)
            elif name not in _OF_ANY_FOLDER or _INTERPRETER.fullmatch(name):
                self._operand(name, rest, places, self._folders if name in _LOOKED_INTO else found, depth)
            self._take(self._folders, self._pieces(near if name in _OF_ANY_FOLDER else ()), places)

    def _operand(self, name: str, rest: Sequence[str], places: Sequence[str], found: _Found, depth: int) -> None:
        """Take what stands up to a program's first operand.

        A further one is only perhaps run, in case that the first is the value of a flag.
        """
        text, before, python = False, "", name.startswith(_PYTHONS)
        for at, word in enumerate(rest):
            if self._around is not None and name not in _LOOKED_INTO and _is_code(word, python=python):
                self._code = True
                self._take(self._folders, self._pieces(rest[at + 1 :]), places)
            self._take(self._folders, self._pieces([word]), places)
            if python and (match := _MODULE.fullmatch(word)):
                module = (match[1] or next(iter(rest[at + 1 :]), "")).replace(".", "/")
                self._take(found, [".", module, f"{module}.py"], places)
                found = self._folders
            elif found is self._loaded and name not in SHELLS and _CODE.fullmatch(word):
                self._take(found, ["."], places)
                self._doubt("it runs code in its arguments")
                found = self._folders
            elif word == "-" and found is self._loaded:
                break
            elif word.startswith(("-", "+")) or (name in SHELLS and _OPTION.fullmatch(before)):
                joined = word[2:] if _JOINED.match(word) else ""
                self._take(found, [word.partition("=")[2], joined, joined and f"{joined}.rb"], places)
                text = text or (name in SHELLS and re.fullmatch(r"-[a-zA-Z]*c", word) is not None)
            elif word in ("run", "x", "test", "start", "task") and name in ("deno", "bun"):
                self._take(found, ["."], places)
            else:
                if text and found is self._loaded:
                    self.line(self._filled(word), places, depth + 1)
                else:
                    self._take(found, (word + ending for ending in _ENDINGS[: 5 if name in _NODE else 1]), places)
                found = found if before in _VALUED and not (python and before == "-I") else self._folders
                if _is_operand(before) or (before in _RUN and name not in _LOOKED_INTO):
                    break
            before = word
        self._doubt("it runs what it reads" if found is self._loaded else "")

    def _certain(self, words: Iterable[Word]) -> None:
        if any(word.value is None for word in words):
            self._doubt("a part of its line is known only when it runs")

    def _doubt(self, why: str) -> None:
        self._unknown = self._unknown or why

    def _pieces(self, words: Iterable[str]) -> Iterator[str]:
        """What of words may be a path: all of one, what stands behind a flag or a sign."""
        for word in map(self._filled, words):
            yield from (word, word.partition("=")[2], *_PIECE.split(word))
            yield from (word[2:], word[word.find("/") :]) if word.startswith("-") else ()

    def _filled(self, text: str) -> str:
        around = self._around
        return text if around is None else _FILLED.sub(lambda one: around.get(one[1] or one[2] or "HOME", "."), text)

    def _take(self, found: _Found, names: Iterable[str], places: Sequence[str]) -> None:
        for name in dict.fromkeys(names):
            fits = 0 < len(name) <= _LONGEST and not name.startswith("-") and "://" not in name and "\0" not in name
            if fits and len(found) <= MOST_NAMES:
                found |= dict.fromkeys(_under(places, name))


def _is_operand(before: str) -> bool:
    """Whether a word behind `before` is no flag's value."""
    return not before.startswith("-") or _ALONE.fullmatch(before) is not None


def _until_operand(name: str, words: Sequence[str]) -> Sequence[str]:
    """The words behind a program's name that are for itself."""
    if (begins := _BEGIN.get(name)) not in words:
        return words
    first = words.index(begins) + 1
    own = enumerate(pairwise(words[first - 1 :]), first)
    return words[: next((at + 1 for at, (a, b) in own if not b.startswith("-") and _is_operand(a)), len(words))]


def _is_code(flag: str, *, python: bool) -> bool:
    """Whether code stands behind a flag of an interpreter or a shell."""
    return re.fullmatch(r"-[a-zA-Z]*c" if python else r"-[a-zA-Z]*[cep]|-E|--eval|--print", flag) is not None


def _under(places: Sequence[str], name: str) -> list[str]:
    """A path as the kernel walks it, `..` behind a link too, and as the words alone have it."""
    paths = [re.sub(r"^/+", "/", posixpath.join(place, name)) for place in places]
    return [form for path in paths for form in (str(PurePosixPath(path)), posixpath.normpath(path))]


def _gone(places: Sequence[str], name: str) -> list[str]:
    """Where a command may be that was in one of some folders and goes to `name`."""
    return list(dict.fromkeys((*places, *_under(places, name))))[:_MOST_PLACES]
