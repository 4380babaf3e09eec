"""Logging in to a server: asked for by the user, remembered, and never in the way of a turn (X-3)."""

from __future__ import annotations

import asyncio
import json
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from codelaw.adapters.mcp.bounds import Bounded
from codelaw.adapters.mcp.login import KeptLogin
from codelaw.adapters.mcp.means import ServerFailure, is_logged_in, login_file
from codelaw.domain.errors import ToolFailure
from codelaw.domain.served import Address, Program, ServerSpec
from tests.adapters.mcp.conftest import HERE, NOBODY, Told, made_servers

STRANGERS = ("", "?error=x", "?code=x", "?error=x&state=", "?error=x&state=guessed", "?code=x&state=gu%C3%A9ssed")
"""What a page that knows our port can call."""


class Headless:
    """Goes where it is sent, as a user does who agrees to everything, and refuses with `answer`."""

    def __init__(self, answer: str = "") -> None:
        self.answer = answer
        self.strangers: list[int] = []
        self.pages: list[str] = []
        self.going: set[asyncio.Task[None]] = set()

    async def open(self, url: str) -> None:
        self.pages.append(url)
        self.going.add(asyncio.create_task(self._go(url)))

    async def _go(self, url: str) -> None:
        transport = await asyncio.to_thread(httpx2.AsyncHTTPTransport)
        async with httpx2.AsyncClient(transport=transport, follow_redirects=True) as client:
            said = {name: values[-1] for name, values in parse_qs(urlsplit(url).query).items()}
            for stranger in STRANGERS:
                self.strangers.append((await client.get(said["redirect_uri"] + stranger)).status_code)
            back = f"{said['redirect_uri']}?{self.answer}&state={said['state']}"
            answer = await client.get(back if self.answer else url)
            assert "can be closed" in answer.text


@asynccontextmanager
async def guarding(*args: str) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(HERE / "guarded.py"), *args, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    yield f"{(await process.stdout.readline()).decode().strip()}/mcp"
    process.terminate()
    await process.wait()


@pytest.fixture
async def guarded() -> AsyncIterator[str]:
    async with guarding() as url:
        yield url


async def test_the_browser_opens_when_the_user_asks_for_it(guarded: str, reported: Told, tmp_path: Path) -> None:
    browser, folder = Headless(), tmp_path / "tokens"
    servers = made_servers(tmp_path, reported, tokens=folder, browser=browser)
    servers.begin([ServerSpec("guarded", Address(guarded), "test")])
    assert "start it anew" in (await reported.until("guarded", "needs_auth")).message
    with pytest.raises(ToolFailure, match="not ready"):
        await servers.call("guarded", "tool", {}, NOBODY)
    assert browser.pages == []
    await servers.restart("guarded")
    await reported.until("guarded", "ready")
    assert (await servers.call("guarded", "tool", {}, NOBODY)).text == "let in"
    await asyncio.gather(*browser.going)
    assert len(browser.pages) == 1
    assert browser.strangers == [404] * len(STRANGERS)
    await servers.close()

    (kept,) = folder.iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    again = Told()
    later = made_servers(tmp_path, again, tokens=folder, browser=browser)
    later.begin([ServerSpec("guarded", Address(guarded), "test")])
    await again.until("guarded", "ready")
    assert len(browser.pages) == 1
    await later.close()


async def test_a_login_that_was_refused_says_so(guarded: str, reported: Told, tmp_path: Path) -> None:
    servers = made_servers(tmp_path, reported, tokens=tmp_path / "tokens", browser=Headless("error=access_denied"))
    servers.begin([ServerSpec("guarded", Address(guarded), "test")])
    await reported.until("guarded", "needs_auth")
    seen = len(reported.states)
    await servers.restart("guarded")
    refused = await reported.until("guarded", "needs_auth", after=seen + 1)
    assert refused.message == "The login was refused: access_denied"
    await servers.close()


@pytest.mark.parametrize("elsewhere", ["http://127.0.0.1:{}/metadata", "http://localhost:{}/metadata", "/metadata"])
async def test_a_login_asks_nobody_else_who_lets_people_in(elsewhere: str, reported: Told, tmp_path: Path) -> None:
    asked: list[bytes] = []

    async def heard(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readline())
        writer.close()

    other = await asyncio.start_server(heard, "127.0.0.1", 0)
    port = other.sockets[0].getsockname()[1]
    async with guarding(elsewhere.format(port)) as url, other:
        servers = made_servers(tmp_path, reported, tokens=tmp_path / "tokens", browser=Headless())
        servers.begin([ServerSpec("guarded", Address(url), "test")])
        await reported.until("guarded", "needs_auth")
        await servers.restart("guarded")
        await reported.until("guarded", "ready")
        await servers.close()
    assert asked == []


async def test_what_begins_encrypted_goes_on_encrypted() -> None:
    reached = httpx2.MockTransport(lambda request: httpx2.Response(200, text=request.url.host))
    for own, other, refused in (
        ("https://a.example/mcp", "http://127.0.0.1:8080/register", True),
        ("https://a.example/mcp", "http://a.example/register", True),
        ("https://a.example/mcp", "https://b.example/register", False),
        ("http://127.0.0.1:1/mcp", "http://127.0.0.1:2/register", False),
    ):
        async with httpx2.AsyncClient(transport=Bounded(reached, Address(own), known=True)) as client:
            if refused:
                with pytest.raises(ServerFailure, match="is not encrypted there"):
                    await client.post(other)
            else:
                assert (await client.post(other)).text == httpx2.URL(other).host


async def test_who_has_logged_out_is_not_let_in_and_sees_no_browser(
    guarded: str, reported: Told, tmp_path: Path
) -> None:
    browser, folder = Headless(), tmp_path / "tokens"
    servers = made_servers(tmp_path, reported, tokens=folder, browser=browser)
    spec = ServerSpec("guarded", Address(guarded), "test")
    assert not await servers.log_out(spec)
    servers.begin([spec])
    await reported.until("guarded", "needs_auth")
    await servers.restart("guarded")
    await reported.until("guarded", "ready")
    await asyncio.gather(*browser.going)
    (kept,) = folder.iterdir()
    kept.with_suffix(".0a1b2c3d").write_text("half written", encoding="utf-8")
    other = folder / "other.json"
    other.write_text("{}", encoding="utf-8")

    before = len(reported.states)
    assert await asyncio.to_thread(is_logged_in, folder, guarded)
    assert await servers.log_out(spec)
    assert not await asyncio.to_thread(is_logged_in, folder, guarded)
    assert "start it anew" in (await reported.until("guarded", "needs_auth", after=before)).message
    assert [*folder.iterdir()] == [other]
    assert len(browser.pages) == 1
    assert not await servers.log_out(spec)
    assert not await servers.log_out(ServerSpec("program", Program("none"), "test"))
    await servers.close()


@pytest.mark.parametrize("kept", ["", "[]", "{", '{"url": "u", "redirect": "r"}', '{"tokens": null}', "[" * 100_000])
def test_what_was_only_begun_or_cannot_be_read_is_no_login(tmp_path: Path, kept: str) -> None:
    assert not is_logged_in(tmp_path, "u")
    login_file(tmp_path, "u").write_text(kept, encoding="utf-8")
    assert not is_logged_in(tmp_path, "u")


@pytest.mark.parametrize(("key", "state"), [("a-key-by-hand", "ready"), ("another", "failed")])
async def test_a_key_in_the_settings_is_used_instead(
    guarded: str, reported: Told, tmp_path: Path, key: str, state: str
) -> None:
    servers = made_servers(tmp_path, reported, tokens=tmp_path / "tokens", browser=Headless())
    servers.begin([ServerSpec("guarded", Address(guarded, {"Authorization": f"Bearer {key}"}), "test")])
    await servers.settled(60)
    (now,) = servers.states()
    assert now.state == state
    assert state == "ready" or now.message == "It does not take the key that it is sent."
    await servers.close()


async def test_one_part_of_a_login_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    client = {"client_id": "known", "redirect_uris": ["http://127.0.0.1:1/callback"]}
    kept = {"url": "u", "redirect": "http://127.0.0.1:1/callback", "expires": "soon", "tokens": {}, "client": client}
    login_file(tmp_path, "u").write_text(json.dumps(kept), encoding="utf-8")
    found = KeptLogin(tmp_path, "u")
    await found.load()
    assert await found.get_tokens() is None
    assert (found.agreed.redirect, found.agreed.expires) == ("http://127.0.0.1:1/callback", None)
    assert (known := await found.get_client_info()) is not None
    assert known.client_id == "known"
