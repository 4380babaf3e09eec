"""Logging in to a server by OAuth: the package knows how, here are its browser, its listener and its memory (X-3)."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, ValidationError

from codelaw.adapters.mcp.logins import login_file
from codelaw.adapters.mcp.means import ASK, Means, NeedsAuth
from codelaw.domain.served import Address
from codelaw.ports.servers import Browser

_PAGE = "You are logged in, or were refused. This page can be closed; codelaw goes on."
_HEAD_BYTES = 16_000
"""Of what the browser sends."""


class Kept:
    """What was agreed with one server; implements the package's `TokenStorage`. In a file that only its owner reads."""

    def __init__(self, folder: Path, url: str) -> None:
        self._file = login_file(folder, url)
        self._url = url
        self._found: dict[str, Any] = {}

    async def load(self) -> None:
        self._found = await asyncio.to_thread(self._read)

    @property
    def redirect(self) -> str:
        """Where the browser was sent last time; the server knows us by it."""
        return str(self._found.get("redirect") or "")

    @property
    def expires(self) -> float | None:
        """When the token ends, in seconds since 1970."""
        expires = self._found.get("expires")
        return expires if isinstance(expires, int | float) else None

    async def set_redirect(self, redirect: str) -> None:
        if redirect != self.redirect:
            await self._keep({**({} if self.redirect else self._found), "redirect": redirect})

    async def get_tokens(self) -> OAuthToken | None:
        return self._as(OAuthToken, "tokens")

    async def set_tokens(self, tokens: OAuthToken) -> None:
        expires = None if tokens.expires_in is None else time.time() + tokens.expires_in
        await self._keep({**self._found, "tokens": tokens.model_dump(mode="json"), "expires": expires})

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._as(OAuthClientInformationFull, "client")

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._keep({**self._found, "client": client_info.model_dump(mode="json")})

    def _as(self, kind: type[Any], key: str) -> Any:
        try:
            return kind.model_validate(self._found[key]) if key in self._found else None
        except ValidationError:
            return None

    async def _keep(self, found: dict[str, Any]) -> None:
        self._found = {**found, "url": self._url}
        await asyncio.to_thread(self._write)

    def _read(self) -> dict[str, Any]:
        try:
            found = cast("object", json.loads(self._file.read_text("utf-8")))
        except (OSError, ValueError):
            return {}
        if not isinstance(found, dict):
            return {}
        kept = cast("dict[str, Any]", found)
        return kept if kept.get("url") == self._url else {}

    def _write(self) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self._file.with_suffix(f".{os.urandom(4).hex()}")
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(self._found, file)
        part.replace(self._file)


@asynccontextmanager
async def login(address: Address, means: Means) -> AsyncGenerator[OAuthClientProvider | None]:
    """Who logs in to a server when it asks for that; None where nobody can.

    The browser opens only where the user has asked for it; otherwise what was agreed before is used, and where that is
    not enough `NeedsAuth` is raised in the midst of a request.
    """
    if means.tokens is None or any(name.lower() == "authorization" for name in address.headers):
        yield None
        return
    kept = Kept(means.tokens, address.url)
    await kept.load()
    browser = means.browser if means.log_in else None
    if browser is None:
        yield _provider(address, means, kept, _Nobody()) if await kept.get_tokens() else None
        return
    listener = _Listener(browser)
    await listener.open(kept.redirect)
    try:
        await kept.set_redirect(listener.redirect)
        yield _provider(address, means, kept, listener)
    finally:
        listener.close()


def _provider(address: Address, means: Means, kept: Kept, person: _Nobody | _Listener) -> OAuthClientProvider:
    redirect = person.redirect or kept.redirect or "http://127.0.0.1/callback"
    about = OAuthClientMetadata(
        client_name="codelaw", software_version=means.version or None, redirect_uris=[AnyUrl(redirect)]
    )
    provider = OAuthClientProvider(
        server_url=address.url,
        client_metadata=about,
        storage=kept,
        redirect_handler=person.open_page,
        callback_handler=person.answer,
        client_metadata_url=means.described,
    )
    provider.context.token_expiry_time = kept.expires
    return provider


class _Nobody:
    """The user has not asked to log in."""

    redirect = ""

    async def open_page(self, url: str) -> None:  # noqa: ARG002 - the package's
        raise NeedsAuth(ASK)

    async def answer(self) -> AuthorizationCodeResult:
        raise NeedsAuth(ASK)


class _Listener:
    """Waits on this machine for the browser to come back."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._server: asyncio.Server | None = None
        self._came: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()
        self.redirect = ""

    async def open(self, before: str) -> None:
        """Listen where we did `before`, or elsewhere if that is taken."""
        port = urlsplit(before).port or 0
        try:
            self._server = await asyncio.start_server(self._heard, "127.0.0.1", port, limit=_HEAD_BYTES)
        except OSError:
            self._server = await asyncio.start_server(self._heard, "127.0.0.1", 0, limit=_HEAD_BYTES)
        self.redirect = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/callback"

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._came.cancel()

    async def open_page(self, url: str) -> None:
        if self._came.done():
            self._came = asyncio.get_running_loop().create_future()  # it is not the first time
        await self._browser.open(url)

    async def answer(self) -> AuthorizationCodeResult:
        return await asyncio.shield(self._came)

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
        said = parse_qs(found.query)
        if found.path != "/callback" or not ("code" in said or "error" in said):
            return False
        first = {name: values[0] for name, values in said.items()}
        if not self._came.done():
            if "code" in first:
                came = AuthorizationCodeResult(code=first["code"], state=first.get("state"), iss=first.get("iss"))
                self._came.set_result(came)
            else:
                self._came.set_exception(NeedsAuth(f"The login was refused: {first['error'][:200]}"))
        return True
