"""`codelaw/mcp/*` on the wire (X-3)."""

from __future__ import annotations

from typing import Any

from tests.lsp.raw import RawClient

ODD = {"name": "odd", "state": "needs_trust", "tools": 3, "message": "x", "source": ".mcp.json", "digest": "d1"}


async def test_servers_are_listed_let_start_and_begun_anew(client: RawClient) -> None:
    listed = await client.request("codelaw/mcp/list", {})
    ready: dict[str, Any] = {"name": "desk", "state": "ready", "tools": 3, "source": ".mcp.json", "digest": "d1"}
    ready["loggedIn"] = True
    assert listed == {"servers": [ready, ODD], "problems": ["It is not JSON."]}
    enabled = await client.request("codelaw/mcp/enable", {"name": "odd", "enabled": True})
    assert enabled["servers"][1] == {**ODD, "state": "starting"}
    assert await client.command("codelaw.mcp.restart", {"name": "desk"}) == {"restarted": True}
    assert (await client.request("codelaw/mcp/list", {}))["servers"][0]["state"] == "starting"
    assert (await client.error("codelaw/mcp/restart", {"name": "other"})).data["code"] == "server_not_found"
    assert await client.request("codelaw/mcp/logout", {"name": "desk"}) == {"forgotten": False}
    assert (await client.error("codelaw/mcp/logout", {"name": "other"})).data["code"] == "server_not_found"


async def test_what_waits_for_the_user_is_named_until_they_decline_what_they_saw(client: RawClient) -> None:
    seen = {"name": "desk", "enabled": True, "digest": "d1"}
    assert (await client.request("codelaw/mcp/enable", seen))["servers"][0]["ask"] is True
    error = await client.error("codelaw/mcp/decline", {"name": "desk", "digest": "d0"})
    assert error.data["code"] == "not_trusted"
    declined = await client.request("codelaw/mcp/decline", {"name": "desk", "digest": "d1"})
    assert "ask" not in declined["servers"][0]


async def test_what_is_no_request_is_refused_with_the_field(client: RawClient) -> None:
    for params, path in (({}, "name"), ({"name": "desk"}, "enabled"), ({"name": "", "enabled": True}, "name")):
        error = await client.error("codelaw/mcp/enable", params)
        assert (error.code, error.data["errors"][0]["path"]) == (-32602, path)
