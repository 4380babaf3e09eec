"""Denied paths are denied everywhere: reading, listing, counting, mentions, attachments, completion (S-1)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from codelaw.domain.requests import Attachment, LineRange
from tests.agent.conftest import Bench
from tests.agent.talking import notices, whole

DENY = {"deny": ["Read(secrets/**)", "Read(**/*.{key,pem})"]}


@pytest.fixture
async def guarded(bench: Bench) -> Bench:
    for path in ("secrets/plan.txt", "certs/a.pem", "src/open.txt"):
        place = bench.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"NEEDLE in {path} CANARYTEXT\n")
    await bench.reopen(permissions=DENY)
    return bench


async def observed(bench: Bench, tool: str, **arguments: Any) -> str:
    """What the model is answered."""
    await bench.turn("go", replies=[bench.act(tool, arguments), bench.finish("ok")])
    return re.sub(r"call_\w+", "", json.dumps(bench.sent()["messages"][-1]))


async def test_a_rule_with_braces_denies(guarded: Bench):
    assert "Read(**/*.{key,pem})" in await observed(guarded, "Read", path="certs/a.pem")


async def test_nothing_denied_is_listed(guarded: Bench):
    assert "a.pem" not in await observed(guarded, "LS", path="certs")
    found = await observed(guarded, "Glob", pattern="**/*")
    assert "open.txt" in found
    assert "plan.txt" not in found
    assert "a.pem" not in found


async def test_nothing_denied_is_searched_or_counted(guarded: Bench):
    found = await observed(guarded, "Grep", pattern="NEEDLE")
    assert "open.txt" in found
    assert "plan.txt" not in found
    assert "a.pem" not in found
    # A search must not tell what stands in a denied file, by no difference at all.
    inside = await observed(guarded, "Grep", pattern="NEEDLE in secrets")
    nowhere = await observed(guarded, "Grep", pattern="NEEDLE in nowhere")
    assert inside.replace("secrets", "nowhere") == nowhere


async def test_a_rule_for_one_tool_counts_for_what_that_tool_finds(guarded: Bench):
    await guarded.reopen(permissions={"deny": ["Grep(secrets/**)"]})
    assert "plan.txt" not in await observed(guarded, "Grep", pattern="NEEDLE")
    assert "plan.txt" in await observed(guarded, "Glob", pattern="**/*.txt")


async def test_a_denied_path_is_neither_mentioned_nor_attached(guarded: Bench):
    guarded.vendor.reset([guarded.finish("ok")])
    uri = (guarded.root / "secrets/plan.txt").as_uri()
    guarded.buffers.put(guarded.root / "secrets/plan.txt", "CANARYTEXT unsaved\n")
    attached = [Attachment(uri), Attachment(uri, LineRange(0, 0, 0, 10))]
    await guarded.turn("see @secrets/plan.txt", attachments=attached)
    sent = whole(guarded.sent())
    assert "CANARYTEXT" not in sent
    (started,) = guarded.kinds("turn_started")
    assert [mention.kind for mention in started.mentions] == ["unresolved"]
    assert any("a permission rule denies" in message for _, message in notices(guarded))


async def test_completion_offers_no_denied_path(guarded: Bench):
    assert [item.path for item in await guarded.session.mentions("secrets/", 10)] == []
    assert [item.path for item in await guarded.session.mentions("a.p", 10)] == []
    assert [item.path for item in await guarded.session.mentions("src/", 10)] == ["src/open.txt"]


async def test_a_rule_that_matches_nothing_is_told(bench: Bench):
    (bench.root / "real").mkdir()
    (bench.root / "link").symlink_to("real")
    wrong = ["Read(/etc/passwd)", "Read(link/**)"]
    await bench.reopen(permissions={"deny": [*wrong, "Read(real/**)"]})
    reported = [notice.message for notice in await bench.session.permissions.rule_notices()]
    assert [rule for rule in wrong if any(repr(rule) in message for message in reported)] == wrong
    assert len(reported) == len(wrong)


async def test_a_law_that_is_a_link_to_a_denied_file_is_left_out(guarded: Bench):
    law = guarded.root / "CODE_LAW.md"
    law.symlink_to(guarded.root / "secrets/plan.txt")
    await guarded.turn("go", replies=[guarded.finish("ok")])
    assert "CANARYTEXT" not in whole(guarded.sent())
    assert any("denies reading it" in message for _, message in notices(guarded))
    assert "CANARYTEXT" not in (await guarded.session.laws.report()).text
    # What the rules say of the law itself is about the tools: it is the user's word to the model.
    law.unlink()
    law.write_text("LAWTEXT\n")
    await guarded.reopen(permissions={"deny": ["Read"]})
    await guarded.turn("go", replies=[guarded.finish("ok")])
    assert "LAWTEXT" in whole(guarded.sent())
