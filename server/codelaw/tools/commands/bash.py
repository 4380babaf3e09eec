"""Bash: a command in the workspace, and what the model should know when the sandbox may be why it failed (T-6, S-4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Folder, ProcessResult
from codelaw.domain.results import ToolError, ToolResult
from codelaw.tools.base import Arguments, Preview, Tool, ToolEnvironment, applying
from codelaw.tools.changing.snapshots import kept

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


def placed(path: str, folders: Sequence[Folder]) -> Path:
    """The place of a path as it is shown."""
    name, _, rest = path.partition("/")
    roots = [folder.root for folder in folders if len(folders) > 1 and folder.name == name]
    return roots[0] / rest if roots else folders[0].root / path


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


MAX_TIMEOUT_MS = 600_000
MAX_FILES = 20
"""Named in a result."""
STOPPED = "Do not run it again unless the user asks for it."


class BashArguments(Arguments):
    command: str = Field(min_length=1)
    timeout_ms: int | None = Field(None, ge=1, le=MAX_TIMEOUT_MS)
    description: str | None = None


class Bash(Tool[BashArguments]):
    """Data: `command, exit_code, stdout, stderr, seconds, sandboxed`, and what applies of `truncated, timed_out, …`.

    `stopped` says that the user has ended it, and not its turn (R-8). Of long output stdout keeps head and tail, stderr
    mostly its tail; `blocked` are paths that other programs obey and that commands could not change (S-8); `unsaved`
    are the files of which the command saw an older text than the editor has (F-6), `changed` those the chat has read
    that are different after the command; `refused` are the hosts that it asked for in vain, `host:port: why` (S-4).
    `description` is the model's own.
    """

    name = "Bash"
    description = (
        "Run a shell command in the workspace folder, without a terminal; where there is a sandbox, in it: it writes "
        "the workspace and /tmp only, and reaches no network unless allowed. Nothing outlives the call. Default limit "
        "120 s; long output loses its middle. Prefer LS, Glob, Grep, Read and Edit for files."
    )
    arguments = BashArguments
    effect = "execute"

    def __init__(self, timeout: float = 120.0) -> None:
        self._timeout = timeout

    def title(self, args: BashArguments) -> str:
        return args.command

    def described(self, args: BashArguments) -> str:
        return args.description or ""

    def subject(self, args: BashArguments) -> str:
        return args.command

    async def preview(self, args: BashArguments, env: ToolEnvironment) -> Preview:  # noqa: ARG002
        return Preview(command=args.command)

    async def run(self, args: BashArguments, env: ToolEnvironment) -> ToolResult:
        if "\0" in args.command:
            raise ToolFailure("INVALID_PARAM", "command contains a NUL character.")
        folders = env.workspace.folders
        if not folders:
            raise ToolFailure("INVALID_PARAM", "No folder is open, so there is nowhere to run a command.")
        seconds = self._timeout if args.timeout_ms is None else args.timeout_ms / 1000
        seconds = min(seconds, MAX_TIMEOUT_MS / 1000)
        unsaved = await env.workspace.save_edited()
        opened = frozenset(placed(path, folders) for path in env.opened)
        async with kept(args.command, env):
            ended = await env.processes.run(
                args.command, cwd=folders[0].root, timeout=seconds, opened=opened, listener=env.listener
            )
        # What the command itself changed is not an edit of the user's: say so here, once (F-5).
        changed = await env.ledger.external_changes(env.workspace)
        data: dict[str, Any] = {
            "command": args.command,
            "exit_code": ended.exit_code,
            "stdout": ended.stdout,
            "stderr": ended.stderr,
            "seconds": round(ended.seconds, 1),
            "sandboxed": env.processes.sandboxed,
        }
        data |= applying(
            description=args.description,
            truncated=bool(ended.stdout_omitted or ended.stderr_omitted),
            timed_out=ended.timed_out,
            refused=list(ended.refused),
            stopped=ended.stopped,
            blocked=[env.workspace.shown(str(path)) for path in ended.blocked[:MAX_FILES]],
            set_aside=[
                {"path": env.workspace.shown(str(one.path)), "kept": str(one.kept), "asked": one.asked}
                for one in ended.aside[:MAX_FILES]
            ],
            unsaved=list(unsaved[:MAX_FILES]),
            changed=changed[:MAX_FILES],
        )
        why = kept_from(data["blocked"]) if ended.blocked else hint(ended, sandboxed=env.processes.sandboxed)
        return _result(data, ended, seconds, why)

    def blocked(self, result: ToolResult) -> tuple[str, ...]:
        failed = result.error is not None and result.error.code == "EXECUTION_ERROR"
        return tuple(result.data.get("blocked", ())) if failed and isinstance(result.data, dict) else ()

    def aside(self, result: ToolResult) -> Mapping[str, Path]:
        entries = result.data.get("set_aside", ()) if isinstance(result.data, dict) else ()
        again = self.blocked(result)
        return {one["path"]: Path(one["kept"]) for one in entries if one["asked"] and one["path"] not in again}


def _result(data: dict[str, Any], ended: ProcessResult, seconds: float, why: str | None) -> ToolResult:
    stats = {"seconds": round(ended.seconds, 3)}
    more = _unsaved(data) + (f" {why}" if why else "")
    if ended.exit_code == 0 and not ended.timed_out and not ended.stopped:
        cut = " The middle of the output is left out." if "truncated" in data else ""
        return ToolResult("partial" if cut else "success", data, f"Exit code 0.{cut}{more}", stats=stats)
    so_far = "data holds the output so far."
    if ended.timed_out:
        message = f"Killed after {seconds:g} s; {so_far}" + (f" {why}" if ended.refused else "")
    elif ended.stopped:
        message = f"The user stopped the command after {ended.seconds:.1f} s; {so_far} {STOPPED}"
    elif ended.exit_code is None:
        message = why or "How the command ended is not known; what was left of it was killed."
    else:
        message = f"The command ended with exit code {ended.exit_code}.{more}"
    error = ToolError("TIMEOUT" if ended.timed_out else "EXECUTION_ERROR", message)
    return ToolResult("error", data, "", error, stats=stats)


def _unsaved(data: dict[str, Any]) -> str:
    names = data.get("unsaved")
    if not names:
        return ""
    return f" The editor has unsaved changes in {', '.join(names[:5])}: the command saw the older text on the disk."
