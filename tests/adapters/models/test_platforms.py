"""The SDK's clients of the clouds, each pointed at loopback: one request path for all of them (P-4)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from codelaw.adapters.models.messages.model import MessagesModel
from codelaw.domain.errors import ModelFailure
from codelaw.domain.messages import Call
from codelaw.domain.models import ApiMessage, ModelRequest, Platform, TextBlock
from tests.loopback.script import VendorReply, events
from tests.loopback.server import LoopbackVendor

KEY = "cloud-key-0123456789"
MODEL = "claude-sonnet-5-5"
REQUEST = ModelRequest(MODEL, (), (ApiMessage("user", (TextBlock("q \N{EURO SIGN}"),)),), 500, previous="msg_1")
CALL = {"id": "toolu_1", "name": "Read", "input": {"path": "a"}}


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_REGION": "eu-central-1",
        "ANTHROPIC_AWS_WORKSPACE_ID": "wrkspc_1",
        "CLOUD_ML_REGION": "europe-west1",
        "ANTHROPIC_VERTEX_PROJECT_ID": "project-1",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("platform", ["bedrock", "foundry", "aws"])
async def test_clouds_that_speak_the_plain_api(platform: Platform) -> None:
    async with LoopbackVendor([VendorReply(text="ok", calls=(CALL,))]) as vendor:
        model = MessagesModel(KEY, vendor.url, platform=platform)
        reply = await model.reply(REQUEST, lambda _: None)
        await model.close()
    assert (reply.text, reply.calls) == ("ok", (Call("toolu_1", "Read", {"path": "a"}),))
    (sent,) = vendor.messages
    assert sent.json["diagnostics"] == {"previous_message_id": "msg_1"}
    assert sent.headers["anthropic-beta"] == "cache-diagnosis-2026-04-07"
    assert KEY in (
        sent.headers.get("authorization", "") + sent.headers.get("x-api-key", "") + sent.headers.get("api-key", "")
    )
    assert sent.headers.get("anthropic-workspace-id") == ("wrkspc_1" if platform == "aws" else None)


async def test_a_cloud_whose_address_names_the_model() -> None:
    heads: list[str] = []
    bodies: list[dict[str, Any]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        length = next(line for line in heads[-1].lower().split("\r\n") if line.startswith("content-length"))
        bodies.append(json.loads(await reader.readexactly(int(length.split(":")[1]))))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        rows = events(VendorReply(text="ok"), bodies[-1], {"input_tokens": 3, "output_tokens": 1}, 1)
        writer.writelines(f"event: {name}\ndata: {json.dumps(data)}\n\n".encode() for name, data in rows)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        model = MessagesModel(KEY, url, platform="vertex")
        reply = await model.reply(REQUEST, lambda _: None)
        await model.close()
    assert (reply.text, reply.usage.input_tokens) == ("ok", 3)
    place = "/v1/projects/project-1/locations/europe-west1/publishers/anthropic/models"
    assert heads[0].startswith(f"POST {place}/{MODEL}:streamRawPredict HTTP/1.1")
    assert f"authorization: bearer {KEY}" in heads[0].lower()
    assert "model" not in bodies[0]
    assert bodies[0]["stream"] is True
    assert bodies[0]["messages"] == [{"role": "user", "content": [{"type": "text", "text": "q \N{EURO SIGN}"}]}]
    assert bodies[0]["anthropic_version"]


@pytest.mark.parametrize(
    ("platform", "lacking"),
    [("foundry", "ANTHROPIC_FOUNDRY_API_KEY"), ("aws", "ANTHROPIC_AWS_WORKSPACE_ID"), ("vertex", "CLOUD_ML_REGION")],
)
async def test_what_a_cloud_lacks_is_told(platform: Platform, lacking: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_AWS_WORKSPACE_ID", "CLOUD_ML_REGION"):
        monkeypatch.delenv(name)
    model = MessagesModel(None if platform == "foundry" else KEY, "http://127.0.0.1:9", platform=platform)
    with pytest.raises(ModelFailure, match=lacking) as caught:
        await model.warm()
    assert caught.value.kind == "auth"
    assert f"platform {platform}" in caught.value.message
    await model.close()
