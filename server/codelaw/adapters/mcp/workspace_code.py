"""Whether what a server of the user's own runs lies in a workspace, so that it starts in the sandbox (X-3).

A file that is named counts, whatever it is for; a folder counts where the program before it runs what lies in folders,
and is data to any other. What a program outside names by itself is not seen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from codelaw.adapters.programs import leads_over
from codelaw.domain.served import Program
from codelaw.permissions.shell import listed

_LONGEST = 4_096
"""Characters of a path, as the kernel has it."""
_RUNS = listed(
    "make gmake bmake ninja just task rake npm pnpm yarn bun deno uv poetry pdm hatch rye pixi pipenv pipx cargo go"
    " dotnet gradle gradlew mvn mvnw ant sbt mix bundle composer nix nix-shell direnv mise asdf conda mamba micromamba"
    " devbox flox compose docker-compose podman-compose env sudo doas su cd nodemon watchexec entr concurrently turbo"
    " nx lerna tox nox xargs find parallel swift stack cabal zig dart flutter bazel java"
)
"""Programs to which any folder may be one that they run something of."""
_OPERAND = listed(
    "node nodejs tsx ts-node ruby perl php lua luajit rscript julia elixir guile tclsh osascript npx bunx pnpx uvx sh"
    " bash zsh dash ksh fish ash busybox pwsh powershell cmd"
)
"""Programs that run what their first operand names; the rest is for that."""
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*w?")
_SUFFIX = re.compile(r"\.(?:exe|cmd|bat|ps1|sh)$")
_PACKAGES = frozenset({"npx", "bunx", "pnpx", "uvx"})
_CODE = frozenset({"-c", "-m", "-e", "--eval"})
"""Behind one of these stands what is run, but for packages."""
_FLAGS = listed("-y --yes -q --quiet -u -I -s -S -B -E -O -i -x --")
"""They have no value, so that an operand may follow."""
_LOADS = re.compile(
    r"(?:|PYTHON|NODE_|CLASS|GO|GEM_|LUA_C?|DENO_|DYLD_\w*|LD_\w*)PATH|(?:NODE|DENO|\w*JAVA\w*|JDK_JAVA)_OPTIONS|\w*OPTS?"
    r"|\w*FLAGS|PYTHON\w+|(?:RUBY|PERL5)\w+|(?:UV|NPM_CONFIG|LD|DYLD|BUNDLE|GEM|CARGO|PHP|BUN)_\w+|(?:BASH_)?ENV|ZDOTDIR"
    r"|VIRTUAL_ENV|CONDA_PREFIX|HOME|XDG_\w+|COMPOSE_\w+",
    re.IGNORECASE,
)
"""Variables by which programs load what lies in a folder."""
_TEXT = re.compile(r"[\s;&|<>()$`'\"]")
_BETWEEN = re.compile(r"[\s;&|<>()`'\"=:,#@{}\[\]]+")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def runs_from(program: Program, folders: Sequence[Path], environment: Mapping[str, str]) -> bool:
    """Whether a program, or what it loads, lies in one of `folders`, as far as its words and variables tell.

    `environment` is what it gets beside its own variables. Touches the disk.
    """
    around = {**environment, **program.env}
    home = around.get("HOME", "/")
    cwd = str(program.cwd or home)

    def lies(word: str, *, folder: bool) -> bool:
        """Whether a word names something there; a folder only where one counts."""
        text = _TEXT.search(word) is not None
        bases = [cwd]
        for piece in _pieces(_filled(word, around) if text else word):
            spelled = f"{home}{piece[1:]}" if piece == "~" or piece.startswith("~/") else piece
            for path in [os.path.join(base, spelled) for base in bases]:  # noqa: PTH118 - links are looked at as written
                is_folder = os.path.isdir(path)  # noqa: PTH112 - never raises
                if leads_over(path, folders) and (folder or text or not is_folder):
                    return True
                if text and is_folder and len(bases) < 8:
                    bases.append(path)  # a shell may go there first
        return False

    places = around.get("PATH", os.defpath).split(os.pathsep)
    found = (os.path.join(cwd, place, program.command) for place in places)  # noqa: PTH118 - as above
    started = next((path for path in found if os.path.isfile(path)), "")  # noqa: PTH113 - never raises
    return (
        leads_over(cwd, folders)
        or ("/" not in program.command and leads_over(started, folders))
        or any(lies(value, folder=_LOADS.fullmatch(name) is not None) for name, value in program.env.items())
        or any(lies(word, folder=counts) for word, counts in _words((program.command, *program.args)))
    )


def _words(words: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The words of a command line, each with whether a folder counts in its place."""
    every = operand = package = False
    for before, word in zip(("", *words), words, strict=False):
        name = _SUFFIX.sub("", word.rpartition("/")[2].lower())
        python = _PYTHON.fullmatch(name) is not None
        if name in _RUNS or name in _OPERAND or python:
            every, operand, package = name in _RUNS, name not in _RUNS, name in _PACKAGES
            yield word, True
            continue
        yield word, every or operand
        option = before.startswith("-") and before not in _FLAGS
        if operand and ((before in _CODE and not package) or not (option or word.startswith("-"))):
            operand = False


def _pieces(word: str) -> Iterator[str]:
    """What of a word may be a path: itself, what is joined to an option, the parts of a list or of a shell's text."""
    joined = (word[2:], word[word.find("/") :]) if word.startswith("-") else ()
    parts = [word, word.partition("=")[2], *joined, *_BETWEEN.split(word)]
    yield from dict.fromkeys(part for part in parts if 0 < len(part) <= _LONGEST and "\0" not in part)


def _filled(text: str, environment: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: environment.get(match[1] or match[2], ""), text)
