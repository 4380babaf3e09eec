"""One server, and the task that owns it from its start to its end (X-3)."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from codelaw.adapters.extras import adding
from codelaw.adapters.loading import load
from codelaw.adapters.mcp.means import NeedsAuth, ServerFailure, ServerMeans
from codelaw.adapters.processes.child import within
from codelaw.adapters.processes.local import NOT_SET_UP
from codelaw.domain.errors import ToolFailure
from codelaw.domain.served import Offer, Program, ServedResult, ServerSpec, ServerState, ServerStateName

if TYPE_CHECKING:
    from codelaw.adapters.mcp.connection import ServerConnection
    from codelaw.adapters.mcp.questions import ServerCall

    Connect = Callable[[ServerSpec, ServerMeans], AbstractAsyncContextManager[ServerConnection]]

RESTARTS = (0.5, 1.0, 2.0, 4.0)
"""Seconds before each new start of a server that was ready and has ended; after the last it stays as it is."""
STEADY_SECONDS = 60.0
"""After which a server that was ready begins to count anew."""
REFRESH_SECONDS = 1.0
"""Between two looks at lists that change."""
LIST_SECONDS = 30.0
"""Of one such look."""
WAIT_SECONDS = 5.0
"""That a call waits for a server that is about to start."""
CANCEL_SECONDS = 0.5
"""That a cancelled call waits for its end; the rest goes on without it (R-8)."""
FORCE_SECONDS = 1.8
"""After which the task of a server that is to end is given up."""
LOGIN = "Log in with the browser."

_log = logging.getLogger(__name__)


class OwnedServer:
    """`changed` is called whenever its state or its offer is another."""

    def __init__(self, spec: ServerSpec, means: ServerMeans, changed: Callable[[ServerState], None]) -> None:
        self.spec = spec
        self.state = ServerState(spec.name, "starting")
        self.offer = Offer()
        """Of the last time that it was ready; nothing once it has failed."""
        self.settled = asyncio.Event()
        """Set while it is not starting."""
        self._means = means
        self._changed = changed
        self._began = asyncio.get_running_loop().time()
        self._connection: ServerConnection | None = None
        """While it can be called."""
        self._calls: set[asyncio.Task[ServedResult | ToolFailure]] = set()
        self._scope: anyio.CancelScope | None = None
        self._stopping = False
        self._task = asyncio.create_task(self._own(), name=f"codelaw-server-{spec.name}")

    async def ask(self, call: ServerCall) -> ServedResult:
        """Have it done; a cancel tells the server, and returns soon (R-8).

        Raises:
            ToolFailure: the server is not ready, ended, or did not do it.
        """
        await within(self.settled, WAIT_SECONDS)
        if self.state.state != "ready" or self._connection is None:
            how = "ending" if self.state.state == "ready" else self.state.state
            message = f"The server {self.spec.name} is not ready ({how}). {self.state.message}"
            raise ToolFailure("EXECUTION_ERROR", message.strip())
        doing = asyncio.create_task(self._do(self._connection, call))
        self._calls.add(doing)
        doing.add_done_callback(self._calls.discard)
        try:
            await asyncio.wait([doing])
        except asyncio.CancelledError:
            doing.cancel()
            await asyncio.wait([doing], timeout=CANCEL_SECONDS)
            raise
        if isinstance(done := doing.result(), ToolFailure):
            raise done
        return done

    async def _do(self, connection: ServerConnection, call: ServerCall) -> ServedResult | ToolFailure:
        try:
            return await connection.do(call)
        except ToolFailure as failure:
            return failure
        except asyncio.CancelledError:
            message = f"The server {self.spec.name} ended before it answered."
            return ToolFailure("EXECUTION_ERROR", message, uncertain=True)
        except Exception as error:  # noqa: BLE001 - a server of somebody else's, and a package: nothing of it may end ours
            _log.exception("a call of the server %s", self.spec.name)
            return ToolFailure("INTERNAL_ERROR", f"The call failed: {error}", uncertain=True)

    async def near(self, seconds: float) -> None:
        """Wait until it is not starting any more, no longer than until `seconds` after its beginning."""
        await within(self.settled, max(0.0, self._began + seconds - asyncio.get_running_loop().time()))

    async def stop(self) -> None:
        """End it, in less than two seconds; its last state stays."""
        self._stopping = True
        # Without a connection there is nothing to be ended in order.
        (self._task if self._scope is None else self._scope).cancel()
        _, pending = await asyncio.wait([self._task], timeout=FORCE_SECONDS)
        if pending:
            _log.warning("the server %s does not end; it is given up", self.spec.name)
            self._task.cancel()

    async def _own(self) -> None:
        tries = 0
        try:
            connected = await load(_connecting)  # it takes its time, which is none of the server's
        except ImportError:
            add = await asyncio.to_thread(adding, "mcp")
            self._give_up("failed", f"The package `mcp` is not installed. Add it with `{add}`.")
            return
        while not self._stopping:
            self._say(*(("needs_auth", LOGIN) if self._means.log_in else ("starting", self.state.message)))
            began = asyncio.get_running_loop().time()
            seconds = self._means.login_seconds if self._means.log_in else self._means.start_seconds
            try:
                with anyio.CancelScope(deadline=anyio.current_time() + seconds) as self._scope:
                    await self._live(self._scope, connected)
                why = f"It did not start within {seconds:.0f} s. {self._means.fence.hint(self.spec.way)}".rstrip()
            except NeedsAuth as error:
                self._give_up("needs_auth", str(error))
                return
            except ServerFailure as error:
                why = str(error)
            except Exception:  # noqa: BLE001 - as above
                _log.exception("the server %s", self.spec.name)
                why = "It failed in a way that is not known; the log says more."
            finally:
                was_ready, self._scope = self.state.state == "ready", None
                for call in self._calls:
                    call.cancel()  # what still waits for the user
            if self._stopping:
                return
            if asyncio.get_running_loop().time() - began > STEADY_SECONDS:
                tries = 0
            again = was_ready or tries or NOT_SET_UP.search(why)
            once = isinstance(self.spec.way, Program) and self.spec.way.answer
            if once or not again or tries == len(RESTARTS):
                self._give_up("failed", why)
                return
            _log.warning("the server %s is started anew: %s", self.spec.name, why)
            self._say("starting", why)
            await asyncio.sleep(RESTARTS[tries])
            tries += 1

    async def _live(self, scope: anyio.CancelScope, connected: Connect) -> None:
        async with connected(self.spec, self._means) as connection:
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(connection.listen)
                    await self._refresh(connection)
                    self._connection = connection
                    scope.deadline = math.inf
                    self._means = replace(self._means, log_in=False)  # nobody has asked for the browser after that
                    group.start_soon(self._look_again, connection)
                    raise ServerFailure(await connection.ended())
            finally:
                self._connection = None

    async def _refresh(self, connection: ServerConnection) -> None:
        self.offer, message = await connection.lists()
        self._say("ready", message)

    async def _look_again(self, connection: ServerConnection) -> None:
        """Look at the lists again whenever the server says that they have changed; keep the old where that fails."""
        while True:
            await connection.changed.wait()
            try:
                with anyio.fail_after(LIST_SECONDS):
                    await self._refresh(connection)
            except (ServerFailure, TimeoutError) as error:
                _log.warning("the server %s keeps its old lists: %s", self.spec.name, error)
            await anyio.sleep(REFRESH_SECONDS)

    def _give_up(self, state: ServerStateName, why: str) -> None:
        self.offer = Offer()
        self._say(state, why)

    def _say(self, state: ServerStateName, message: str) -> None:
        said = ServerState(self.spec.name, state, len(self.offer.tools), message)
        (self.settled.clear if state == "starting" else self.settled.set)()
        self.state = said
        self._changed(said)


def _connecting() -> Connect:
    from codelaw.adapters.mcp.connection import connected  # noqa: PLC0415 - the package takes long to load

    return connected
