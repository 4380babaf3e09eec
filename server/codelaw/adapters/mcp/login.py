"""Logging in to a server by OAuth: the package knows how, here are its browser, its listener and its memory (X-3)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, BaseModel, ValidationInfo, ValidatorFunctionWrapHandler, field_validator

from codelaw.adapters.mcp.means import ASK, NeedsAuth, ServerMeans, login_file
from codelaw.adapters.texts import write_whole
from codelaw.domain.served import Address
from codelaw.ports.servers import Browser

_PAGE = "You are logged in, or were refused. This page can be closed; codelaw goes on."
_HEAD_BYTES = 16_000
"""Of what the browser sends."""


class _Agreed(BaseModel):
    """What was agreed with one server, as its file has it; a part of it that cannot be read is not there."""

    url: str = ""
    redirect: str = ""
    """Where the browser was sent last time; the server knows us by it."""
    expires: float | None = None
    """When the token ends, in seconds since 1970."""
    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    @field_validator("*", mode="wrap")
    @classmethod
    def _readable(cls, given: object, read: ValidatorFunctionWrapHandler, field: ValidationInfo) -> object:
        try:
            return read(given)
        except ValueError:
            return cls.model_fields[field.field_name or ""].default


class KeptLogin:
    """What was agreed with one server; implements the package's `TokenStorage`. In a file that only its owner reads."""

    def __init__(self, folder: Path, url: str) -> None:
        self._file = login_file(folder, url)
        self.agreed = _Agreed(url=url)

    async def load(self) -> None:
        """Read what was kept; what cannot be read, or is another server's, is not there."""
        with suppress(OSError, ValueError):
            found = _Agreed.model_validate_json(await asyncio.to_thread(self._file.read_bytes))
            self.agreed = found if found.url == self.agreed.url else self.agreed

    async def set_redirect(self, redirect: str) -> None:
        """Keep another redirect, with which nothing holds that was agreed under the one before."""
        if redirect != self.agreed.redirect:
            before = _Agreed(url=self.agreed.url) if self.agreed.redirect else self.agreed
            await self._keep(before.model_copy(update={"redirect": redirect}))

    async def get_tokens(self) -> OAuthToken | None:
        """The package asks for it."""
        return self.agreed.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """The package keeps them."""
        expires = None if tokens.expires_in is None else time.time() + tokens.expires_in
        await self._keep(self.agreed.model_copy(update={"tokens": tokens, "expires": expires}))

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The package asks for it."""
        return self.agreed.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """The package keeps it."""
        await self._keep(self.agreed.model_copy(update={"client": client_info}))

    async def _keep(self, agreed: _Agreed) -> None:
        self.agreed = agreed
        await asyncio.to_thread(self._write)

    def _write(self) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self._file, self.agreed.model_dump_json().encode())


@asynccontextmanager
async def login(address: Address, means: ServerMeans) -> AsyncGenerator[OAuthClientProvider | None]:
    """Who logs in to a server when it asks for that; None where nobody can.

    The browser opens only where the user has asked for it; otherwise what was agreed before is used, and where that is
    not enough `NeedsAuth` is raised in the midst of a request.
    """
    if means.tokens is None or any(name.lower() == "authorization" for name in address.headers):
        yield None
        return
    kept = KeptLogin(means.tokens, address.url)
    await kept.load()
    browser = means.browser if means.log_in else None
    if browser is None and kept.agreed.tokens is None:
        yield None
        return
    listener = _Listener(browser)
    try:
        if browser is not None:
            await kept.set_redirect(await listener.open(kept.agreed.redirect))
        redirect = AnyUrl(kept.agreed.redirect or "http://127.0.0.1/callback")
        provider = OAuthClientProvider(
            server_url=address.url,
            client_metadata=OAuthClientMetadata(
                client_name="codelaw", software_version=means.version or None, redirect_uris=[redirect]
            ),
            storage=kept,
            redirect_handler=listener.open_page,
            callback_handler=listener.answer,
            client_metadata_url=means.described,
        )
        provider.context.token_expiry_time = kept.agreed.expires
        yield provider
    finally:
        listener.close()


class _Listener:
    """Waits on this machine for the browser to come back; without one the user has not asked to log in."""

    def __init__(self, browser: Browser | None) -> None:
        self._browser = browser
        self._server: asyncio.Server | None = None
        self._came: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()
        self._state = ""
        """Of the page that was opened last; no other page knows it."""

    async def open(self, before: str) -> str:
        """Listen where we did `before`, or elsewhere if that is taken; gives where."""
        try:
            server = await asyncio.start_server(self._heard, "127.0.0.1", urlsplit(before).port or 0, limit=_HEAD_BYTES)
        except OSError:
            server = await asyncio.start_server(self._heard, "127.0.0.1", 0, limit=_HEAD_BYTES)
        self._server = server
        return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/callback"

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def open_page(self, url: str) -> None:
        if self._browser is None:
            raise NeedsAuth(ASK)
        self._came = asyncio.get_running_loop().create_future()
        self._state = parse_qs(urlsplit(url).query).get("state", [""])[-1]
        await self._browser.open(url)

    async def answer(self) -> AuthorizationCodeResult:
        return await self._came

    async def _heard(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n")
            target = head.decode("ascii", "replace").split(" ")[1]
            known = self._take(target)
            status = "200 OK" if known else "404 Not Found"
            body = _PAGE if known else ""
            writer.write(
                f"HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {len(body)}\r\n"
                f"connection: close\r\n\r\n{body}".encode()
            )
            await writer.drain()
        except (OSError, ValueError, IndexError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return  # whoever it was, it was not the browser that we wait for
        finally:
            writer.close()

    def _take(self, target: str) -> bool:
        found = urlsplit(target)
        first = {name: values[0] for name, values in parse_qs(found.query).items()}
        if found.path != "/callback" or first.get("state") != self._state or not first.keys() & {"code", "error"}:
            return False
        if self._came.done():
            return True
        if "code" in first:
            came = AuthorizationCodeResult(code=first["code"], state=self._state, iss=first.get("iss"))
            self._came.set_result(came)
        else:
            self._came.set_exception(NeedsAuth(f"The login was refused: {first['error'][:200]}"))
        return True
