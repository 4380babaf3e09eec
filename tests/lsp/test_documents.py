from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from codelaw.lsp.documents.documents import EditorDocuments, path_of
from codelaw.lsp.documents.positions import Encoding, code_points


def item(uri: str, text: str, version: int = 1) -> types.TextDocumentItem:
    return types.TextDocumentItem(uri, "python", version, text)


def change(uri: str, version: int, *edits: tuple[tuple[int, int, int, int] | None, str]):
    changes = [
        types.TextDocumentContentChangeWholeDocument(text)
        if place is None
        else types.TextDocumentContentChangePartial(
            types.Range(types.Position(*place[:2]), types.Position(*place[2:])), text
        )
        for place, text in edits
    ]
    return types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(version, uri), changes)


async def edited(text: str, *edits, encoding: Encoding = "utf-16") -> str:
    documents = EditorDocuments()
    documents.encoding = encoding
    documents.opened(item("untitled:1", text))
    documents.changed(change("untitled:1", 2, *edits))
    buffer = documents.get("untitled:1")
    assert buffer is not None
    assert buffer.version == 2
    return buffer.text


@pytest.mark.parametrize(
    ("text", "edits", "after"),
    [
        *((f"a{mark}b\nsecond\n", [((1, 0, 1, 6), "X")], f"a{mark}b\nX\n") for mark in "\f\v\x1c\x85\u2028\u2029"),
        *((f"a{end}b{end}c", [((1, 0, 2, 0), "")], f"a{end}c") for end in ("\n", "\r\n", "\r")),
        ("one", [((0, 0, 0, 3), "two"), ((0, 3, 0, 3), "!")], "two!"),
        ("one", [((0, 0, 0, 3), "two"), (None, "three")], "three"),
        ("ab\ncd", [((0, 99, 0, 99), "X"), ((9, 0, 9, 0), "Y")], "abX\ncdY"),
    ],
)
async def test_changes_apply_in_order_and_only_line_breaks_break_lines(text: str, edits: list, after: str) -> None:
    assert await edited(text, *edits) == after


@pytest.mark.parametrize(("encoding", "start"), [("utf-16", 3), ("utf-8", 5), ("utf-32", 2)])
async def test_characters_are_counted_in_the_agreed_encoding(encoding: Encoding, start: int) -> None:
    assert await edited("a😀bc\n", ((0, start, 0, start + 1), "X"), encoding=encoding) == "a😀Xc\n"


async def test_a_document_opened_through_a_symlink_is_found_at_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    documents = EditorDocuments()
    documents.opened(item((tmp_path / "link" / "a.py").as_uri(), "text"))
    await documents.settled()
    found = documents.at(tmp_path / "real" / "a.py")
    assert found is not None
    assert found.text == "text"


@pytest.mark.parametrize("uri", ["untitled:1", "file:///a%00b", "http://host/x", "", "file"])
def test_uris_without_a_usable_file_have_no_path(uri: str) -> None:
    assert path_of(uri) is None


@given(st.text(alphabet="aé😀\u2028\f", max_size=30), st.integers(0, 40))
def test_units_and_code_points_agree(line: str, units: int) -> None:
    for encoding, size in (("utf-16-le", 2), ("utf-8", 1)):
        count = code_points(line, units, "utf-16" if size == 2 else "utf-8")
        encoded = line[:count].encode(encoding)
        assert len(encoded) // size <= units
        if count < len(line):
            assert len(line[: count + 1].encode(encoding)) // size > units


async def test_what_changes_while_the_editor_saves_is_its_formatter_unless_somebody_types(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "a.py"
    documents = EditorDocuments()
    documents.opened(item(path.as_uri(), "x  = 1\n"))
    documents.saving(path.as_uri())
    documents.changed(change(path.as_uri(), 2, ((0, 1, 0, 3), " ")))
    documents.saved(path.as_uri())
    assert documents.formed(path) == (("x  = 1\n", "x = 1\n"),)
    documents.saving(path.as_uri())
    documents.changed(change(path.as_uri(), 3, ((0, 0, 0, 0), "typed ")))
    documents.changed(change(path.as_uri(), 4, (None, "typed x=1\n")))
    documents.saved(path.as_uri())
    assert len(documents.formed(path)) == 1
    assert documents.saves(path) == 2


async def test_a_file_that_is_open_under_two_names_stays_open_when_one_is_closed(tmp_path: Path) -> None:
    real = tmp_path.resolve() / "real.py"
    real.touch()
    link = real.with_name("link.py")
    link.symlink_to(real)
    documents = EditorDocuments()
    documents.opened(item(real.as_uri(), "unsaved\n"))
    documents.opened(item(link.as_uri(), "unsaved\n"))
    await documents.settled()
    documents.closed(link.as_uri())
    buffer = documents.at(real)
    assert buffer is not None
    assert buffer.text == "unsaved\n"


async def test_a_wanted_text_is_noticed_however_much_follows() -> None:
    documents = EditorDocuments()
    documents.opened(item("untitled:1", ""))
    with documents.following("untitled:1", "abc") as follow:
        documents.changed(change("untitled:1", 2, *((((0, n, 0, n), letter)) for n, letter in enumerate("abcdefgh"))))
        assert follow.met
        assert len(follow.texts) <= 3
    assert documents.get("untitled:1").text == "abcdefgh"  # type: ignore[union-attr]
