"""What git says of a repository, asked so that the repository cannot make it do anything else (M-8, S-8).

Who wrote the repository wrote its `.git/config` and `.gitattributes` too: these name programs that git starts (filters,
drivers of diffs, hooks, a monitor of the file system, helpers of transports) and folders that it looks into. So each of
these settings is overridden, nothing of the user's is read, and the work tree must hold the folder that is asked about.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from codelaw.adapters.asking import started
from codelaw.adapters.programs import find_program, own_environment
from codelaw.domain.errors import ToolFailure

SECONDS = 8.0
"""For one call."""
MAX_OUTPUT = 4_000_000
"""Bytes of one answer; what is beyond is not read."""
MOST_PATHS = 300
"""Files of one diff."""
MAX_CONFIG = 1_000_000

_OVERRIDDEN = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.pager": "",
    "core.quotePath": "false",
    "diff.external": "",
    "diff.orderFile": os.devnull,
    "log.showSignature": "false",
    "protocol.allow": "never",
}
_RUNNING = re.compile(r"(?i)filter\..*\.(?:clean|smudge|process|required)|diff\..*\.(?:command|textconv)")
"""Settings of a repository that name a program, by a name of the repository's own choice."""
_SAFE = (
    *("--no-ext-diff", "--no-textconv", "--no-renames", "--no-color", "--relative"),
    # Git starts another git in a submodule, with that one's settings, where it is to look or to tell more.
    *("--ignore-submodules=dirty", "--submodule=short"),
)
_LISTED = (*_SAFE, "--name-only", "-z", "--")
_PLAIN = (*_SAFE, "--src-prefix=a/", "--dst-prefix=b/", "--")
_VERIFY = ("rev-parse", "--verify", "--quiet")
_HEAD = "--format=commit %H%nAuthor: %an%nDate: %aI%n%n%B"
_MESSAGE = ("show", "--no-patch", "--no-color", "--no-show-signature", _HEAD)
_UNKNOWN = ("ls-files", "--others", "--exclude-standard", "-z", "--", ".")
_SUBJECTS = ("log", "--no-show-signature", "--format=%s", "-z")
LOG = (
    *("log", "--no-merges", "--no-follow", "--no-renames", "--no-color", "--no-show-signature"),
    *("--relative", "--name-only", "-z", "--format=%x01%B%x02"),
)
"""For each commit its message, and its files behind it; `told_by` reads it."""
_NAME = re.compile(r"[A-Za-z0-9_][\w./~^@{}-]{0,199}")
"""What may be the name of a commit: never an option, a range or a pathspec."""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit as it is shown."""

    id: str
    message: str
    """With author and date above."""


Change = Commit | Literal["not committed", "staged"]
"""What differs: a commit from the one before, the files from the last one, or what the next one would have."""


class Repository:
    """The repository of a workspace folder; git is found outside all of `folders` (S-8)."""

    def __init__(self, root: Path, folders: Sequence[Path], environment: Mapping[str, str]) -> None:
        self._root = root
        self._folders = folders
        self._environment = environment
        self._program: str | None = None
        self._settings: dict[str, str] = {}

    async def open(self) -> bool:
        """Whether there is git, and a repository whose work tree holds the folder."""
        program = await asyncio.to_thread(find_program, "git", self._environment, self._folders)
        if program is None:
            return False
        self._program = program
        self._settings = dict(_OVERRIDDEN)
        try:
            names = await self._ask("config", "--list", "--name-only", "-z", most=MAX_CONFIG, errors="surrogateescape")
            if len(os.fsencode(names)) >= MAX_CONFIG:
                return False  # what stands further down would hold
            running = {name: _disabled(name) for name in names.split("\0") if _RUNNING.fullmatch(name)}
            self._settings |= running
            top = (await self._ask("rev-parse", "--show-toplevel")).rstrip("\n")
        except ToolFailure:
            return False
        return await asyncio.to_thread(_holds, top, self._root)

    async def changed(self, what: Change = "not committed") -> list[str]:
        """The files that differ, as paths below the folder; of a merge, those that differ from its first parent."""
        return _names(await self._ask(*await self._asked(what), *_LISTED, "."))

    async def staged_elsewhere(self) -> int:
        """How many more files are staged outside of the folder."""
        wide = tuple(option for option in _LISTED if option != "--relative")
        staged = await self._ask(*await self._asked("staged"), *wide)
        return len(_names(staged)) - len(await self.changed("staged"))

    async def diff(self, paths: Sequence[str], what: Change = "not committed") -> str:
        """What is different in these files and in no others, as git says it.

        Git takes a path for all below it too: one that is a file on one side and a folder on the other is left out.
        """
        asked, wanted = await self._asked(what), paths[:MOST_PATHS]
        if not wanted:
            return ""
        reported = await self._ask(*asked, *_LISTED, *wanted)
        if len(reported.encode()) >= MAX_OUTPUT:
            raise ToolFailure("EXECUTION_ERROR", "git names too many files.")
        others = set(reported.split("\0")) - set(wanted)
        folders = {name[:at] for name in others for at, letter in enumerate(name) if letter == "/"}
        only = [path for path in wanted if path not in folders]
        return (await self._ask(*asked, *_PLAIN, *only)).lstrip("\n") if only else ""

    async def unknown(self) -> list[str]:
        """The files that no commit knows and nobody ignores, as paths below the folder."""
        return _names(await self._ask(*_UNKNOWN))

    async def subjects(self, count: int) -> list[str]:
        """The first lines of the newest commits, newest first; none before the first commit."""
        try:
            out = await self._ask(*_SUBJECTS, f"--max-count={count}")
        except ToolFailure:
            return []
        return [line for line in out.split("\0") if line.strip()]

    async def commit(self, name: str) -> Commit | None:
        """The commit of that name; None where there is none."""
        if not _NAME.fullmatch(name) or ".." in name:
            return None
        try:
            found = await self._ask(*_VERIFY, "--end-of-options", f"{name}^{{commit}}")
            sha = found.strip()
            message = await self._ask(*_MESSAGE, sha)
        except ToolFailure:
            return None
        return Commit(sha, message.strip())

    async def head(self) -> str:
        """The id of the last commit; empty before the first one."""
        try:
            return (await self._ask(*_VERIFY, "HEAD^{commit}")).strip()
        except ToolFailure:
            return ""

    async def logged(self, head: str, count: int) -> list[tuple[str, list[str]]]:
        """The messages of the last commits up to `head`, and the files of the folder that each changed, newest first.

        Merges are left out. What git does not say in time, or in so many bytes, is not waited for.
        """
        arguments = (*LOG, "-n", str(count), "--end-of-options", head, "--", ".")
        return reported_by(await self._ask(*arguments, whole=False))

    async def _asked(self, what: Change) -> tuple[str, ...]:
        """What git is asked for; before the first commit all differs from the empty tree."""
        if isinstance(what, Commit):
            return ("show", "--format=", "--diff-merges=first-parent", "--no-show-signature", what.id)
        base = await self.head() or (await self._ask("hash-object", "-t", "tree", "--stdin")).strip()
        return ("diff", *(["--cached"] if what == "staged" else []), base)

    async def _ask(self, *arguments: str, most: int = MAX_OUTPUT, whole: bool = True, errors: str = "replace") -> str:
        """What git prints; where it need not be whole, what it has printed when the time is over.

        Raises:
            ToolFailure: EXECUTION_ERROR: it refused, or cannot be started; TIMEOUT.
        """
        environment = await asyncio.to_thread(own_environment, self._environment, self._folders)
        environment |= _quiet(self._settings)
        argv = (self._program or "", "--no-pager", "--literal-pathspecs", *arguments)
        out = bytearray()
        code = None
        try:
            async with started(*argv, env=environment, cwd=self._root) as process, asyncio.timeout(SECONDS):
                await _read(process.stdout, out, most)
                code = None if len(out) >= most else await process.wait()
        except TimeoutError:
            if whole:
                raise ToolFailure("TIMEOUT", f"git did not answer within {SECONDS:g} s.") from None
        except (OSError, ValueError) as error:
            raise ToolFailure("EXECUTION_ERROR", f"git cannot be started: {error}") from error
        if code:
            raise ToolFailure("EXECUTION_ERROR", f"git {arguments[0]} failed.")
        return out.decode("utf-8", errors)


def reported_by(log: str) -> list[tuple[str, list[str]]]:
    """The commits of what git prints for `LOG`."""
    found: list[tuple[str, list[str]]] = []
    for record in log.split("\x01")[1:]:
        message, _, names = record.partition("\x02")
        found.append((message.strip(), [path for name in names.split("\0") if (path := name.strip("\n"))]))
    return found


def _names(listed: str) -> list[str]:
    return [path for path in listed.split("\0") if path]


def _quiet(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment in which git reads no settings but the repository's, and those overridden."""
    made = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_CONFIG_COUNT": str(len(settings)),
    }
    for number, (name, value) in enumerate(settings.items()):
        made |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return made


def _disabled(name: str) -> str:
    return "false" if name.casefold().endswith(".required") else ""


def _holds(top: str, root: Path) -> bool:
    """Whether a work tree holds the folder, both as they really are."""
    if not os.path.isabs(top):  # noqa: PTH117 - a name that git gives
        return False
    return Path(os.path.realpath(root)).is_relative_to(os.path.realpath(top))


async def _read(stream: asyncio.StreamReader | None, into: bytearray, most: int) -> None:
    """What comes, up to `most` bytes."""
    while stream is not None and len(into) < most:
        piece = await stream.read(min(1 << 16, most - len(into)))
        if not piece:
            break
        into += piece
