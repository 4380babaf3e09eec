"""Pictures in what servers answer: shown to a model that sees, named to any other (X-3, M-6)."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.mcp.means import ServerMeans
from codelaw.adapters.mcp.servers import McpServers
from codelaw.domain.errors import Refusal
from codelaw.domain.media.images import Picture, image_of
from codelaw.domain.served import Offer, ServedImage, ServedResult, ServedTool
from tests.agent.conftest import Bench
from tests.agent.test_pictures import blocks, picture, plain, source
from tests.agent.test_servers import MINE, reopen
from tests.domain.pictures import gif
from tests.fakes.servers import FakeServers

SERVER = Path(__file__).with_name("picture_server.py")
SHOT = ServedTool("desk", "shot", "Takes a picture.", {"type": "object", "properties": {}})
ALLOWED = {"permissions": {"allow": ["mcp__desk__shot"]}}
OTHER = Picture(image_of(gif(3, 4)), gif(3, 4))


@pytest.fixture
async def servers(bench: Bench) -> FakeServers:
    servers = FakeServers(Offer((SHOT,)))
    await reopen(bench, servers, {**MINE, **ALLOWED})
    return servers


def answered(*pictures: Picture, text: str = "Taken.") -> ServedResult:
    """Of the server, with pictures of kinds that it does not tell rightly."""
    return ServedResult(text, images=tuple(ServedImage("image/webp", one.content) for one in pictures))


def shots(bench: Bench, *answers: str) -> None:
    """Let the model take a picture in each turn, and answer."""
    bench.vendor.reset(
        [reply for answer in answers for reply in (bench.act("mcp__desk__shot", {}), bench.finish(answer))]
    )


def parts(bench: Bench, number: int = -1) -> list[dict[str, Any]]:
    """The blocks of a request, those within a result after it."""
    found: list[dict[str, Any]] = []
    for part in blocks(bench, number):
        found += [part, *(part["content"] if isinstance(part.get("content"), list) else [])]
    return found


def shown(bench: Bench, number: int = -1) -> list[dict[str, Any]]:
    return [part["source"] for part in parts(bench, number) if part["type"] == "image"]


def said(bench: Bench) -> str:
    return json.dumps(bench.sent()["messages"], ensure_ascii=False)


async def test_a_real_servers_picture_is_shown_with_its_result_and_stays(bench: Bench, tmp_path: Path) -> None:
    one, file = picture(), tmp_path / "one.png"
    file.write_bytes(one.content)
    own = {"desk": {"command": sys.executable, "args": ["-I", str(SERVER), str(file)]}}
    real = McpServers(ServerMeans(cwd=tmp_path))
    await reopen(bench, real, {"mcp": {"servers": own}, **ALLOWED})
    await bench.turn("hello", replies=[bench.finish("hello")])
    await real.settled(60)
    bench.vendor.reset(
        [bench.act("mcp__desk__shot", {}), bench.act("LS", {"path": "."}), bench.finish("a line"), bench.finish("yes")]
    )
    chat = (await bench.turn("what is on the screen?")).chat_id
    assert shown(bench, 1) == shown(bench, 2) == [source(one)]
    result = blocks(bench, 1)[-2 if bench.dialect == "react" else -1]
    if bench.dialect == "native":
        assert [part["type"] for part in result["content"]] == ["text", "image"]
        assert result["type"] == "tool_result"
        result = result["content"][0]
    assert result["text"].endswith("Taken.\n image/png, 750×100, 33 bytes, shown with this result")
    assert plain(bench.sent(2))[: len(plain(bench.sent(1)))] == plain(bench.sent(1))
    before = plain(bench.sent(2))
    await reopen(bench, FakeServers(), MINE)
    await bench.turn("is it still there?", chat)
    assert plain(bench.sent())[: len(before)] == before, "sent as it was by the next process too"


async def test_a_model_that_cannot_see_is_told_so_and_nothing_is_kept(bench: Bench, servers: FakeServers) -> None:
    await reopen(bench, servers, {**MINE, **ALLOWED, "model": {"name": "deepseek-chat"}})
    servers.answers["shot"] = answered(picture())
    shots(bench, "ok")
    ended = await bench.turn("look")
    assert shown(bench) == []
    assert "You cannot be shown its images." in said(bench)
    assert all(message.metadata.images == () for message in (await bench.session.read(ended.chat_id)).messages)


async def test_what_cannot_be_shown_says_why(bench: Bench, servers: FakeServers) -> None:
    many = [picture(rest=bytes([number])) for number in range(6)]
    servers.answers["shot"] = answered(*many)
    shots(bench, "ok")
    await bench.turn("look")
    assert shown(bench) == [source(one) for one in many[:5]]
    assert "34 bytes, not shown: at most 5 are shown, of 10 MiB together" in said(bench)
    servers.answers["shot"] = ServedResult("", images=(ServedImage("image/svg+xml", b"<svg/>"),))
    shots(bench, "ok")
    await bench.turn("look")
    assert shown(bench) == []
    assert "image/svg+xml, 6 bytes, not shown: it is not a PNG, JPEG, GIF or WebP" in said(bench)


async def test_of_many_the_newest_are_shown_and_the_oldest_go_several_at_once(
    bench: Bench, servers: FakeServers
) -> None:
    replies = [reply for _ in range(5) for reply in (bench.act("mcp__desk__shot", {}), bench.finish("ok"))]
    bench.vendor.reset(replies)
    chat, counts, first = None, list[int](), list[dict[str, Any]]()
    for turn in range(5):
        every = [picture(rest=bytes([turn, number])) for number in range(5)]
        first = first or [source(one) for one in every]
        servers.answers["shot"] = answered(*every)
        chat = (await bench.turn("look", chat)).chat_id
        counts.append(len(shown(bench)))
    assert counts == [5, 10, 15, 20, 15]
    assert not [one for one in shown(bench) if one in first]


async def test_a_results_picture_is_read_by_its_digest_from_its_own_chat(bench: Bench, servers: FakeServers) -> None:
    servers.answers["shot"] = answered(OTHER)
    shots(bench, "seen")
    chat = (await bench.turn("look")).chat_id
    reported = await bench.session.read(chat)
    (image,) = next(one.metadata.images for one in reported.messages if one.role == "tool")
    assert await bench.session.picture(chat, image.digest) == (
        OTHER.image.media_type,
        base64.b64encode(OTHER.content).decode(),
    )
    with pytest.raises(Refusal, match="not in the chat any more"):
        await bench.session.picture(chat, "0" * 64)
    other = (await bench.turn("hello", replies=[bench.finish("hello")])).chat_id
    with pytest.raises(Refusal, match="not in the chat any more"):  # a chat shows its own alone
        await bench.session.picture(other, image.digest)


async def test_after_a_compaction_it_is_gone(bench: Bench, servers: FakeServers) -> None:
    await reopen(bench, servers, {**MINE, **ALLOWED, "context": {"keepRounds": 1}})
    servers.answers["shot"] = answered(picture())
    shots(bench, "ok")
    chat = (await bench.turn("look")).chat_id
    await bench.turn("more", chat, replies=[bench.finish("two"), bench.finish("a summary")])
    assert len(shown(bench)) == 1
    assert (await bench.session.compact(chat)).compacted
    await bench.turn("now?", chat, replies=[bench.finish("ok")])
    assert shown(bench) == []
