"""What the model should know when the sandbox may be why a command failed (S-4)."""

from __future__ import annotations

import re

from codelaw.domain.files import ProcessResult

_NETWORK = re.compile(
    r"network is unreachable|temporary failure in name resolution|could not resolve host|name or service not known"
    r"|nodename nor servname|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|no such host|dns error|failed to lookup address"
    r"|network is down|ENETUNREACH|connection refused|ECONNREFUSED"
    r"|socket: operation not permitted|cannot assign requested address",
    re.IGNORECASE,
)
_WRITE = re.compile(r"read-only file system|EROFS|Device or resource busy|EBUSY", re.IGNORECASE)
_DENIED = re.compile(r"permission denied|operation not permitted|EACCES|EPERM", re.IGNORECASE)


def hint(ended: ProcessResult, *, sandboxed: bool) -> str | None:
    """One sentence or two for the model, when what a failed command said looks like the sandbox; else None."""
    if not sandboxed or ended.exit_code == 0:
        return None
    said = f"{ended.stderr}\n{ended.stdout}"
    if _NETWORK.search(said):
        return (
            "Commands run in a sandbox, which reaches no network and no server outside it unless the user sets"
            " tools.bash.network to true. Do without, or ask the user."
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
