"""The variables in a server's table, filled in (X-3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from codelaw.domain.safety.redaction import shape_of, tells_a_secret
from codelaw.domain.safety.unseen import visible_line
from codelaw.domain.served import Address, Program, ServerSpec
from codelaw.settings.servers.written import LONGEST_TEXT, WrittenServer, texts

_VARIABLE = re.compile(r"\$\{([^}]{0,200})\}")
_MOST = 100
"""Variables in one text."""
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")


class NotFilled(ValueError):
    """A server cannot be started as it is written; the message says why, in one sentence."""


@dataclass(frozen=True, slots=True)
class Variables:
    """What variables are filled in from."""

    environment: Mapping[str, str]
    home: Path
    """The user's."""
    folder: Path | None = None
    """The first of the workspace, for servers that no workspace names."""
    withheld: frozenset[str] = frozenset()
    """Names of variables that no workspace's server is given: they hold keys of codelaw's own."""
    origin: str = "user"
    """Whose the servers of the settings are, as `EffectiveSettings.origins` has it."""

    def of_workspace(self, server: WrittenServer) -> bool:
        """Whether a workspace names the server: in a file of its own, or in its settings, which the user trusts."""
        return server.folder is not None or self.origin == "workspace"


def filled(server: WrittenServer, around: Variables) -> ServerSpec:
    """The server with every variable filled in.

    `${NAME}` and `${env:NAME}` are variables of the environment, `${NAME:-text}` with what counts where one is not
    set; `${workspaceFolder}` is the folder whose file names the server, `${userHome}` the user's home. A program of a
    workspace runs in its folder, one of the user's own settings in their home, where no workspace's files are found.

    Raises:
        NotFilled: a variable is not set, or cannot be known here.
    """
    filling = _Filling(server, around)
    table = server.table
    if "url" in table:
        url = filling.text(str(table["url"]))
        if not url.startswith(("http://", "https://")):
            message = "Its address does not begin with http:// or https://."
            raise NotFilled(message)
        return ServerSpec(server.name, Address(url, filling.table("headers")), server.source)
    cwd = Path(filling.text(str(table["cwd"]))) if "cwd" in table else server.folder or around.home
    if not cwd.is_absolute():
        cwd = (server.folder or around.home) / cwd
    words = tuple(filling.text(word) for word in cast("list[str]", table.get("args", [])))
    program = Program(filling.text(str(table["command"])), words, filling.table("env"), cwd, server.pins)
    return ServerSpec(server.name, program, server.source)


def variables(server: WrittenServer, around: Variables) -> dict[str, str]:
    """What the variables in a server's table stand for now, by how they are written; none that may be a secret."""
    filling, found = _Filling(server, around), dict[str, str]()
    for text in texts(server):
        for match in _VARIABLE.finditer(text):
            with suppress(NotFilled):
                value = filling.value(match)
                if not tells_a_secret(match[1].removeprefix("env:").partition(":-")[0]) and shape_of(value) is None:
                    found[match[0]] = value
    return found


def env_file(server: WrittenServer, around: Variables) -> Path | None:
    """The file that `envFile` names; None where it names none, or one outside the workspace folder that names it.

    Raises:
        NotFilled: a variable in its path is not set.
    """
    written = server.table.get("envFile")
    if not isinstance(written, str):
        return None
    path = Path(_Filling(server, around).text(written))
    if server.folder is None:
        return around.home / path
    inside = (server.folder / path).resolve()
    return inside if inside.is_relative_to(server.folder.resolve()) else None


@dataclass(frozen=True, slots=True)
class _Filling:
    """What variables stand for."""

    server: WrittenServer
    around: Variables

    def table(self, key: str) -> dict[str, str]:
        """A table of texts, filled in."""
        table = cast("Mapping[str, str]", self.server.table.get(key, {}))
        return {name: self.text(value) for name, value in table.items()}

    def text(self, text: str) -> str:
        """One text, filled in."""
        if text.count("${") > _MOST:
            message = f"One of its texts has more than {_MOST} variables."
            raise NotFilled(message)
        made = _VARIABLE.sub(self.value, text)
        if len(made) > 4 * LONGEST_TEXT or "\0" in made:
            message = "What its variables make is too long, or holds a NUL character."
            raise NotFilled(message)
        return made

    def value(self, match: re.Match[str]) -> str:
        """What one variable stands for."""
        inside, folder = match[1], self.server.folder or self.around.folder
        name, default, otherwise = inside.removeprefix("env:").partition(":-")
        match name:
            case "userHome":
                return str(self.around.home)
            case "pathSeparator" | "/":
                return "/"
            case "workspaceFolder" if folder is not None:
                return str(folder)
            case "workspaceFolderBasename" if folder is not None:
                return folder.name
            case _:
                pass
        if name in self.around.withheld and self.around.of_workspace(self.server):
            message = (
                f"It wants {name}, a key that codelaw uses itself, and a file of a workspace is given none. Name the "
                "server in your own settings if it shall have it."
            )
        elif _NAME.fullmatch(name):
            # As a shell reads it: what is empty counts as not set where there is something else.
            value = self.around.environment.get(name)
            if value or (value is not None and not default):
                return value
            if default:
                return otherwise
            message = f"The variable {name} is not set."
        elif name.startswith("input:"):
            message = f"{visible_line(name[6:])!r} would have to be asked for: write a variable like ${{NAME}} instead."
        else:
            message = f"${{{visible_line(inside)}}} is not known here."
        raise NotFilled(message)
