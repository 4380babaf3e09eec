"""A workspace's MCP server, from its file to the model's next request, with the real server over stdio (X-3, R-5)."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import EVERYTHING, RawClient
from tests.scenarios.conftest import Start, act, finish

HOSTILE = Path(__file__).with_name("hostile_server.py")
LABEL = re.compile(r"^(?:Observation|Action|Thought):|^\[(?:user|tool|assistant|system)\]", re.MULTILINE)


@pytest.fixture
def named(root: Path) -> Path:
    """The workspace names the server, in JSON as people write it."""
    text = f"""{{
      // for everybody
      "mcpServers": {{
        "desk": {{"command": {json.dumps(sys.executable)}, "args": ["-I", {json.dumps(str(HOSTILE))}],}},
        "other": {{"command": "none", "args": ["${{NOT_SET}}"]}},
      }},
    }}"""
    (root / ".mcp.json").write_text(text, encoding="utf-8")
    return root


def texts(request: Any) -> list[str]:
    """Every text that a request holds."""
    if isinstance(request, dict):
        found = [text for value in request.values() for text in texts(value)]
        return [*found, request["text"]] if isinstance(request.get("text"), str) else found
    return [text for value in request for text in texts(value)] if isinstance(request, list) else []


def events(client: RawClient, kind: str) -> list[dict[str, Any]]:
    return [event["event"] for event in client.events() if event["event"]["kind"] == kind]


def ready(message: dict[str, Any]) -> bool:
    """Whether a message tells that the server can be used."""
    event = message.get("params", {}).get("event", {}) if isinstance(message.get("params"), dict) else {}
    return event.get("kind") == "mcp" and event["state"] == "ready"


async def states(client: RawClient) -> dict[str, str]:
    listed = await client.request("codelaw/mcp/list", {})
    return {one["name"]: one["state"] for one in listed["servers"]}


async def test_a_workspaces_server_from_its_file_to_the_models_next_request(
    start: Start, vendor: LoopbackVendor, named: Path
) -> None:
    vendor.script = [VendorReply(text=finish("ok"))]
    async with start(EVERYTHING, {"permissions": {"allow": ["mcp__desk__echo"]}}) as client:
        assert await states(client) == {"desk": "needs_trust", "other": "needs_trust"}
        chat = (await client.request("codelaw/chat/send", {"text": "hello"}))["chatId"]
        assert "mcp__" not in json.dumps(vendor.messages[-1].json), "nothing starts before the user has said so"
        told = [notice["message"] for notice in events(client, "notice") if notice["code"] == "mcp_needs_trust"]
        assert f"The server desk is not started. .mcp.json would run: {sys.executable} -I {HOSTILE}" in told[0]
        listed = await client.request("codelaw/mcp/enable", {"name": "desk", "enabled": True})
        assert listed["servers"][0]["state"] in {"starting", "ready"}
        await client.request("codelaw/mcp/enable", {"name": "other", "enabled": True})
        await client.until(ready)
        vendor.reset(
            [
                VendorReply(text=act("mcp__desk__echo", '{"text": "hi"}')),
                VendorReply(text=finish("ok")),
                VendorReply(text=finish("ok")),
            ]
        )
        sent = {"chatId": chat, "text": "/mcp__desk__greet Ada"}
        result = await client.request("codelaw/chat/send", sent)
        assert result["stopReason"] == "finished"
        sent = {"chatId": chat, "text": "See @desk:note://1."}
        assert (await client.request("codelaw/chat/send", sent))["stopReason"] == "finished"
        assert (await states(client))["other"] == "failed", "and the other goes on"
        request = vendor.messages[-1].json
        whole = "\n".join(texts(request))
        for wanted in ("mcp__desk__echo[{text?: str}]", "Says it again.", "SAID {'text': 'hi'}", "PROMPT", "RESOURCE"):
            assert wanted in whole
        assert "KEYS [] IN" in whole, "no key of ours reaches it"
        assert f"IN {named}" in whole
        assert "mcp__desk__Read[" in whole, "no name of a server's is one of ours"
        for text in texts(request):
            assert not re.search("[\u200b\u202e\u2028]", text)
            assert not [label for label in LABEL.findall(text) if "HOSTILE" in text.partition(label)[2][:20]]
        assert "\nObservation: HOSTILE" not in whole
        assert "</system-reminder" not in whole
        asked = events(client, "tool_call")
        assert [event["status"] for event in asked][-1] == "completed"
        restarted = await client.request("codelaw/mcp/restart", {"name": "desk"})
        assert restarted == {"restarted": True}
        off = await client.request("codelaw/mcp/enable", {"name": "desk", "enabled": False})
        assert off["servers"][0]["state"] == "off"


async def test_where_the_editor_trusts_no_folder_nothing_is_started(
    start: Start, vendor: LoopbackVendor, named: Path
) -> None:
    ours = {**EVERYTHING["experimental"]["codelaw"], "workspaceTrusted": False}
    vendor.script = [VendorReply(text=finish("ok"))]
    async with start({**EVERYTHING, "experimental": {"codelaw": ours}}) as client:
        await client.request("codelaw/chat/send", {"text": "hello"})
        assert await states(client) == {"desk": "off", "other": "off"}
        error = await client.error("codelaw/mcp/enable", {"name": "desk", "enabled": True})
        assert error.data["code"] == "not_trusted"
        assert "mcp__" not in json.dumps(vendor.messages[-1].json)
