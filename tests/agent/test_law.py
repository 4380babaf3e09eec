"""The law in every shape a folder may offer it (L-4)."""

from __future__ import annotations

import json
import os

import pytest

from codelaw.domain.errors import Refusal
from codelaw.domain.files import Folder
from tests.agent.conftest import Bench


async def law_of(bench: Bench) -> tuple[str, list[str]]:
    result = await bench.turn("go", replies=[bench.finish("ok")])
    return json.dumps(bench.sent()["system"][1:], ensure_ascii=False), [notice.code for notice in result.notices]


@pytest.mark.parametrize("how", ["fifo", "dangling", "outside", "loop", "binary", "folder"])
async def test_what_cannot_be_read_is_a_notice_and_no_law(bench: Bench, how: str):
    path = bench.root / "CODE_LAW.md"
    match how:
        case "fifo":
            os.mkfifo(path)
        case "dangling":
            path.symlink_to("nowhere.md")
        case "outside":
            (bench.root.parent / "secret.md").write_text("SECRETMARK")
            path.symlink_to(bench.root.parent / "secret.md")
        case "loop":
            path.symlink_to(path)
        case "binary":
            path.write_bytes(b"\0\0")
        case _:
            path.mkdir()
    text, notices = await law_of(bench)
    assert (text, notices) == ("[]", ["law_unreadable"])


async def test_line_breaks_and_a_byte_order_mark(bench: Bench):
    (bench.root / "code_LAW.md").write_bytes(b"\xef\xbb\xbfBe kind.\r\nBe {{ brief }}.\r\n")
    text, notices = await law_of(bench)
    assert "Be kind.\\r\\nBe {{ brief }}." in text
    assert "\ufeff" not in text
    assert notices == []


async def test_the_exact_name_wins_and_a_blank_law_is_none(bench: Bench):
    (bench.root / "code_law.md").write_text("lower")
    (bench.root / "CODE_LAW.md").write_text("exact")
    assert "exact" in (await law_of(bench))[0]
    assert "lower" not in (await law_of(bench))[0]
    (bench.root / "CODE_LAW.md").write_text(" \n")
    assert await law_of(bench) == ("[]", [])


async def test_every_folder_gives_its_own_and_an_unsaved_buffer_wins(bench: Bench):
    lib = bench.root.parent / "lib"
    lib.mkdir()
    bench.session.set_folders([Folder(root.name, root, root.as_uri()) for root in (bench.root, lib)])
    (bench.root / "CODE_LAW.md").write_text("of work")
    assert "Folder work" not in (await law_of(bench))[0], "one law needs no label"
    bench.buffers.put(lib / "Code_Law.md", "of lib, never saved", 1)
    text, _ = await law_of(bench)
    assert text.index("Folder work") < text.index("of work") < text.index("Folder lib") < text.index("never saved")
    bench.buffers.put(bench.root / "CODE_LAW.md", "of work, unsaved", 2)
    assert '"of work"' not in (await law_of(bench))[0]
    assert "of work, unsaved" in (await law_of(bench))[0]


async def test_a_file_beside_the_law_follows_it_and_may_stand_alone(bench: Bench):
    (bench.root / "agents.md").write_text("BESIDE {{ it }}\r\n")
    (bench.root / "CLAUDE.md").write_text("NEVERMARK")
    alone, notices = await law_of(bench)
    assert "# agents.md of this workspace\\n\\nBESIDE {{ it }}\\r" in alone
    (bench.root / "CODE_LAW.md").write_text("the law")
    both, _ = await law_of(bench)
    assert both.index("the law") < both.index("BESIDE")
    assert "NEVERMARK" not in alone + both
    assert notices == []
    report = await bench.session.inspect(None, "go")
    assert [section.name for section in report.sections if section.layer == "L2"] == ["law", "law files"]
    law = await bench.session.laws.report()
    assert [entry.name for entry in law.documents] == ["CODE_LAW.md", "agents.md"]
    assert law.text.index("the law") < law.text.index("BESIDE")
    bench.buffers.put(bench.root / "agents.md", "UNSAVED", 1)
    changed, _ = await law_of(bench)
    assert "UNSAVED" in changed
    assert "BESIDE" not in changed
    (bench.root / "agents.md").unlink()
    bench.buffers.close(bench.root / "agents.md")
    assert "NEVERMARK" in (await law_of(bench))[0]


@pytest.mark.parametrize("files", [[], ["RULES.md"], ["code_law.md", "CLAUDE.md", "AGENTS.md"]])
async def test_the_setting_names_others_or_none(bench: Bench, files: list[str]):
    for name in ("AGENTS.md", "CLAUDE.md", "Rules.md", "CODE_LAW.md"):
        (bench.root / name).write_text(f"text of {name}")
    await bench.reopen(law={"files": files})
    text, notices = await law_of(bench)
    wanted = {0: [], 1: ["Rules.md"], 3: ["CLAUDE.md"]}[len(files)]
    assert [name for name in ("AGENTS.md", "CLAUDE.md", "Rules.md") if f"text of {name}" in text] == wanted
    assert text.count("text of CODE_LAW.md") == 1
    assert notices == []


@pytest.mark.parametrize("how", ["outside", "denied", "link to denied"])
async def test_what_cannot_be_read_beside_the_law_is_a_notice(bench: Bench, how: str):
    path = bench.root / "AGENTS.md"
    (bench.root / "CODE_LAW.md").write_text("the law")
    (bench.root / "secret.md").write_text("SECRETMARK")
    denied = {"denied": "AGENTS.md", "link to denied": "secret.md"}.get(how)
    if denied is not None:
        await bench.reopen(permissions={"deny": [f"Read({denied})"]})
    match how:
        case "outside":
            (bench.root.parent / "secret.md").write_text("SECRETMARK")
            path.symlink_to(bench.root.parent / "secret.md")
        case "denied":
            path.write_text("SECRETMARK")
        case _:
            path.symlink_to(bench.root / "secret.md")
    result = await bench.turn("go", replies=[bench.finish("ok")])
    text = json.dumps(bench.sent()["system"][1:])
    assert "SECRETMARK" not in text
    assert "the law" in text
    (notice,) = result.notices
    assert notice.code == "law_unreadable"
    assert notice.message.startswith("The AGENTS.md of work is left out: ")


async def test_a_file_beside_the_law_counts_for_its_size(bench: Bench):
    (bench.root / "AGENTS.md").write_text("Be kind to strangers. " * 4000 + "LASTMARK")
    result = await bench.turn("go", replies=[bench.finish("ok", times=0)])
    assert [notice.code for notice in result.notices] == ["law_large"]
    assert result.notices[0].message.startswith("AGENTS.md takes about ")
    assert "LASTMARK" in json.dumps(bench.sent()["system"])
    (bench.root / "AGENTS.md").write_text("obey " * 1_000_000)
    with pytest.raises(Refusal) as caught:
        await bench.turn("go", result.chat_id)
    assert caught.value.code == "context_overflow"
    assert "AGENTS.md (" in caught.value.message
