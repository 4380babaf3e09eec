"""One client's language server: its life from `initialize` to `exit` (V-1, V-2).

Importing this module loads pygls and nothing heavy of ours; the engine comes after `initialize` was answered.
"""

from __future__ import annotations

import asyncio
import hmac
import importlib
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.lsp.server import LanguageServer

from codelaw import __version__
from codelaw.lsp.cancelling import carried
from codelaw.lsp.client import STANDARD, Client, abilities, client_of
from codelaw.lsp.documents.documents import DocumentMoment, EditorDocuments
from codelaw.lsp.documents.positions import Encoding
from codelaw.lsp.folders import Folders
from codelaw.lsp.transport.errors import INVALID_PARAMS, WireError, bad_params, refusal
from codelaw.lsp.transport.rpc import Rpc
from codelaw.lsp.transport.structuring import changed_uris, converter
from codelaw.ports.cancelling import Scopes
from codelaw.protocol.names import BEGINNING, CLIENT_METHODS, COMMANDS, EDITOR_COMMANDS, EDITOR_TRUST, STOPPING

if TYPE_CHECKING:
    from codelaw.app.session import Session
    from codelaw.lsp.server.connection import Connection

    OpenSession = Callable[..., Awaitable[Session]]

log = logging.getLogger(__name__)

CLOSE_SECONDS = 1.2
"""How long the session may take to close when the connection ends."""


class CodelawServer(LanguageServer):
    """A language server for one connection."""

    def __init__(
        self,
        *,
        on_exit: Callable[[int], None],
        token: str | None = None,
        open_session: OpenSession | None = None,
    ) -> None:
        """Make the server of one connection.

        `on_exit` is called with the exit status when the client says `exit` or was refused; `token` must be in
        `initializationOptions.token`.
        """
        super().__init__("codelaw", __version__, protocol_cls=Rpc, converter_factory=converter)  # pyright: ignore[reportUnknownMemberType]
        self.rpc = cast("Rpc", self.protocol)
        self.client = Client()
        self.documents = EditorDocuments()
        self.folders = Folders()
        self.arrived = Scopes()
        self.on_client: Callable[[Client], None] = lambda _client: None
        """Called when the client has introduced itself."""
        self._on_exit = on_exit
        self._token = token
        self._open_session = open_session
        self._options: Any = {}
        self._opening: asyncio.Task[Connection] | None = None
        self._connection: Connection | None = None
        self._closed = False
        self._register()

    def _register(self) -> None:
        rpc = self.rpc
        rpc.on_initialize = self._initialize
        rpc.requests |= {method: partial(self._called, method) for method in CLIENT_METHODS}
        rpc.requests |= {method: partial(self._standard, method) for method in STANDARD}
        rpc.requests[types.WORKSPACE_EXECUTE_COMMAND] = self._execute
        rpc.requests[types.SHUTDOWN] = self._shutdown
        rpc.notifications |= {
            types.INITIALIZED: self._begin,
            types.EXIT: self._exit,
            types.TEXT_DOCUMENT_DID_OPEN: partial(self._document, "opened"),
            types.TEXT_DOCUMENT_DID_CHANGE: partial(self._document, "changed"),
            types.TEXT_DOCUMENT_DID_CLOSE: partial(self._document, "closed"),
            types.TEXT_DOCUMENT_WILL_SAVE: lambda params: self.documents.saving(params.text_document.uri),
            types.TEXT_DOCUMENT_DID_SAVE: partial(self._document, "saved"),
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._folders_changed,
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._configuration_changed,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._files_changed,
            types.WINDOW_WORK_DONE_PROGRESS_CANCEL: self._progress_cancelled,
            EDITOR_TRUST: self._editor_trust,
        }

    # ---------------------------------------------------------------------------------------------------- beginning

    def _initialize(self, params: types.InitializeParams) -> types.InitializeResult:
        options: Any = params.initialization_options
        given = dict(cast("Mapping[str, Any]", options)) if isinstance(options, Mapping) else {}
        self._check(given.pop("token", None))
        self._options = given if isinstance(options, Mapping) else options
        self.client = client_of(params)
        self.folders.begin(params)
        encoding = ServerCapabilitiesBuilder.choose_position_encoding(params.capabilities)
        self.documents.encoding = cast("Encoding", str(getattr(encoding, "value", encoding)))
        self.on_client(self.client)
        return types.InitializeResult(
            capabilities=abilities(self.client, encoding),
            server_info=types.ServerInfo("codelaw", __version__),
        )

    def _check(self, given: Any) -> None:
        """Compare the token in constant time; a wrong one ends the connection."""
        if self._token is None:
            return
        text = given if isinstance(given, str) else ""
        if not hmac.compare_digest(text.encode("utf-8", "replace"), self._token.encode()):
            asyncio.get_running_loop().call_soon(self._on_exit, 1)
            hint = "Send the token the server was started with as initializationOptions.token"
            raise refusal("auth_failed", "The token is missing or wrong", hint)

    def _begin(self, _params: Any = None) -> asyncio.Task[Connection]:
        """Start opening the engine, or opening it again after a failure."""
        failed = self._opening is not None and self._opening.done() and self._connection is None
        if self._opening is None or failed:
            self._opening = asyncio.get_running_loop().create_task(self._open())
            self._opening.add_done_callback(_log_failure)
        return self._opening

    async def _open(self) -> Connection:
        module = await asyncio.to_thread(importlib.import_module, "codelaw.lsp.server.connection")
        connection: Connection = await module.open_connection(
            rpc=self.rpc,
            client=self.client,
            documents=self.documents,
            folders=self.folders,
            arrived=self.arrived,
            options=self._options,
            open_session=self._open_session,
        )
        self._connection = connection
        return connection

    async def _ready(self) -> Connection:
        """The engine, once it is there; cancelling the waiter leaves it opening."""
        return self._connection or await asyncio.shield(self._begin())

    # ----------------------------------------------------------------------------------------------------- requests

    async def _called(self, method: str, params: Any, *, command: bool = False) -> Any:
        given: Mapping[str, object] = cast("Any", params) if isinstance(params, Mapping) else {}
        if method in BEGINNING:
            with self.arrived.open(given.get(BEGINNING[method])) as scope:
                return await carried(scope, self._reached(method, params, command=command))
        if method in STOPPING and self.arrived.cancel(given.get(STOPPING[method])):
            if self._connection is not None:
                await self._connection.call(method, params)
            return {"cancelled": True}
        return await self._reached(method, params, command=command)

    async def _reached(self, method: str, params: Any, *, command: bool) -> Any:
        return await (await self._ready()).call(method, params, command=command)

    async def _standard(self, method: str, params: Any) -> Any:
        return await (await self._ready()).answer(method, params)

    async def _execute(self, params: Any) -> Any:
        method, argument = _command(params)
        try:
            return await self._called(method, argument, command=True)
        except WireError as error:
            raise _inside_arguments(error) if error.code == INVALID_PARAMS else error from None

    # ------------------------------------------------------------------------------------------------ notifications

    def _document(self, what: DocumentMoment, params: Any) -> None:
        uri: str = params.text_document.uri
        match what:
            case "opened":
                self.documents.opened(params.text_document)
            case "changed":
                self.documents.changed(params)
            case "closed":
                self.documents.closed(uri)
            case "saved":
                self.documents.saved(uri)
        # What was opened before the engine is there is looked at when it is.
        if self._connection is not None:
            self._connection.document(uri, what)

    def _files_changed(self, params: Any) -> None:
        if self._connection is not None:
            self._connection.context.spawn(self._connection.files_changed(changed_uris(params)))

    def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        self.folders.change(params.event.added, params.event.removed)
        if self._opening is not None:
            self._after_opening(lambda connection: connection.folders_changed())

    def _configuration_changed(self, params: types.DidChangeConfigurationParams) -> None:
        def reload(connection: Connection) -> Coroutine[Any, Any, None]:
            connection.context.configuration.pushed(params.settings)
            return connection.context.configuration.reload(pull=True)

        self._after_opening(reload)

    def _editor_trust(self, params: Any) -> None:
        given: Any = cast("Mapping[str, Any]", params).get("trusted") if isinstance(params, Mapping) else None
        if not isinstance(given, bool):
            log.warning("%s needs {trusted: boolean}; it is ignored", EDITOR_TRUST)
            return
        self.client = replace(self.client, trusted=given)
        if self._connection is not None:
            self._connection.editor_trust(trusted=given)
        else:
            # What was said while the engine opened holds before anything else is answered.
            self._opened(lambda connection: connection.editor_trust(trusted=self.client.trusted))

    def _after_opening(self, work: Callable[[Connection], Coroutine[Any, Any, None]]) -> None:
        self._opened(lambda connection: connection.context.spawn(work(connection)))

    def _opened(self, then: Callable[[Connection], object]) -> None:
        """Have something done with the engine as soon as it is there."""

        def done(opening: asyncio.Task[Connection]) -> None:
            if not opening.cancelled() and opening.exception() is None and not self._closed:
                then(opening.result())

        self._begin().add_done_callback(done)

    def _progress_cancelled(self, params: types.WorkDoneProgressCancelParams) -> None:
        if self._connection is not None:
            self._connection.context.ui.progress.cancelled(params.token)

    # -------------------------------------------------------------------------------------------------------- the end

    async def _shutdown(self, _params: Any) -> None:
        await self.rpc.cancel_all(but=asyncio.current_task())
        await self._close_connection()

    def _exit(self, _params: Any) -> None:
        self._on_exit(0 if self.rpc.state == "shutdown" else 1)

    async def close(self) -> None:
        """The connection is gone: cancel what runs and close the session, within `CLOSE_SECONDS`."""
        self.rpc.close()
        self._closed = True
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self.rpc.cancel_all()
                await self._close_connection()
        except TimeoutError:
            log.warning("The session did not close within %s s", CLOSE_SECONDS)

    async def _close_connection(self) -> None:
        opening, self._opening = self._opening, None
        connection, self._connection = self._connection, None
        if opening is not None and not opening.done():
            # A session that is just being opened is let open, so that it can be closed.
            try:
                connection = await asyncio.shield(opening)
            except Exception as error:  # noqa: BLE001 - its failure was logged where it happened
                log.debug("Nothing to close: %s", error)
            self._opening = self._connection = None
        if connection is not None:
            try:
                await connection.close()
            except Exception:
                log.exception("The session did not close cleanly")


def _log_failure(opening: asyncio.Task[Connection]) -> None:
    if not opening.cancelled() and (error := opening.exception()) is not None and not isinstance(error, WireError):
        log.error("The session could not be opened", exc_info=error)


def _command(params: Any) -> tuple[str, Any]:
    """What a command stands for, and its params: the one argument, or `{}` without one.

    Raises:
        WireError: -32602 with the field's path.
    """
    if not isinstance(params, dict):
        raise bad_params([{"path": "", "message": "Input should be an object"}])
    body = cast("dict[str, Any]", params)
    name = body.get("command")
    if not isinstance(name, str) or name not in {*COMMANDS, *EDITOR_COMMANDS}:
        raise bad_params([{"path": "command", "message": f"No such command: {str(name)[:200]}"}])
    arguments: Any = body.get("arguments")
    if arguments is None:
        return COMMANDS.get(name, name), {}
    if not isinstance(arguments, list) or len(cast("list[Any]", arguments)) > 1:
        raise bad_params([{"path": "arguments", "message": "Input should be an array with at most one object"}])
    values = cast("list[Any]", arguments)
    return COMMANDS.get(name, name), values[0] if values else {}


def _inside_arguments(error: WireError) -> WireError:
    """The same -32602 with its paths seen from the command's params."""
    data: Any = error.data
    errors: Any = data.get("errors") if isinstance(data, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(errors, list):
        return error
    moved: list[dict[str, str]] = []
    for item in cast("list[dict[str, str]]", errors):
        inner = item["path"]
        path = "arguments[0]" + (f".{inner}" if inner and not inner.startswith("[") else inner)
        moved.append({"path": path, "message": item["message"]})
    return bad_params(moved)
