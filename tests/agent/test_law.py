"""The law in every shape a folder may offer it (L-4)."""

from __future__ import annotations

import json
import os

import pytest

from codelaw.domain.files import Folder
from tests.agent.conftest import Bench


async def law_of(bench: Bench) -> tuple[str, list[str]]:
    bench.vendor.reset([bench.finish("ok")])
    result = await bench.turn("go")
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


async def test_a_large_law_is_warned_about_once_and_never_cut(bench: Bench):
    (bench.root / "CODE_LAW.md").write_text("Be kind to strangers. " * 4000 + "LASTMARK")
    bench.vendor.reset([bench.finish("ok", times=0)])
    first = await bench.turn("go")
    second = await bench.turn("go", first.chat_id)
    assert [notice.code for notice in (*first.notices, *second.notices)] == ["law_large"]
    assert "LASTMARK" in json.dumps(bench.sent()["system"])
