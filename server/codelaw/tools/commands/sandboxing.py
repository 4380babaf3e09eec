"""What the model should know when the sandbox may be why a command failed (S-4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from codelaw.domain.files import Folder, ProcessResult

MOST_SHOWN = 5
"""Refused hosts in a sentence; the result's data has more."""
_NETWORK = re.compile(
    r"network is unreachable|temporary failure in name resolution|could not resolve host|name or service not known"
    r"|nodename nor servname|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|no such host|dns error|failed to lookup address"
    r"|network is down|ENETUNREACH|connection refused|ECONNREFUSED"
    r"|socket: operation not permitted|cannot assign requested address",
    re.IGNORECASE,
)
_WRITE = re.compile(r"read-only file system|EROFS|Device or resource busy|EBUSY", re.IGNORECASE)
_THIS_MACHINE = re.compile(r"localhost:|127\.|\[::1\]:")
OWN_SERVER = "`curl --noproxy '*'`"
"""Where the user has listed a port of this machine, its name leads to the proxy for every port."""
_DENIED = re.compile(r"permission denied|operation not permitted|EACCES|EPERM", re.IGNORECASE)


def hint(ended: ProcessResult, *, sandboxed: bool) -> str | None:
    """A few sentences for the model, when hosts were refused or a failed command looks like the sandbox; else None."""
    if ended.refused:
        return refusal(ended)
    if ended.limit:
        return f"{ended.limit} Do with less, or ask the user to raise it."
    if not sandboxed or ended.exit_code == 0:
        return None
    said = f"{ended.stderr}\n{ended.stdout}"
    if _NETWORK.search(said):
        return (
            "Commands run in a sandbox, which reaches no network and no server outside it but the hosts that the user"
            " lists in tools.bash.network (or all, where it is true); listed ones are reached by the proxy that the"
            " variables HTTP_PROXY and HTTPS_PROXY name, not directly. Do without, or ask the user."
        )
    if _WRITE.search(said):
        return (
            "Commands run in a sandbox that writes the workspace, /tmp and nothing else; .git/hooks, .git/config and"
            " .codelaw stay as they are, and no new repository can begin at the top of the workspace. Work within"
            " that, or ask the user to do it."
        )
    if _DENIED.search(said):
        return (
            "Commands run in a sandbox: outside the workspace nothing can be written, and the home folder's secrets"
            " cannot be read. If that is why this failed, ask the user to do it."
        )
    return None


def kept_from(blocked: Sequence[str]) -> str:
    """What the model should know of paths that a command could not change, as shown (S-8)."""
    named = ", ".join(blocked[:MOST_SHOWN])
    return (
        f"Kept from commands, because other programs obey it outside of the sandbox: {named}. Only the user can allow a"
        " command to change it. Do without, or say what you need it for; do not look for a way round."
    )


def shown(path: Path, folders: Sequence[Folder]) -> str:
    """A path as it is shown: relative to the innermost folder of the workspace, else absolute."""
    holding = [folder for folder in folders if folder.root in path.parents]
    if not holding:
        return str(path)
    folder = max(holding, key=lambda one: len(one.root.parts))
    relative = path.relative_to(folder.root).as_posix()
    return relative if len(folders) == 1 else f"{folder.name}/{relative}"


def placed(path: str, folders: Sequence[Folder]) -> Path:
    """The place that `shown` gave."""
    if len(folders) > 1:
        name, _, rest = path.partition("/")
        for folder in folders:
            if folder.name == name:
                return folder.root / rest
    return folders[0].root / path


def refusal(ended: ProcessResult) -> str:
    """What the model should know of the hosts that a command asked for in vain."""
    more = len(ended.refused) - MOST_SHOWN
    named = "; ".join(ended.refused[:MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")
    own = ""
    if any(_THIS_MACHINE.match(one) for one in ended.refused):
        own = f" A server that the command itself has started is reached without the proxy, as by {OWN_SERVER}."
    return (
        f"The network refused: {named}. Commands reach only what the user lists in tools.bash.network. Do without, or"
        f" ask the user to add the host; do not look for a way round.{own}"
    )
