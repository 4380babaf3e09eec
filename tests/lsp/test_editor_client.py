"""An editor's own client library against the server, with what Visual Studio Code declares."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

REGISTERED: list[str] = []
"""What the server asked the client to do, by method."""

SERVER = [sys.executable, str(Path(__file__).with_name("fake_server.py"))]


def make_client() -> LanguageClient:
    client = make_test_lsp_client()

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        REGISTERED.extend(item.method for item in params.registrations)

    @client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem:
        return list(params.actions or ())[-1]

    return client


@pytest_lsp.fixture(config=ClientServerConfig(server_command=SERVER, client_factory=make_client))
async def editor(lsp_client: LanguageClient, home: Path):
    capabilities = client_capabilities("visual-studio-code")
    await lsp_client.initialize_session(
        types.InitializeParams(capabilities=capabilities, root_uri=home.as_uri(), process_id=None)
    )
    yield
    await lsp_client.shutdown_session()


@pytest.mark.blocking
async def test_the_palette_command_starts_a_turn_and_shows_its_answer(editor: LanguageClient) -> None:
    command = types.ExecuteCommandParams("codelaw.chat.send", [{"text": "ask"}])
    # Waited for from now on: it may come together with the reply.
    progress = asyncio.ensure_future(editor.wait_for_notification("$/progress"))
    started: Any = await editor.workspace_execute_command_async(command)
    assert set(started) == {"chatId", "turnId"}
    await progress
    read = types.ExecuteCommandParams("codelaw.chat.read", [{"chatId": started["chatId"]}])
    record: Any = await editor.workspace_execute_command_async(read)
    assert record["chat"]["id"] == started["chatId"]
    assert {"workspace/didChangeWatchedFiles", "textDocument/completion"} <= set(REGISTERED)


@pytest.mark.blocking
async def test_a_custom_request_over_the_library(editor: LanguageClient) -> None:
    result = await editor.protocol.send_request_async("codelaw/chat/send", {"text": "ask"})
    assert (result.stopReason, result.answer) == ("finished", "no|")
