"""What a command comes down to: every command that it runs in the end, as far as that is seen (S-1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from codelaw.permissions.flags import SUBSCRIPT, escape_flags, evaluated, harmless_sed
from codelaw.permissions.programs import INTERPRETER, RUNNERS, SHELLS, listed, program
from codelaw.permissions.shell import Simple, Word, read

MAX_TAILS = 200
"""Words of one command that may begin another; beyond them it counts as unseen (S-6)."""
MAX_TEXTS = 150
"""Texts that are read as commands; further ones count as unseen (S-6)."""
MAX_CODE = 600
"""Characters of code in which commands are looked for (S-6)."""
MAX_DEPTH = 4
"""Texts within texts."""

_BUILTINS = frozenset({"source", "."})
_RUNS_BUILTINS = frozenset({"command", "builtin", "time"})
_SOURCES = SHELLS | frozenset({"source", "."})
_BY_SUBCOMMAND: dict[str, frozenset[str]] = {
    **dict.fromkeys(("docker", "podman", "nerdctl"), frozenset({"run", "exec", "compose", "container", "create"})),
    "kubectl": frozenset({"exec", "run", "debug"}),
    **dict.fromkeys(("uv", "poetry", "pipenv", "hatch", "pdm", "rye", "pixi"), frozenset({"run", "tool", "x", "exec"})),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), frozenset({"exec", "x", "dlx", "explore", "node"})),
    **dict.fromkeys(("bundle", "rbenv", "pyenv", "asdf", "mise", "direnv", "lerna"), frozenset({"exec", "x"})),
    **dict.fromkeys(("conda", "mamba", "micromamba", "volta", "op"), frozenset({"run"})),
    "git": frozenset({"bisect", "filter-branch", "submodule", "hook"}),
}
"""Programs that run the command in their arguments only behind one of these words."""
_TEXTUAL = listed(
    "script flock su runuser sg watch parallel rush ssh entr expect tmux screen xterm xvfb-run nix-shell nix crontab"
    " hyperfine vi vim nvim view ex ed emacs kak trap mapfile readarray complete bind npx bunx pnpx npm pnpm yarn bun"
    " gdb lldb rsync scp sftp start-stop-daemon doas sudo unbuffer"
)
"""Programs of which an argument may be a whole command line."""
_EDITORS = frozenset(["vi", "vim", "nvim", "view", "ex", "ed", "emacs", "kak"])
_STANDARD_INPUT = frozenset(["at", "batch", "crontab", "make", "gmake", "ssh", "parallel", "expect", "ed", "ex"])
"""Programs that run, or lay down for later, what they read."""
_CALL = re.compile(
    r"(?:system|popen|exec\w*|spawn\w*|run|call|check_output|check_call|shell_exec|passthru|qx|%x|!)\s*[(\[{]*\s*"
    r"(?:(?P<quote>[\"'`])(?P<quoted>.+?)(?P=quote)|(?<=[({])(?P<bare>[^(){}\[\]\"'`]+))",
    re.DOTALL,
)
_TICKS = re.compile(r"`([^`]+)`")
_PIPED = re.compile(r"\"([^\"]+)\"\s*\||\|\s*\"(?P<quoted>[^\"]+)\"")
_AWK_RUNS = re.compile(r"system|\||getline|@load|@include")
_SED_RUNS = re.compile(r"(?:^|[\s;{}\d$/!])e(?:\s+([^\n]*)|[;}]|$)|s(.)(?:(?!\2).)*\2(?:(?!\2).)*\2[a-zA-Z0-9]*e")
_CODE = re.compile(r"-[a-zA-Z]*[ceEpr].*|--(?:eval|print|command|execute|expression)(?:=.*)?|-ex|eval|\+.*", re.DOTALL)
_TEXT = re.compile(r"[\s;&|<>()$`'\"]")
_FIND_RUNS = re.compile(r"-(?:exec|execdir|ok|okdir|x|X)|--exec(?:-batch)?")
_IN_DATABASE = re.compile(r"(?:\.shell|\.system|\\!|\bsystem)\s+(.+)")
_SUBSTITUTED = re.compile(r"-(?:I|i|J).*|--replace.*|-[a-zA-Z0-9]*I.*", re.DOTALL)
_WITH_COMMANDS = re.compile(
    r"(?:GIT_\w+|\w*PAGER|\w*EDITOR|VISUAL|BROWSER|PROMPT_COMMAND|LESSOPEN|LESSCLOSE|RSYNC_RSH|MAKEFLAGS|\w*SHELL|PS4)"
)
"""Variables whose value programs run."""
_LOADED = re.compile(r"(?:BASH_ENV|ENV|LD_\w+|DYLD_\w+|PERL5OPT|PYTHONSTARTUP|NODE_OPTIONS|RUBYOPT|GIT_CONFIG\w*|PATH)")
"""Variables by which something unseen is run."""
_GIT_SETTING = re.compile(r"(?P<key>[\w.*/-]+)=(?P<value>.+)", re.DOTALL)


def inner_commands(part: Simple) -> tuple[list[tuple[Word, ...]], bool]:
    """Every command that `part` may come down to, itself first; and whether it may run something unseen."""
    seen = _Seen()
    seen.take(part, 0)
    return list(dict.fromkeys(seen.found)), seen.hidden


class _Seen:
    def __init__(self) -> None:
        self.found: list[tuple[Word, ...]] = []
        self.hidden = False
        self._texts_left = MAX_TEXTS

    def take(self, part: Simple, depth: int) -> None:
        command = part.command
        for word in part.words[: len(part.words) - len(command)]:
            self._assigned(word, depth)
        if not command:
            return
        self.found.append(command)
        first = command[0].value
        self.hidden = self.hidden or first is None or SUBSCRIPT.search(first) is not None
        tails = [command]
        if _runs_its_words(command):
            self.hidden = self.hidden or len(command) > MAX_TAILS or any(word.value is None for word in command[1:])
            tails += [command[index:] for index in range(1, min(len(command), MAX_TAILS))]
            self.found += tails[1:]
        name = program(command)
        for tail in tails:
            if tail is not command and program(tail) in _BUILTINS and name not in _RUNS_BUILTINS:
                continue  # `find .`: no other program can run them
            for text in self._texts(tail, part):
                self._text(text, depth)
                if self._texts_left <= 0:
                    self.hidden = True
                    return

    def _text(self, text: str | None, depth: int) -> None:
        self._texts_left -= 1
        parts = None if text is None or depth >= MAX_DEPTH else read(text)
        if parts is None:
            self.hidden = True
            return
        for inner in parts:
            self.take(inner, depth + 1)

    def _guessed(self, text: str) -> list[str]:
        """The text, where it can be read; what is only perhaps a command hides nothing."""
        self._texts_left -= 1
        return [text] if text.strip() and self._texts_left > 0 and read(text) is not None else []

    def _assigned(self, word: Word, depth: int) -> None:
        name = word.raw.partition("=")[0].rstrip("+")
        self.hidden = self.hidden or (word.value is not None and SUBSCRIPT.search(word.value) is not None)
        if _LOADED.fullmatch(name) and name != "PATH":
            self.hidden = True
        if _WITH_COMMANDS.fullmatch(name):
            self._text(None if word.value is None else word.value.partition("=")[2], depth)

    def _texts(self, command: tuple[Word, ...], part: Simple) -> Iterator[str | None]:
        """The texts that a command runs; None for one that cannot be known."""
        name = program(command)
        values = [word.value for word in command[1:]]
        if name in _SOURCES:
            yield from _shell_texts(name, values, part.inputs)
        elif name == "eval":
            said = values[1:] if values[:1] == ["--"] else values
            yield " ".join(value for value in said if value is not None) if None not in said else None
        elif name == "alias":
            yield from (None if value is None else value.partition("=")[2] for value in values)
        elif name in ("hash", "enable"):
            self.hidden = self.hidden or any(value in (None, "-p", "-f") for value in values)
        elif name in ("find", "fd", "fdfind"):
            runs = (after for before, after in pairwise(values) if before and _FIND_RUNS.fullmatch(before))
            self.hidden = self.hidden or any(after is None or "{" in after for after in runs)
        elif name == "xargs":
            self.hidden = self.hidden or _fills_in(values)
        elif name == "env":
            yield from self._split_strings(values)
        elif name == "git":
            yield from self._git_texts(values)
            if _runs_its_words(command):
                yield from self._spoken(name, values)
        elif name in ("sqlite3", "psql", "mysql"):
            for said in (match for value in (*values, *part.inputs) for match in _IN_DATABASE.findall(value or "")):
                self.hidden = True
                yield from self._guessed(said)
        elif INTERPRETER.fullmatch(name):
            yield from self._code(name, values, part)
        if name in _TEXTUAL:
            yield from self._spoken(name, values)
        if name in _STANDARD_INPUT and not (
            name == "make" and not any(value and value.endswith("-") for value in values)
        ):
            yield from part.inputs or ([None] if _reads_commands(name, values) else [])
        self.hidden = self.hidden or next(evaluated(command), None) is not None
        for at in escape_flags(command, 1):
            yield from self._behind_flag(command, at)

    def _split_strings(self, values: Sequence[str | None]) -> Iterator[str | None]:
        for at, value in enumerate(values):
            if value is None:
                continue
            if (value == "--split-string" or re.fullmatch(r"-[a-zA-Z]*S", value)) and at + 1 < len(values):
                following = values[at + 1 :]
                yield " ".join(one for one in following if one is not None) if None not in following else None
            elif value.startswith("--split-string="):
                yield value.partition("=")[2]
            elif match := re.fullmatch(r"-[a-zA-Z]*S(.+)", value, re.DOTALL):
                yield match[1]

    def _git_texts(self, values: Sequence[str | None]) -> Iterator[str | None]:
        """What `-c key=value` lets git run, an alias by its words."""
        for at, value in enumerate(values):
            if value is None or not (at and values[at - 1] == "-c") or not (one := _GIT_SETTING.fullmatch(value)):
                continue
            given = one["value"]
            if one["key"].casefold().startswith("alias.") and not given.startswith("!"):
                yield f"git {given}"
            else:
                yield from self._guessed(given.lstrip("!"))
        self.hidden = self.hidden or any(value and value.startswith("--config-env") for value in values)

    def _code(self, name: str, values: Sequence[str | None], part: Simple) -> Iterator[str | None]:
        """What code in an interpreter's arguments is seen to run; the rest of it stays unseen."""
        operands = [value for value in values if value is None or not value.startswith("-")]
        if name == "sed":
            script = operands[0] if operands and len(operands[0] or "") <= MAX_CODE else None
            if script is None or not (harmless_sed(script) or _SED_RUNS.search(script) is None):
                self.hidden = True
                yield from (one[1] for one in _SED_RUNS.finditer(script or "") if one[1])
            return
        if name.endswith("awk"):
            code = [operands[0] if operands and "-f" not in values else None]
            runs = code[0] is None or _AWK_RUNS.search(code[0]) is not None
        else:
            runs = not operands or any(value is not None and _CODE.fullmatch(value) for value in values)
            code = [*values, *part.inputs]
        if not runs:
            return
        self.hidden = True
        for text in code:
            for pattern in (_CALL, _TICKS, _PIPED):
                for match in pattern.finditer((text or "")[:MAX_CODE]):
                    said = match.groupdict()
                    yield from self._guessed(said.get("quoted") or said.get("bare") or match[1] or "")

    def _spoken(self, name: str, values: Sequence[str | None]) -> Iterator[str | None]:
        for value in values:
            if value is None:
                continue
            if value.startswith("-"):
                attached = value.partition("=")[2] if value.startswith("--") else ""
                yield from self._guessed(attached)
                if not value.startswith("--"):
                    for at in range(2, min(len(value), 8)):
                        yield from self._guessed(value[at:])
            elif name in _EDITORS:
                self.hidden = True
                yield from self._guessed(value.lstrip("+:! "))
                yield from (one["quoted"] for one in _CALL.finditer(value[:MAX_CODE]) if one["quoted"])
            elif _TEXT.search(value) or value.startswith("!"):
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


def runs_none_of_its_words(command: tuple[Word, ...]) -> bool:
    """Whether the program is known to run a command in its arguments only behind some words, and has none of them."""
    return program(command) in _BY_SUBCOMMAND and not _runs_its_words(command)


def _runs_its_words(command: tuple[Word, ...]) -> bool:
    name = program(command)
    behind = _BY_SUBCOMMAND.get(name)
    if behind is None:
        return name in RUNNERS
    before = ""
    for word in command[1:6]:
        if word.value is None or word.value in behind:
            return True
        if not word.value.startswith("-") and not before.startswith("-"):
            return False
        before = word.value
    return False


def _shell_texts(name: str, values: Sequence[str | None], inputs: Sequence[str | None]) -> list[str | None]:
    if name not in SHELLS:
        return [None]  # a file
    if any(value is None or re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", value) for value in values):
        return [value for value in values if value is None or not value.startswith("-")]
    if inputs and all(value is not None and value.startswith(("-", "+")) for value in values):
        # What runs there reads on where the shell does: `head -c 2` makes a command of a comment.
        return [*inputs, None]
    return [None]  # a script, or a standard input that is not seen


def _fills_in(values: Sequence[str | None]) -> bool:
    """Whether xargs puts what it reads in the place of a program or of a shell's text."""
    if not any(value is not None and _SUBSTITUTED.fullmatch(value) for value in values):
        return False
    marks = {"{}", *(value[2:] for value in values if value and value.startswith("-I") and len(value) > 2)}
    marks |= {after for value, after in pairwise(values) if value == "-I" and after}
    operands = [value for value in values if value and not value.startswith("-")]
    operands = operands[1:] if operands and operands[0] in marks and "-I" in values else operands
    program_first = bool(operands) and any(mark in operands[0] for mark in marks)
    return program_first or any(one in SHELLS for one in operands)


def _reads_commands(name: str, values: Sequence[str | None]) -> bool:
    """Whether it takes commands from a standard input that is not seen."""
    if name in ("at", "batch", "make", "gmake", "ed", "ex"):
        return True
    if name == "crontab":
        return not any(value in ("-l", "-r") for value in values)
    if name == "parallel":
        return not any(value in (":::", "::::") for value in values)
    return not [value for value in values if value is None or not value.startswith("-")][1:] and name == "ssh"
