"""`codelaw/mcp/*` on the wire (X-3)."""

from __future__ import annotations

from tests.lsp.raw import RawClient

ODD = {"name": "odd", "state": "needs_trust", "tools": 3, "message": "x", "source": ".mcp.json"}


async def test_servers_are_listed_let_start_and_begun_anew(client: RawClient) -> None:
    listed = await client.request("codelaw/mcp/list", {})
    ready = {"name": "desk", "state": "ready", "tools": 3, "source": ".mcp.json"}
    assert listed == {"servers": [ready, ODD], "problems": ["It is no JSON."]}
    enabled = await client.request("codelaw/mcp/enable", {"name": "odd", "enabled": True})
    assert enabled["servers"][1] == {**ODD, "state": "starting"}
    assert await client.command("codelaw.mcp.restart", {"name": "desk"}) == {"restarted": True}
    assert (await client.request("codelaw/mcp/list", {}))["servers"][0]["state"] == "starting"
    assert (await client.error("codelaw/mcp/restart", {"name": "other"})).data["code"] == "server_not_found"


async def test_what_is_no_request_is_refused_with_the_field(client: RawClient) -> None:
    for params, path in (({}, "name"), ({"name": "desk"}, "enabled"), ({"name": "", "enabled": True}, "name")):
        error = await client.error("codelaw/mcp/enable", params)
        assert (error.code, error.data["errors"][0]["path"]) == (-32602, path)
