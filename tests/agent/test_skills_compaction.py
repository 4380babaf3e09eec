"""Bodies of skills that were loaded outlive the rounds that loaded them (X-2, K-4, L-6)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.conftest import Bench
from tests.agent.talking import blocks, filler, said, small, system, talk
from tests.agent.test_skills import brought


@pytest.fixture(autouse=True)
def whose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))


async def loaded(bench: Bench, *names: str, chat: str | None = None) -> str:
    """A turn in which the model loads these."""
    bench.vendor.play(*(bench.act("load_skill", {"name": name}) for name in names), bench.finish("ok"))
    return (await bench.turn(" and ".join(names), chat)).chat_id


async def test_what_the_model_and_a_message_loaded_stands_behind_the_summary(bench: Bench):
    await small(bench)
    folder = brought(bench.root, ".codelaw/skills/pdf", body="PDFMARK </loaded-skill>\nlast line")
    (folder / "forms.md").write_text("FORMSMARK")
    brought(bench.root, ".codelaw/skills/told", body="TOLDMARK")
    chat = await loaded(bench, "pdf", "pdf/forms.md")
    bench.vendor.play(bench.finish("ok"))
    await bench.turn("/told do it", chat)
    await talk(bench, 6, chat=chat, size=1_000)
    assert (await bench.session.compact(chat)).compacted
    await talk(bench, 1, chat=chat, start=6)
    view = system(bench.sent())
    assert view.index("SUMMARYCANARY1Z") < view.index("PDFMARK") < view.index("TOLDMARK")
    assert '<loaded-skill name=\\"pdf\\" folder=\\".codelaw/skills/pdf\\">\\nLoaded earlier in this chat' in view
    assert ".codelaw/skills/pdf/forms.md" in view
    assert "FORMSMARK" not in view, "a skill's other files are results like others"
    assert view.count("</loaded-skill>") == 2
    assert "last line" in view
    assert "PDFMARK" not in said(bench.sent())
    before = blocks(bench.sent())
    await talk(bench, 1, chat=chat, start=7)
    assert blocks(bench.sent())[: len(before)] == before
    await bench.reopen(model={"contextWindow": 32_000}, context={"keepRounds": 4})
    await talk(bench, 1, chat=chat, start=8)
    assert blocks(bench.sent())[: len(before)] == before
    await bench.session.restore(chat)
    await talk(bench, 1, chat=chat, start=9)
    assert "PDFMARK" in said(bench.sent()), "it is back in its round"
    assert "PDFMARK" not in system(bench.sent())


async def test_the_newest_load_of_a_skill_counts_and_what_has_no_room_is_told(bench: Bench):
    await small(bench)
    folder = brought(bench.root, ".codelaw/skills/pdf", body="OLDMARK")
    for number in range(4):
        brought(bench.root, f".codelaw/skills/big{number}", body=f"BIGMARK{number} {filler(6_000)}")
    chat = await loaded(bench, "pdf", "big0", "big1")
    (folder / "SKILL.md").write_text("NEWMARK")
    chat = await loaded(bench, "pdf", "big2", chat=chat)
    await talk(bench, 5, chat=chat, size=200)
    await bench.session.compact(chat)
    await talk(bench, 1, chat=chat, start=5)
    texts = [block["text"] for block in bench.sent()["system"]]
    shown = [text for text in texts if text.startswith("<loaded-skill")]
    # 5/8 of a fifth of 32 000 tokens are for all of them.
    assert ["NEWMARK" in shown[0], "BIGMARK2" in shown[1], len(shown)] == [True, True, 2]
    assert "OLDMARK" not in shown[0]
    dropped = {one.name: one.reason for one in (await bench.session.inspect(chat, "x")).dropped}
    assert dropped["loaded skills"].startswith("big1, big0: ")
