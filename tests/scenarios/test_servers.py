"""A workspace's MCP server, from its file to the model's next request, with the real server over stdio (X-3, R-5)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from codelaw.adapters.mcp.means import login_file
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import EVERYTHING, PATIENCE, RawClient
from tests.scenarios.conftest import Start, act, finish

HOSTILE = Path(__file__).with_name("hostile_server.py")
PYTHON = os.path.realpath(sys.executable)
"""One that is seen in the sandbox, wherever the environment of the tests lies."""
IN_SANDBOX = " — It runs in the sandbox: it only reads the workspace, and reaches the network."
LABEL = re.compile(r"^(?:Observation|Action|Thought):|^\[(?:user|tool|assistant|system)\]", re.MULTILINE)


@pytest.fixture
def named(root: Path) -> Path:
    """The workspace names the server, in JSON as people write it."""
    (root / "desk.py").write_text(HOSTILE.read_text("utf-8"), "utf-8")
    text = f"""{{
      // for everybody
      "mcpServers": {{
        "desk": {{"command": {json.dumps(PYTHON)}, "args": ["-I", "desk.py"],}},
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


async def listed(client: RawClient) -> dict[str, dict[str, Any]]:
    """The servers by name."""
    return {one["name"]: one for one in (await client.request("codelaw/mcp/list", {}))["servers"]}


async def states(client: RawClient) -> dict[str, str]:
    return {name: one["state"] for name, one in (await listed(client)).items()}


async def until_is_ready(client: RawClient, name: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await states(client))[name] != "ready":
            await asyncio.sleep(0.02)


@pytest.mark.needs("bwrap")
async def test_a_workspaces_server_from_its_file_to_the_models_next_request(
    start: Start, vendor: LoopbackVendor, named: Path
) -> None:
    vendor.script = [VendorReply(text=finish("ok"))]
    async with start(EVERYTHING, {"permissions": {"allow": ["mcp__desk__echo"]}}) as client:
        assert await states(client) == {"desk": "needs_trust", "other": "needs_trust"}
        chat = (await client.request("codelaw/chat/send", {"text": "hello"}))["chatId"]
        assert "mcp__" not in json.dumps(vendor.messages[-1].json), "nothing starts before the user has said so"
        reported = [notice["message"] for notice in events(client, "notice") if notice["code"] == "mcp_needs_trust"]
        assert f"The server desk is not started. .mcp.json would run: {PYTHON} -I desk.py (" in reported[0]
        assert IN_SANDBOX in reported[0]
        begun = await client.request("codelaw/mcp/enable", {"name": "desk", "enabled": True})
        assert begun["servers"][0]["state"] in {"starting", "ready"}
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


DESK = {"mcp": {"servers": {"desk": {"command": sys.executable, "args": ["-I", str(HOSTILE)]}}}}


async def test_a_server_is_ready_before_the_first_turn_which_uses_its_tool(
    start: Start, vendor: LoopbackVendor
) -> None:
    async with start(EVERYTHING, {"permissions": {"allow": ["mcp__desk__echo"]}, **DESK}) as client:
        await until_is_ready(client, "desk")
        vendor.reset([VendorReply(text=act("mcp__desk__echo", '{"text": "hi"}')), VendorReply(text=finish("ok"))])
        assert (await client.request("codelaw/chat/send", {"text": "hello"}))["stopReason"] == "finished"
        first, second = (request.json for request in vendor.messages)
        assert "mcp__desk__echo[{text?: str}]" in "\n".join(texts(first))
        assert "What the server desk says of the use of its tools." in first["system"][0]["text"]
        assert first["system"] == second["system"]
        assert "SAID {'text': 'hi'}" in "\n".join(texts(second))
        assert not LABEL.search(first["system"][0]["text"].partition("# The server desk")[2])


async def test_who_asks_one_thing_starts_no_server(start: Start) -> None:
    ours = {**EVERYTHING["experimental"]["codelaw"], "shortLived": {}}
    async with start({**EVERYTHING, "experimental": {"codelaw": ours}}, DESK) as client:
        found = (await listed(client))["desk"]
        assert (found["state"], found["message"][:28]) == ("off", "It has not been started yet;")


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


def boxes(client: RawClient) -> list[dict[str, Any]]:
    """The message boxes about servers."""
    shown = [message["params"] for message in client.messages if message.get("method") == "window/showMessageRequest"]
    return [box for box in shown if "the server" in box["message"]]


async def until_none_waits(client: RawClient) -> None:
    """Every question that was answered has been taken in."""
    async with asyncio.timeout(PATIENCE):
        while any(one.get("ask") for one in (await listed(client)).values()):
            await asyncio.sleep(0.01)


async def watched(client: RawClient, file: Path) -> None:
    """The editor tells that a file has changed, and the server has looked."""
    changes = {"changes": [{"uri": file.as_uri(), "type": 2}]}
    await client.notify("workspace/didChangeWatchedFiles", changes)


@pytest.mark.needs("bwrap")
async def test_a_plain_client_is_asked_about_each_server_once(start: Start, vendor: LoopbackVendor, root: Path) -> None:
    """Yes lets it start; no is remembered for what was shown, and another content asks again."""
    file = root / ".mcp.json"

    (root / "desk.py").write_text(HOSTILE.read_text("utf-8"), "utf-8")

    def write(*arguments: str) -> None:
        yes = {"command": PYTHON, "args": ["-I", "desk.py"]}
        file.write_text(json.dumps({"mcpServers": {"a": yes, "b": {"command": "none", "args": arguments}}}))

    write()
    vendor.script = [VendorReply(text=finish("ok"), times=0)]
    answered: list[str] = []

    def answer(params: dict[str, Any]) -> dict[str, str]:
        answered.append(params["message"])
        return {"title": "Enable" if "server a " in params["message"] else "Not now"}

    async with start({}) as client:
        client.answers["window/showMessageRequest"] = answer
        await client.until(lambda _: len(boxes(client)) == 2)
        would = f".mcp.json would run: {PYTHON} -I desk.py (desk.py as it is now){IN_SANDBOX}"
        assert boxes(client)[0]["message"] == f"codelaw: the server a is not started. {would}"
        assert [action["title"] for action in boxes(client)[0]["actions"]] == ["Enable", "Not now"]
        await until_none_waits(client)
        await client.request("codelaw/chat/send", {"text": "hello"})
        assert (await states(client))["b"] == "needs_trust", "it can be let start at any time"
    async with start({}) as client:
        client.answers["window/showMessageRequest"] = answer
        await client.request("codelaw/chat/send", {"text": "hello"})
        assert len(answered) == 2, "what was answered is remembered"
        write("--more")
        await watched(client, file)
        await client.until(lambda _: len(boxes(client)) == 1)
        await until_none_waits(client)
        assert answered[2].endswith(f".mcp.json would run: none --more{IN_SANDBOX}")
        await watched(client, file)
        await client.request("codelaw/chat/send", {"text": "hello"})
        assert len(answered) == 3, "the same content is asked about once"


async def test_what_does_not_fit_into_a_box_is_shown_before_it_can_be_allowed(start: Start, root: Path) -> None:
    (root / "desk.py").write_text(HOSTILE.read_text("utf-8"), "utf-8")
    long = {"command": PYTHON, "args": ["-I", "desk.py", "x" * 2000]}
    (root / ".mcp.json").write_text(json.dumps({"mcpServers": {"a": long}}))
    titles: list[list[str]] = []
    shown: list[str] = []

    def answer(params: dict[str, Any]) -> dict[str, str]:
        titles.append([action["title"] for action in params["actions"]])
        return {"title": titles[-1][0]}

    def show(params: dict[str, Any]) -> dict[str, bool]:
        shown.append(Path(unquote(urlsplit(params["uri"]).path)).read_text())
        return {"success": True}

    async with start({"window": {"showDocument": {"support": True}}}) as client:
        client.answers["window/showMessageRequest"] = answer
        client.answers["window/showDocument"] = show
        await client.until(lambda _: len(boxes(client)) == 2)
        assert titles == [["Show what it runs", "Not now"], ["Enable", "Not now"]]
        assert "x" * 2000 in shown[0]
        await until_is_ready(client, "a")


async def test_a_client_that_asks_itself_is_sent_no_box(start: Start, vendor: LoopbackVendor, named: Path) -> None:
    ours = {**EVERYTHING["experimental"]["codelaw"], "servers": {}}
    vendor.script = [VendorReply(text=finish("ok"), times=0)]
    async with start({**EVERYTHING, "experimental": {"codelaw": ours}}) as client:
        await client.request("codelaw/chat/send", {"text": "hello"})
        assert boxes(client) == []
        found = (await listed(client))["desk"]
        assert (found["ask"], found["state"]) == (True, "needs_trust")
        seen = {"name": "desk", "digest": found["digest"]}
        (named / ".mcp.json").write_text((named / ".mcp.json").read_text().replace('"-I"', '"-I", "-u"'))
        assert (await client.error("codelaw/mcp/enable", {**seen, "enabled": True})).data["code"] == "not_trusted"
        await listed(client)
        assert (await client.error("codelaw/mcp/enable", {**seen, "enabled": True})).data["code"] == "not_trusted", (
            "that it was listed anew does not mean that the user has seen it"
        )
        now = (await listed(client))["desk"]["digest"]
        declined = await client.request("codelaw/mcp/decline", {"name": "desk", "digest": now})
        assert "ask" not in next(one for one in declined["servers"] if one["name"] == "desk")
        chat = await client.request("codelaw/chat/send", {"text": "hello"})
        reported = [event["event"] for event in client.events() if event["chatId"] == chat["chatId"]]
        assert not [one for one in reported if one.get("code") == "mcp_needs_trust" and "server desk" in one["message"]]


async def test_a_login_is_listed_until_it_is_forgotten(start: Start, home: Path) -> None:
    address = "http://127.0.0.1:9/mcp"
    file = login_file(home / "logins", address)
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"url": address, "tokens": {"access_token": "SECRET"}}), encoding="utf-8")
    servers = {"web": {"type": "http", "url": address}, "other": {"type": "http", "url": "http://127.0.0.1:9/other"}}
    async with start(None, {"mcp": {"servers": servers}}) as client:
        found = await listed(client)
        assert ("loggedIn" in found["other"], found["web"]["loggedIn"]) == (False, True)
        assert await client.request("codelaw/mcp/logout", {"name": "web"}) == {"forgotten": True}
        assert "loggedIn" not in (await listed(client))["web"]
        assert not file.exists()
