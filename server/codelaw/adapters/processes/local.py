"""Commands in their own process group, with a scrubbed environment and bounded output (T-6, S-4, S-5, S-6)."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path

from codelaw.adapters.crash_journal.crash_journal import MARK, CrashJournal
from codelaw.adapters.crash_journal.guardian_child import end_marked
from codelaw.adapters.processes.child import Child, within
from codelaw.adapters.processes.limits import CommandLimits, size_of
from codelaw.adapters.processes.quarantine.watching import TOO_OFTEN
from codelaw.adapters.processes.rules.areas import blocked
from codelaw.adapters.processes.rules.withheld import NOTHING, WithheldPaths
from codelaw.adapters.processes.sandbox import Confined, Sandbox, SandboxMeans
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import OutputStream, ProcessResult
from codelaw.domain.safety.hosts import Network
from codelaw.ports.cancelling import outlasted
from codelaw.ports.workspace import OutputListener

STDOUT_ENDS = (12_000, 12_000)
"""Bytes kept of stdout: its head and its tail."""
STDERR_ENDS = (2_000, 10_000)
DRAIN_SECONDS = 0.2
"""How long the output of a command that has ended is waited for when a grandchild keeps the pipe."""
GRACE_SECONDS = 0.2
"""Between SIGTERM and SIGKILL."""
STRAY_LOOKS = 2
"""Through all processes, for those that a call has left behind: in the midst of an exec one has no environment."""
KILL_SECONDS = 1.0
"""Between SIGKILL and giving up."""

TRIES = 3
"""How often a sandbox is set up of which a part went, or came, while it was: a socket, a folder of another command."""
NOT_SET_UP = re.compile(
    r"bwrap: (?:Can't (?:mkdir|get type of source|bind mount|find source|create)\b|Race condition\b)"
)
"""What bubblewrap says before it has started anything."""
_KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|PWD|COLUMNS|LINES|XDG_\w+|DISPLAY"
    r"|VIRTUAL_ENV|CONDA_\w+|PYTHON\w+|PYENV_\w+|PIPX_\w+|UV_\w+|NODE_\w+|NVM_\w+|NPM_CONFIG_\w+|PNPM_HOME|YARN_\w+"
    r"|JAVA_HOME|GRADLE_\w+|MAVEN_\w+|M2_HOME|GOPATH|GOROOT|GOFLAGS|GOPROXY|GOCACHE|CARGO_\w+|RUSTUP_\w+|RUST\w+"
    r"|GEM_\w+|BUNDLE_\w+|RBENV_\w+|CC|CXX|CFLAGS|CXXFLAGS|LDFLAGS|LD_LIBRARY_PATH|PKG_CONFIG_PATH|MAKEFLAGS"
    r"|HTTPS?_PROXY|NO_PROXY|ALL_PROXY|https?_proxy|no_proxy|all_proxy|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|CI|EDITOR|NIX_\w+"
)
_SECRET = re.compile(
    r"API_?KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|AUTH|_KEY$|^KEY|COOKIE|^(ANTHROPIC|OPENAI|CODELAW|AWS"
    r"|AZURE|GOOGLE|GCP|GITHUB|GITLAB|HF|SSH)_",
    re.IGNORECASE,
)


class LocalProcesses:
    """Runs commands on this machine: in a sandbox when one is given that works, else without (S-4)."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        sandbox: Sandbox | None = None,
        means: SandboxMeans | None = None,
        network: Network = False,
        withheld: WithheldPaths = NOTHING,
        limits: CommandLimits | None = None,
        leftovers: CrashJournal | None = None,
    ) -> None:
        """`means` is what `sandbox` has found; `network` lets commands in the sandbox reach it.

        `leftovers` sees to it that no process outlives this server, however it ends.
        """
        self._leftovers = leftovers
        self.withheld = withheld
        """What rules and settings keep back from commands in the sandbox."""
        self._limits = limits or CommandLimits()
        self._environment = environment
        self._sandbox = sandbox
        self._means = means or SandboxMeans(None, "it is switched off")
        self._network = network

    @property
    def sandboxed(self) -> bool:
        """Whether commands are locked in, by whatever there is."""
        return self._means.kind is not None

    @property
    def keeps_to_hosts(self) -> bool:
        """Whether commands reach listed hosts and no others, where hosts are listed (S-4)."""
        return isinstance(self._network, bool) or self._means.kind == "bubblewrap"

    @property
    def trusted(self) -> bool:
        """Whether they are locked in so well that blanket permissions count."""
        return self._means.trusted

    @property
    def lacking(self) -> str:
        """Why they are not, as a part of a sentence."""
        return self._means.detail if self._means.kind is None else f"{self._means.kind} alone is not enough"

    @property
    def posix(self) -> bool:
        """Whether commands go to `/bin/sh`; on Windows they go to `cmd.exe`."""
        return os.name == "posix"

    @property
    def describe(self) -> str:
        """How commands run, as a sentence for the user."""
        return self._means.describe(network=self._network)

    async def run(
        self,
        command: str,
        *,
        cwd: Path,
        timeout: float,
        opened: frozenset[Path] = frozenset(),
        listener: OutputListener | None = None,
        given: str = "",
    ) -> ProcessResult:
        """See `Processes.run`.

        Raises:
            ToolFailure: EXECUTION_ERROR when the shell cannot be started, or not in its sandbox.
        """
        run = partial(self._run, command, cwd=cwd, timeout=timeout, opened=opened, listener=listener, given=given)
        for _ in range(TRIES - 1):
            ended = await run()
            if self._means.kind != "bubblewrap" or ended.exit_code != 1 or not NOT_SET_UP.match(ended.stderr):
                return ended
        return await run()

    def confined(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        opened: frozenset[Path] = frozenset(),
        server: Network | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> AbstractAsyncContextManager[Confined]:
        """A program as it is to be started, in the sandbox where there is one, for as long as it is entered.

        `server` is what one that may live long reaches of the network: it only reads the workspace, and has private
        folders of its own (X-3). Its own `variables` say nothing of what it may touch.

        Raises:
            OSError: when it is entered: the sandbox cannot be set up.
        """
        line = self._limits.command(argv, apart=self.sandboxed and self._means.users)
        if self._sandbox is not None and not self.sandboxed and server is None:
            return self._sandbox.open_around(line, {**environment})
        if self._sandbox is None or not self.sandboxed:
            return nullcontext(Confined(line, {**environment, **(variables or {})}))
        return self._sandbox.around(
            self._means,
            line,
            cwd=cwd,
            environment=environment,
            network=self._network if server is None else server,
            withheld=self.withheld,
            opened=opened,
            apart=server is not None,
            variables=variables or {},
        )

    async def _run(
        self,
        command: str,
        *,
        cwd: Path,
        timeout: float,
        opened: frozenset[Path],
        listener: OutputListener | None,
        given: str,
    ) -> ProcessResult:
        started = time.monotonic()
        environment = child_environment(os.environ if self._environment is None else self._environment)
        mark = os.urandom(12).hex()
        shell = "/bin/bash" if await asyncio.to_thread(os.path.exists, "/bin/bash") else "/bin/sh"
        timed_out = stopped = False
        limit = ""
        out, err = Ends(*STDOUT_ENDS), Ends(*STDERR_ENDS)
        try:
            if self._leftovers is not None:
                mark = f"{await asyncio.to_thread(self._leftovers.mark)}{mark}"
            environment |= {"PWD": str(cwd), MARK: mark}
            around = self.confined([shell, "-c", command], cwd=cwd, environment=environment, opened=opened)
            async with around as confined:
                private = confined.private
                before = 0 if private is None else await asyncio.to_thread(size_of, private)
                feeds = partial(_hear, "stdout", out, listener), partial(_hear, "stderr", err, listener)
                starting = Child.start(
                    confined.argv,
                    cwd=cwd,
                    env=confined.environment,
                    feeds=feeds,
                    descriptors=confined.descriptors,
                    before=confined.before,
                    given=given.encode("utf-8", "replace"),
                )
                # The whole group is to be ended, also where a cancel comes while it is started.
                child, cancelled = await outlasted(starting)
                try:
                    if cancelled or await self._guard(child):
                        raise asyncio.CancelledError
                    async with asyncio.timeout(timeout):
                        limits = self._limits.watch(child.pid, private, before)
                        limit, stopped = await _until(child, limits, confined.too_often, listener)
                except TimeoutError:
                    timed_out = True
                finally:
                    # Also after a normal end: nothing that the command left behind outlives its call, and the guardian
                    # does not know a number that becomes another's.
                    _, cancelled = await outlasted(self._end(child, mark))
                    if cancelled:
                        raise asyncio.CancelledError
        except (OSError, ValueError) as error:
            raise ToolFailure("EXECUTION_ERROR", f"The command cannot be started: {error}") from error
        code = None if timed_out or limit or stopped else child.returncode
        said = err.text()
        ended = ProcessResult(
            exit_code=code,
            stdout=out.text(),
            stderr="\n".join(filter(None, (said, *confined.said))),
            stdout_omitted=out.omitted,
            stderr_omitted=err.omitted,
            timed_out=timed_out,
            seconds=time.monotonic() - started,
            refused=confined.refused,
            limit=limit or self._limits.hit(code, said),
            stopped=stopped,
            aside=confined.aside,
        )
        if confined.profile is None or stopped:
            return ended
        taken = confined.met if code else ()
        return replace(ended, blocked=blocked(command, f"{ended.stdout}\n{said}", confined.profile, taken))

    def kept_files(self, place: Path) -> dict[str, str]:
        """See `Processes.kept_files`."""
        return {} if self._sandbox is None else self._sandbox.watch().keeping.files(place)

    def bring_back(self, place: Path) -> str:
        """See `Processes.bring_back`."""
        if self._sandbox is None:
            return "There is no quarantine."
        return self._sandbox.watch().keeping.bring_back(place)

    async def _guard(self, child: Child) -> bool:
        """Let the command die with this server; with `bwrap` it does by itself. Gives whether it was cancelled."""
        if self._leftovers is None or self._means.kind == "bubblewrap":
            return False
        # To its end: else the group could be let go of before it is guarded, and be guarded for ever.
        _, cancelled = await outlasted(asyncio.to_thread(self._leftovers.guard, child.pid))
        return cancelled

    async def _end(self, child: Child, mark: str) -> None:
        """Kill what is left of the call and read what is left of the output; done within a second."""
        try:
            await child.terminate(grace=GRACE_SECONDS, patience=KILL_SECONDS)
            await within(child.closed, DRAIN_SECONDS)
            # A descendant that left the group may still hold the pipes: ours are closed, so that it cannot hold us.
            child.close()
            if self._means.kind != "bubblewrap":  # with which no process outlives the first one
                await asyncio.to_thread(_end_strays, mark)
        finally:
            if self._leftovers is not None and self._means.kind != "bubblewrap":
                self._leftovers.unguard(child.pid)


class Ends:
    """The head and the tail of a stream, in bounded memory."""

    def __init__(self, head: int, tail: int) -> None:
        self._head_room = head
        self._tail_room = tail
        self._head = bytearray()
        self._tail = bytearray()
        self.omitted = 0
        """Bytes dropped from the middle."""

    def feed(self, data: bytes) -> None:
        room = self._head_room - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room > 0 else data
        extra = len(self._tail) - self._tail_room
        if extra > 0:
            del self._tail[:extra]
            self.omitted += extra

    def text(self) -> str:
        """What was kept, with a line that says how much is missing."""
        if not self.omitted:
            return (self._head + self._tail).decode("utf-8", "replace")
        head, tail = self._head.decode("utf-8", "ignore"), self._tail.decode("utf-8", "ignore")
        return f"{head}\n… {self.omitted} bytes left out …\n{tail}"


def _hear(stream: OutputStream, ends: Ends, listener: OutputListener | None, data: bytes) -> None:
    """Keep the ends of a stream, and let a listener hear all of it."""
    ends.feed(data)
    if listener is not None:
        listener.heard(stream, data)


def child_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What a command may know of our environment: common settings by name, and nothing that looks like a secret."""
    kept = {name: value for name, value in environment.items() if _KEPT.fullmatch(name) and not _SECRET.search(name)}
    # A proxy's or a registry's address may carry a password or a token.
    kept = {name: value for name, value in kept.items() if not re.search(r"://[^/@\s]+@", value)}
    return {**kept, "TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


async def _until(
    child: Child, limits: Coroutine[None, None, str], too_often: asyncio.Event, listener: OutputListener | None
) -> tuple[str, bool]:
    """Wait for the end of a process, for a limit, or for the user: the sentence of the limit, and whether halted."""
    halt = (None if listener is None else listener.halt()) or asyncio.Event()
    waiting = [asyncio.ensure_future(one) for one in (child.exited.wait(), limits, too_often.wait(), halt.wait())]
    exited, limited, often, _ = waiting
    try:
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if exited.done():
            return "", False
        limit = str(limited.result()) if limited.done() else TOO_OFTEN if often.done() else ""
        return limit, not limit
    finally:
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


def _end_strays(mark: str) -> None:
    """Kill the processes of a call that have left its group, as daemons do; where `/proc` tells of them."""
    if os.path.exists("/proc/self/environ"):  # noqa: PTH110 - never raises
        for _ in range(STRAY_LOOKS):
            end_marked([f"{MARK}={mark}".encode()])
