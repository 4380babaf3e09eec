"""Long-term memory over the wire (B-6)."""

from __future__ import annotations

import pytest

from tests.lsp.raw import RawClient, RpcError

SAVE, LIST, SEARCH = "codelaw/memory/save", "codelaw/memory/list", "codelaw/memory/search"
UPDATE, FORGET = "codelaw/memory/update", "codelaw/memory/forget"


async def test_an_entry_is_saved_listed_found_changed_and_forgotten(client: RawClient):
    saved = await client.request(SAVE, {"text": "The user likes tea", "category": "preference", "confidence": 1})
    assert saved == {
        "id": "m1", "text": "The user likes tea", "category": "preference", "scope": "user", "belongsTo": "ann",
        "confidence": 1.0, "createdAt": 5.5, "uses": 0,
    }  # fmt: skip
    assert (await client.request(SAVE, {"text": "The user likes tea"}))["merged"] is True
    await client.request(SAVE, {"text": "Builds run on Sundays", "scope": "project"})
    first = await client.request(LIST, {"limit": 1})
    assert [one["id"] for one in first["memories"]] == ["m1"]
    rest = await client.request(LIST, {"cursor": first["nextCursor"]})
    assert ([one["id"] for one in rest["memories"]], "nextCursor" in rest) == (["m2"], False)
    assert (await client.command("codelaw.memory.list", {"scope": "project"}))["memories"][0]["id"] == "m2"
    (found,) = (await client.request(SEARCH, {"query": "Sundays"}))["memories"]
    assert (found["id"], found["similarity"], found["score"], found["relevance"]) == ("m2", 0.1235, 0.5, 0.12)
    changed = await client.request(UPDATE, {"id": "m2", "text": "Builds run daily", "scope": None})
    assert (changed["text"], changed["scope"]) == ("Builds run daily", "project")
    assert await client.request(FORGET, {"id": "m2"}) == {"forgotten": True}
    assert len((await client.request(LIST, {}))["memories"]) == 1


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        (SAVE, {}, "text"),
        (SAVE, {"text": ""}, "text"),
        (SAVE, {"text": "x", "confidence": 2}, "confidence"),
        (SAVE, {"text": "x", "confidence": True}, "confidence"),
        (SAVE, {"text": "x", "category": "gossip"}, "category"),
        (SAVE, {"text": "x", "mood": "good"}, "mood"),
        (LIST, {"limit": 0}, "limit"),
        (LIST, {"scope": "world"}, "scope"),
        (SEARCH, {"query": 1}, "query"),
        (UPDATE, {"text": "x"}, "id"),
        (FORGET, {}, "id"),
    ],
)
async def test_bad_params_are_named(client: RawClient, method: str, params: dict, path: str):
    with pytest.raises(RpcError) as refused:
        await client.request(method, params)
    assert refused.value.code == -32602
    assert [error["path"] for error in refused.value.data["errors"]] == [path]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        (SAVE, {"text": "sk-abc"}, "memory_refused"),
        (UPDATE, {"id": "nope"}, "memory_not_found"),
        (FORGET, {"id": "nope"}, "memory_not_found"),
    ],
)
async def test_refusals_have_a_code_and_a_hint(client: RawClient, method: str, params: dict, code: str):
    with pytest.raises(RpcError) as refused:
        await client.request(method, params)
    assert (refused.value.code, refused.value.data["code"]) == (-32803, code)
    assert refused.value.data["hint"]
