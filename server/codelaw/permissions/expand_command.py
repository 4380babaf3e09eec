"""What a command comes down to: every command that it runs in the end, as far as that is seen (S-1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from codelaw.permissions.risky_flags import PRINTING_SED, SUBSCRIPT, evaluated, risky_flags
from codelaw.permissions.shell import SPOKEN, Simple, Word, listed, program, read
from codelaw.permissions.variables import LOADS, RUNS_ITS_VALUE, assigned, name_and_value

MAX_TAILS = 200
"""Words of one command that may begin another; beyond them it counts as unseen (S-6)."""
MAX_TEXTS = 150
"""Texts that are read as commands; further ones count as unseen (S-6)."""
MAX_CODE = 600
"""Characters of code in which commands are looked for (S-6)."""
MAX_DEPTH = 4
"""Texts within texts."""

_RUNNERS = listed(
    "builtin bunx busybox caffeinate chroot chrt command coproc dbus-run-session doas docker entr env exec expect"
    " fakeroot fd fdfind find flock hatch ionice kubectl ltrace nice nohup nox npx nsenter parallel pipenv pkexec"
    " pnpx podman poetry proot rlwrap runuser rush script setarch setsid ssh start-stop-daemon stdbuf strace su sudo"
    " systemd-run taskset time timeout tox toybox trap unbuffer unshare uv uvx watch xargs xvfb-run"
    " bwrap capsh chronic cpulimit cross-env eatmydata faketime firejail ld.so ld-linux.so.2 ld-linux-x86-64.so.2"
    " ld-linux-aarch64.so.1 numactl perf prlimit proxychains proxychains4 qemu-aarch64 qemu-x86_64 rr setpriv torify"
    " torsocks valgrind"
)
"""They run the command that follows in their arguments."""

SHELLS = listed("sh bash zsh dash ksh mksh fish ash csh tcsh rbash pwsh powershell")
"""They run text."""

_INTERPRETER = re.compile(
    r"python[\d.]*|pypy[\d.]*|ipython|node|nodejs|deno|bun|tsx|ts-node|ruby|irb|perl[\d.]*|php[\d.]*|lua[\d.]*|tclsh|julia"
    r"|Rscript|osascript|[gmn]?awk|sed|gdb|lldb|jshell|groovy|guile|ghci|iex|elixir|erl"
)
"""Programs that run code of their own language, from their arguments or their standard input."""

_EVALUATED_INPUT = listed("read mapfile readarray xargs parallel")
_BUILTINS = listed("source .")
_RUNS_BUILTINS = frozenset({"command", "builtin", "time"})
_SOURCES = SHELLS | _BUILTINS
_BY_SUBCOMMAND = {
    name: listed(words)
    for names, words in {
        "docker podman nerdctl": "run exec compose container create",
        "kubectl": "exec run debug",
        "uv poetry pipenv hatch pdm rye pixi": "run tool x exec",
        "npm pnpm yarn bun": "exec x dlx explore node",
        "bundle rbenv pyenv asdf mise direnv lerna": "exec x",
        "conda mamba micromamba volta op": "run",
        "git": "bisect filter-branch submodule hook",
    }.items()
    for name in names.split()
}
"""Programs that run the command in their arguments only behind one of these words."""
_OF_PNPM = listed("ln rm install test patch link fetch import env init kill")
"""Its own words that other programs are named by, too."""
_TEXTUAL = listed(
    "script flock su runuser sg watch parallel rush ssh entr expect tmux screen xterm xvfb-run nix-shell nix crontab"
    " hyperfine vi vim nvim view ex ed emacs kak trap mapfile readarray complete bind npx bunx pnpx npm pnpm yarn bun"
    " gdb lldb rsync scp sftp start-stop-daemon doas sudo unbuffer"
)
"""Programs of which an argument may be a whole command line."""
_EDITORS = listed("vi vim nvim view ex ed emacs kak")
_STANDARD_INPUT = {
    **dict.fromkeys(listed("at batch make gmake ed ex expect"), listed("")),
    "crontab": listed("-l -r"),
    "parallel": listed("::: ::::"),
}
"""Programs that run, or lay down for later, what they read, unless there is one of these words."""
_CALL = re.compile(
    r"(?:system|popen|exec\w*|spawn\w*|run|call|check_output|check_call|shell_exec|passthru|qx|%x|!)\s*[(\[{]*\s*"
    r"(?:(?P<quote>[\"'`])(?P<quoted>.+?)(?P=quote)|(?<=[({])(?P<bare>[^(){}\[\]\"'`]+))",
    re.DOTALL,
)
_TICKS = re.compile(r"`([^`]+)`")
_PIPED = re.compile(r"\"([^\"]+)\"\s*\||\|\s*\"(?P<quoted>[^\"]+)\"")
_AWK_RUNS = re.compile(r"system|\||getline|@load|@include|@\w+\s*\(")
_AWK_ELSEWHERE = re.compile(r"-[fEieloWD].*|--(?:deb|ex|fil|in|lo|so).*", re.DOTALL)
"""Options by which awk takes its program, or a part of it, from elsewhere."""
_AWK_VALUED = listed("-v -F --assign --field-separator")
_SED_RUNS = re.compile(r"(?:^|[\s;{}\d$/!])e(?:\s+([^\n]*)|[;}]|$)|s(.)(?:(?!\2).)*\2(?:(?!\2).)*\2[a-zA-Z0-9]*e")
_SPLIT_STRING = re.compile(r"(?:--split-string(?:=|\Z)|-[a-zA-Z]*S)(.*)", re.DOTALL)
_CODE = re.compile(
    r"-[a-zA-Z]*[ceEpr].*|--(?:eval|print|command|execute|expression|require|import|loader)(?:=.*)?"
    r"|-ex|eval|timeit|-[BRF]|\+.*|/dev/(?:stdin|fd/0)|/proc/self/fd/0",
    re.DOTALL,
)
_OTHER_RULES = re.compile(r"-[a-zA-Z0-9]*[fE].*|--(?:fi|mak|ev).*", re.DOTALL)
_SCRIPT_FILE = re.compile(r"-[a-zA-Z]*f.*|--fi.*", re.DOTALL)
_FIND_RUNS = re.compile(r"-(?:exec|execdir|ok|okdir|x|X)|--exec(?:-batch)?")
_IN_DATABASE = re.compile(r"(?:\.shell|\.system|\\!|\bsystem)\s+(.+)")
_SUBSTITUTED = re.compile(r"-(?:I|i|J).*|--replace.*|-[a-zA-Z0-9]*I.*", re.DOTALL)
_INSTALLED = re.compile(r"[^/]*|(?:/usr)?(?:/local)?/s?bin/[^/]+")
"""A program that is not the workspace's own."""
_GIT_KEY = re.compile(r"[\w.*/-]+")
_GIT_RUNS = re.compile(
    r"core\.(?:fsmonitor|pager|editor|sshcommand|askpass|gitproxy|hookspath)|include\.path|includeif\..*|pager\..*"
    r"|sequence\.editor|diff\.external|.*\.(?:textconv|command|driver|clean|smudge|process|helper|program|cmd)",
    re.IGNORECASE,
)
"""Settings of git whose value is a program, or leads to such settings."""


class Expansion:
    """What a command comes down to."""

    def __init__(self, part: Simple) -> None:
        self.commands: list[tuple[Word, ...]] = []
        """Every command that it may be, itself first."""
        self.parts: list[Simple] = []
        """Itself, and the commands of the texts that it runs."""
        self.hidden = False
        """Whether it may run something unseen."""
        self._texts_left = MAX_TEXTS
        self._take(part, 0)
        self.commands = list(dict.fromkeys(self.commands))

    def _take(self, part: Simple, depth: int) -> None:
        self.parts.append(part)
        for word in part.assignments:
            self._assigned(word, depth)
        command = part.command
        if not command:
            return
        first = command[0].value
        self._hide(first is None or SUBSCRIPT.search(first))
        tails = [command, *_run_as_script(command)]
        if runs_its_words(command):
            self._hide(len(command) > MAX_TAILS or any(word.value is None for word in command[1:]))
            tails += [command[index:] for index in range(1, min(len(command), MAX_TAILS))]
        self.commands += tails
        for tail in tails:
            if tail is not command and program(tail) in _BUILTINS and program(command) not in _RUNS_BUILTINS:
                continue  # `find .`: no other program can run them
            for word in assigned(tail):
                self._assigned(word, depth)
            for text in self._texts(tail, part):
                self._text(text, depth)
                if self._texts_left <= 0:
                    self.hidden = True
                    return

    def _hide(self, when: object) -> None:
        self.hidden = self.hidden or bool(when)

    def _text(self, text: str | None, depth: int) -> None:
        self._texts_left -= 1
        parts = None if text is None or depth >= MAX_DEPTH else read(text)
        self._hide(parts is None)
        for inner in parts or ():
            self._take(inner, depth + 1)

    def _guessed(self, text: str) -> list[str]:
        """The text, where it can be read; what is only perhaps a command hides nothing."""
        self._texts_left -= 1
        return [text] if text.strip() and self._texts_left > 0 and read(text) is not None else []

    def _assigned(self, word: Word, depth: int) -> None:
        name, value = name_and_value(word)
        self._hide(LOADS.fullmatch(name) or SUBSCRIPT.search(value or ""))
        if RUNS_ITS_VALUE.fullmatch(name):
            self._hide(value is not None and not _INSTALLED.fullmatch(value.split(" ")[0]))
            self._text(value, depth)

    def _texts(self, command: tuple[Word, ...], part: Simple) -> Iterator[str | None]:
        """The texts that a command runs; None for one that cannot be known."""
        name = program(command)
        values = [word.value for word in command[1:]]
        match name:
            case "eval":
                yield _joined(values[1:] if values[:1] == ["--"] else values)
            case "alias":
                yield from (value and value.partition("=")[2] for value in values)
            case "hash" | "enable":
                self._hide({None, "-p", "-f"}.intersection(values))
            case "find" | "fd" | "fdfind":
                runs = (after for before, after in pairwise(values) if before and _FIND_RUNS.fullmatch(before))
                self._hide(any(after is None or "{" in after for after in runs))
            case "xargs":
                self._hide(_fills_in(values) or any(map(_runs_what_it_reads, values)))
            case "run-parts":
                self.hidden = True
            case "make" | "gmake":
                self._hide(any(value is None or _OTHER_RULES.fullmatch(value) for value in values))
            case "env":
                for at, value in enumerate(values):
                    if value is not None and (split := _SPLIT_STRING.fullmatch(value)):
                        yield split[1] or _joined(values[at + 1 :])
            case "git":
                yield from self._git_texts(values)
                yield from self._spoken(name, values) if runs_its_words(command) else ()
            case "sqlite3" | "psql" | "mysql":
                for said in (match for value in (*values, *part.inputs) for match in _IN_DATABASE.findall(value or "")):
                    self.hidden = True
                    yield from self._guessed(said)
            case "ssh":
                operands = [value for value in values if value is None or not value.startswith("-")]
                yield from part.inputs or ([None] if len(operands) < 2 else [])
            case "sed":
                yield from self._sed_script(values)
            case _ if name in _SOURCES:
                yield from _shell_texts(name, values, part.inputs)
            case _ if _INTERPRETER.fullmatch(name):
                yield from self._code(name, values, part)
            case _:
                pass
        if name in _TEXTUAL:
            yield from self._spoken(name, values)
        named = name == "make" and not any(value and value.endswith("-") for value in values)
        if name in _STANDARD_INPUT and not named:
            yield from part.inputs or ([] if _STANDARD_INPUT[name].intersection(filter(None, values)) else [None])
        self._hide(next(evaluated(command), None) is not None)
        for at in risky_flags(command, 1):
            yield from self._behind_flag(command, at)

    def _git_texts(self, values: Sequence[str | None]) -> Iterator[str | None]:
        """What `-c key=value` lets git run, an alias by its words."""
        for before, value in pairwise(values):
            key, _, given = (value or "").partition("=")
            if before != "-c" or not _GIT_KEY.fullmatch(key) or not given:
                continue
            if key.casefold().startswith("alias."):
                yield given[1:] if given.startswith("!") else f"git {given}"
            else:
                elsewhere = key.casefold().startswith("include")
                elsewhere = elsewhere or not _INSTALLED.fullmatch(given.lstrip("!").split(" ")[0])
                self._hide(elsewhere and _GIT_RUNS.fullmatch(key))
                yield from self._guessed(given.lstrip("!"))
        # `ext::` in the place of an address is a command.
        self._hide(any(value and ("ext::" in value or value.startswith("--config-env")) for value in values))

    def _sed_script(self, values: Sequence[str | None]) -> Iterator[str | None]:
        script = next((value for value in values if value is None or not value.startswith("-")), None)
        given = any(value is not None and _SCRIPT_FILE.fullmatch(value) for value in values)
        if script is None or given or len(script) > MAX_CODE:
            self.hidden = True
        elif not PRINTING_SED.fullmatch(script) and _SED_RUNS.search(script):
            self.hidden = True
            yield from (one[1] for one in _SED_RUNS.finditer(script) if one[1])

    def _code(self, name: str, values: Sequence[str | None], part: Simple) -> Iterator[str | None]:
        """What code in an interpreter's arguments is seen to run; the rest of it stays unseen."""
        operands = [value for value in values if value is None or not value.startswith("-")]
        code = [*values, *part.inputs]
        if name.endswith("awk"):
            script = _awk_program(values)
            code = code if script is None else [script]
            runs = script is None or _AWK_RUNS.search(script)
        else:
            runs = not operands or any(value is not None and _CODE.fullmatch(value) for value in values)
        self._hide(runs)
        for text in code if runs else ():
            for pattern in (_CALL, _TICKS, _PIPED):
                for match in pattern.finditer((text or "")[:MAX_CODE]):
                    said = match.groupdict()
                    yield from self._guessed(said.get("quoted") or said.get("bare") or match[1] or "")

    def _spoken(self, name: str, values: Sequence[str | None]) -> Iterator[str | None]:
        for value in filter(None, values):
            if value.startswith("--"):
                yield from self._guessed(value.partition("=")[2])
            elif value.startswith("-"):
                for at in range(2, min(len(value), 8)):
                    yield from self._guessed(value[at:])
            elif name in _EDITORS:
                self.hidden = True
                yield from self._guessed(value.lstrip("+:! "))
                yield from (one["quoted"] for one in _CALL.finditer(value[:MAX_CODE]) if one["quoted"])
            elif SPOKEN.search(value) or value.startswith("!"):
                yield value.lstrip("!\\ ")

    def _behind_flag(self, command: tuple[Word, ...], at: int) -> Iterator[str | None]:
        """What stands in, or right behind, a flag that makes its program run something."""
        value = command[at].value
        if value is None:
            return
        attached = value.rpartition("exec=")[2] if "exec=" in value else value.partition("=")[2]
        if not attached and not value.startswith("--"):
            attached = re.sub(r"^-?-?[a-zA-Z0-9]", "", value)
        yield from self._guessed(attached)
        following = command[at + 1].value if at + 1 < len(command) else None
        if following is not None and "=" not in value:
            yield from self._guessed(following.lstrip("!"))


def _awk_program(values: Sequence[str | None]) -> str | None:
    """The program among awk's arguments; None where it is not there, or not known."""
    valued = False
    for at, value in enumerate(values):
        if value is None or (not valued and _AWK_ELSEWHERE.fullmatch(value)):
            return None
        if value == "--" and not valued:
            return values[at + 1] if at + 1 < len(values) else None
        if not valued and not value.startswith("-"):
            return value
        valued = not valued and value in _AWK_VALUED
    return None


def runs_its_input(command: tuple[Word, ...]) -> bool:
    """Whether what the program reads is code, or names that the shell goes on with."""
    name = program(command)
    return name in SHELLS or name in _EVALUATED_INPUT or _INTERPRETER.fullmatch(name) is not None


def runs_none_of_its_words(command: tuple[Word, ...]) -> bool:
    """Whether the program is known to run a command in its arguments only behind some words, and has none of them."""
    return program(command) in _BY_SUBCOMMAND and not runs_its_words(command)


def runs_its_words(command: tuple[Word, ...]) -> bool:
    """Whether the program runs a command that stands in its arguments."""
    behind = _BY_SUBCOMMAND.get(program(command))
    if behind is None:
        return program(command) in _RUNNERS
    for before, word in pairwise(command[:6]):
        if word.value is None or word.value in behind:
            return True
        if not word.value.startswith("-") and not (before is not command[0] and (before.value or "").startswith("-")):
            return False
    return False


def _run_as_script(command: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """What stands in the place of a script's name and is run all the same: `npm run env -- x`, `pnpm x`."""
    name, values = program(command), [word.value for word in command[:3]]
    if name in _BY_SUBCOMMAND and values[1:] in (["run", "env"], ["run-script", "env"]):
        yield from (command[at:] for at in range(2, min(len(command), MAX_TAILS)))
    elif name == "pnpm" and len(command) > 1 and values[1] not in _OF_PNPM:
        yield command[1:]


def _joined(values: Sequence[str | None]) -> str | None:
    known = [value for value in values if value is not None]
    return " ".join(known) if len(known) == len(values) else None


def _shell_texts(name: str, values: Sequence[str | None], inputs: Sequence[str | None]) -> list[str | None]:
    if name in SHELLS:
        if any(value is None or re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", value) for value in values):
            return [value for value in values if value is None or not value.startswith("-")]
        if inputs and all(value is not None and value.startswith(("-", "+")) for value in values):
            # What runs there reads on where the shell does: `head -c 2` makes a command of a comment.
            return [*inputs, None]
    return [None]  # a file, or a standard input that is not seen


def _runs_what_it_reads(value: str | None) -> bool:
    """Whether xargs takes its arguments from a file by this option, or puts them behind a program that runs them."""
    return value is None or value.startswith(("-a", "--arg-f")) or value in _RUNNERS | SHELLS


def _fills_in(values: Sequence[str | None]) -> bool:
    """Whether xargs puts what it reads in the place of a program or of a shell's text."""
    if not any(value is not None and _SUBSTITUTED.fullmatch(value) for value in values):
        return False
    marks = {"{}", *(value[2:] for value in values if value and value.startswith("-I") and len(value) > 2)}
    marks |= {after for value, after in pairwise(values) if value == "-I" and after}
    operands = [value for value in values if value and not value.startswith("-")]
    operands = operands[1:] if operands and operands[0] in marks and "-I" in values else operands
    return any(mark in first for first in operands[:1] for mark in marks) or not SHELLS.isdisjoint(operands)
