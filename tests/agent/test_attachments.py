"""Selections: the editor's lines, bounds, and a note that tells how to read the rest (M-6)."""

from __future__ import annotations

import re

import pytest

from codelaw.agent.inputs.attachments import ATTACHMENT_CHARACTERS
from codelaw.domain.files import Buffer
from codelaw.domain.requests import Attachment, LineRange
from tests.agent.conftest import Bench


def attached(bench: Bench) -> list[str]:
    blocks = bench.sent()["messages"][-1]["content"]
    return [block["text"] for block in blocks if block["text"].startswith("<attachment")]


async def send(bench: Bench, text: str | bytes, *ranges: LineRange) -> list[str]:
    path = bench.root / "a.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    bench.vendor.reset([bench.finish("ok", times=0)])
    await bench.turn("look", attachments=[Attachment(path.as_uri(), span) for span in ranges])
    return attached(bench)


@pytest.mark.parametrize(
    ("text", "span", "lines", "body"),
    [
        ("one\ntwo\nthree\n", LineRange(0, 0, 1, 3), "1-2", "one\ntwo"),
        ("one\r\ntwo\r\nthree", LineRange(1, 1, 2, 2), "2-3", "wo\nth"),
        ("one\ntwo\n", LineRange(0, 1, 0, 2), "1-1", "n"),
        ("one\ntwo\n", LineRange(0, 0, 1, 0), "1-1", "one"),
        ("a\u2028b\x0cc\x85d\ntwo\n", LineRange(1, 0, 1, 3), "2-2", "two"),
        ("日本語😀x\n終\n", LineRange(0, 2, 1, 1), "1-2", "語😀x\n終"),
        ("one\ntwo", LineRange(1, 0, 99, 99), "2-2", "two"),
        ("one\ntwo", LineRange(0, 1, 0, 99), "1-1", "ne"),
    ],
)
async def test_a_selection_is_the_editors(bench: Bench, text: str, span: LineRange, lines: str, body: str):
    (shown,) = await send(bench, text, span)
    assert f'path="a.txt" lines="{lines}"' in shown
    assert shown.split("\n", 1)[1].rsplit("\n</attachment>")[0] == body
    assert "Cut" not in shown


@pytest.mark.parametrize("span", [LineRange(0, 1, 0, 1), LineRange(50, 0, 60, 0), LineRange(1, 0, 2, 0)])
async def test_an_empty_selection_is_a_mention_of_its_file(bench: Bench, span: LineRange):
    assert await send(bench, "one\n \nthree\n", span) == []
    assert "The user mentioned @a.txt." in bench.sent()["messages"][-1]["content"][0]["text"]


async def test_a_long_selection_is_cut_with_directions(bench: Bench):
    lines = [f"line {number} {'x' * 90}" for number in range(1, 301)]
    (shown,) = await send(bench, "\n".join(lines), LineRange(10, 0, 299, 5))
    last, rest = map(int, re.findall(r"Cut after line (\d+); read the rest with Read, start_line (\d+)", shown)[0])
    assert rest == last + 1
    assert shown.split("\n")[1] == lines[10]
    assert shown.split("\n</attachment>")[0].endswith(f"\n{lines[last - 1]}")
    assert ATTACHMENT_CHARACTERS - 110 < len(shown) < ATTACHMENT_CHARACTERS + 300


async def test_a_line_that_is_too_long_alone_is_cut_inside(bench: Bench):
    (shown,) = await send(bench, "first\n" + "x" * 20_000 + "\nlast", LineRange(1, 0, 2, 4))
    assert shown.count("x") in range(ATTACHMENT_CHARACTERS, ATTACHMENT_CHARACTERS + 10)
    assert "Cut inside line 2; read the rest with Read, start_line 2." in shown


async def test_untitled_and_foreign_open_documents(bench: Bench):
    bench.buffers.buffers["u"] = Buffer("untitled:Untitled-1", None, "draft\nMARK\n", 4)
    bench.buffers.buffers["v"] = Buffer("git:/old/a.py?HEAD", None, "past\n", 1)
    bench.vendor.reset([bench.act("Read", {"path": "untitled:Untitled-1"}), bench.finish("ok", times=0)])
    await bench.turn(
        'see @"untitled:Untitled-1"',
        attachments=[
            Attachment("untitled:Untitled-1", LineRange(1, 0, 1, 4)),
            Attachment("git:/old/a.py?HEAD", LineRange(0, 0, 0, 4)),
        ],
    )
    first = bench.vendor.messages[0].json["messages"][0]["content"]
    assert 'The user mentioned @"untitled:Untitled-1".' in first[0]["text"]
    assert [text.split(" version=")[0] + text.split("\n")[1] for text in (block["text"] for block in first[1:3])] == [
        '<attachment path="untitled:Untitled-1" lines="2-2"MARK',
        '<attachment path="git:/old/a.py?HEAD" lines="1-1"past',
    ]
    assert "draft" in str(bench.sent()["messages"]), "an untitled document can be read"
