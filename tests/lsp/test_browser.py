"""Pages on which the user logs in to a server, opened by the client (X-3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from codelaw.lsp.cancelling import Spawner
from codelaw.lsp.client import Client
from codelaw.lsp.client_calls.window import ClientUI
from codelaw.lsp.transport.errors import ClientError

PAGE = "https://login.example/?a=b"


class Line:
    """The wire to a client that answers a request with `answer`."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.said: list[tuple[str, Any]] = []

    async def request(self, method: str, params: Any) -> Any:
        self.said.append((method, params))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def notify(self, method: str, params: Any) -> None:
        self.said.append((method, params["message"]))


async def opened(url: str, answer: Any, *, documents: bool = True) -> list[tuple[str, Any]]:
    line = Line(answer)
    await ClientUI(cast("Any", line), Client(documents=documents), Path(), Spawner(), cast("Any", None)).open(url)
    return line.said


async def test_the_client_opens_the_page_outside_of_itself() -> None:
    asked = ("window/showDocument", {"uri": PAGE, "external": True})
    assert await opened(PAGE, {"success": True}) == [asked]


@pytest.mark.parametrize("answer", [{"success": False}, None, ClientError(-32601, "no")])
async def test_where_it_does_not_the_user_is_told_the_address(answer: Any) -> None:
    assert (await opened(PAGE, answer))[-1] == ("window/showMessage", f"Open this page to go on: {PAGE}")
    assert len(await opened(PAGE, answer, documents=False)) == 1


@pytest.mark.parametrize("url", ["file:///etc/passwd", "vscode://run", "command:x", "HTTPS:"])
async def test_what_is_no_page_is_not_opened(url: str) -> None:
    assert await opened(url, {"success": True}) == []
