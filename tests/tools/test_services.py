"""Diagnostics, Definition, References, Rename and QuickFix (E-6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from codelaw.domain.code import Fix, Position, ProposedChange, ProposedEdits, Span, TextEdit
from codelaw.domain.errors import ToolFailure
from codelaw.permissions.policy import Denied
from codelaw.permissions.rules import parse
from codelaw.tools.code import diagnosing
from codelaw.tools.code.diagnosing import after_edit
from codelaw.tools.paths import located
from codelaw.tools.toolbox import default_toolbox
from tests.fakes.desk import Desk
from tests.fakes.services import EVERY, FakeServices, finding

NINE = ("LS", "Glob", "Grep", "Read", "Edit", "MultiEdit", "Write", "Bash", "TodoWrite")


@pytest.fixture
def services(desk: Desk) -> FakeServices:
    made = FakeServices(desk.root, desk.documents.all)
    desk.environment = replace(desk.environment, services=made)
    desk.toolbox = default_toolbox(services=EVERY)
    return made


def code(result: Any) -> str:
    assert result.error is not None, result
    return result.error.code


def edit(path: Any, *edits: tuple[tuple[int, int, int, int], str], version: int | None = None) -> ProposedChange:
    made = tuple(TextEdit(Span(Position(*where[:2]), Position(*where[2:])), text) for where, text in edits)
    return ProposedChange((ProposedEdits(path.as_uri(), str(path), version, made),))


# -------------------------------------------------------------------------------------------------------- the toolbox


def test_without_services_the_toolbox_is_the_nine_and_its_bytes_are_the_same():
    plain, served = default_toolbox(), default_toolbox(services=EVERY)
    assert plain.names == NINE
    assert served.names == (*NINE, "Diagnostics", "Definition", "References", "Rename", "QuickFix")
    assert served.manual().startswith(plain.manual())
    assert served.schemas()[:9] == plain.schemas()
    assert default_toolbox(services={"rename", "nonsense"}).names == (*NINE, "Rename")


async def test_a_service_that_is_gone_is_told(desk: Desk, services: FakeServices):
    desk.put("a.py", "one\n")
    services.offered = frozenset()
    result = await desk("Definition", path="a.py", line=1, symbol="one")
    assert code(result) == "EXECUTION_ERROR"


# -------------------------------------------------------------------------------------------------------- navigating


async def test_a_definition_is_found_by_the_symbol_on_its_line(desk: Desk, services: FakeServices):
    desk.put("a.py", "def run(): pass\n")
    desk.put("b.py", "x = '😀'; rerun; run()\r\nrun()\r\n")
    result = await desk("Definition", path="b.py", line=1, symbol="run")
    assert services.asked[0][2] == Position(0, 17), "the whole word, in the editor's units"
    assert result.data == {
        "symbol": "run",
        "total": 1,
        "places": [{"file": "a.py", "line": 1, "text": "def run(): pass"}],
    }


@pytest.mark.parametrize(
    ("line", "symbol", "says"),
    [(3, "x", "is past the end"), (1, "nothing", "not in line 1 of a.py, which is: one two")],
)
async def test_a_symbol_that_is_not_there(desk: Desk, services: FakeServices, line: int, symbol: str, says: str):
    desk.put("a.py", "  one two\n")
    result = await desk("References", path="a.py", line=line, symbol=symbol)
    assert code(result) == "INVALID_PARAM"
    assert says in result.error.message
    assert services.asked == []


async def test_references_are_bounded_withheld_and_numbered_as_read_does(desk: Desk, services: FakeServices):
    desk.put("a.py", "x\rx\nx\n")
    desk.put("secret/b.py", "x\n")
    desk.environment = replace(
        desk.environment, workspace=desk.workspace.without(Denied((parse("Read(secret/**)"),))), withheld=True
    )
    result = await desk("References", path="a.py", line=2, symbol="x")
    assert [place["line"] for place in result.data["places"]] == [1, 2]
    assert result.data["total"] == 3
    assert "withheld" in result.data
    result = await desk("References", path="a.py", line=2, symbol="x", limit=1)
    assert (result.status, len(result.data["places"]), result.data["truncated"]) == ("partial", 1, True)


async def test_a_place_beyond_the_workspace_is_named_and_not_read(desk: Desk, services: FakeServices):
    outside = desk.root.parent / "library.py"
    outside.write_text("SECRETMARK = 1\n")
    desk.put("a.py", "SECRETMARK\n")
    services.root = outside.parent
    result = await desk("References", path="a.py", line=1, symbol="SECRETMARK")
    entries = {entry["file"]: entry for entry in result.data["places"]}
    assert entries[str(outside)] == {"file": str(outside), "line": 1, "outside": True}
    assert entries["a.py"]["text"] == "SECRETMARK"


# ------------------------------------------------------------------------------------------------------- diagnostics


async def test_diagnostics_of_everything_come_errors_first(desk: Desk, services: FakeServices):
    a, b = desk.put("a.py", "1\n2\n"), desk.put("src/b.py", "1\n")
    services.finding(a, None, finding(1, "unused\n  name", "warning"), finding(0, "hint", "hint"))
    services.finding(b, None, finding(0, "x" * 900, code="E1"))
    services.finding(desk.root.parent / "out.py", None, finding(0, "not ours"))
    result = await desk("Diagnostics")
    assert (result.data["total"], result.data["errors"]) == (3, 1)
    first, second, _ = result.data["diagnostics"]
    assert (first["file"], first["code"], len(first["message"])) == ("src/b.py", "E1", 300)
    assert (second["line"], second["message"], second["source"]) == (2, "unused name", "pyright")
    result = await desk("Diagnostics", path="src", limit=1)
    assert [entry["file"] for entry in result.data["diagnostics"]] == ["src/b.py"]
    assert code(await desk("Diagnostics", path="nothing.py")) == "NOT_FOUND"


async def test_only_diagnostics_of_the_version_at_hand_count(
    desk: Desk, services: FakeServices, monkeypatch: pytest.MonkeyPatch
):
    path = desk.put("a.py", "1\n")
    desk.documents.open(path, "1 typed\n", 5)
    services.finding(path, 4, finding(0, "of yesterday"))
    monkeypatch.setattr(diagnosing, "FRESH_SECONDS", 1.5)
    result = await desk("Diagnostics", path="a.py")
    assert (result.status, "diagnostics" in result.data, result.data["stale"]) == ("partial", False, True)
    assert len(services.asked) > 1, "asked again while there is time"
    monkeypatch.setattr(diagnosing, "FRESH_SECONDS", 150.0)
    services.before = lambda: services.finding(path, 5, finding(0, "of today"))
    result = await desk("Diagnostics", path="a.py")
    assert [entry["message"] for entry in result.data["diagnostics"]] == ["of today"]
    assert result.data["version"] == 5


async def test_after_an_edit_ten_errors_first_and_never_stale_ones(
    desk: Desk, services: FakeServices, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(diagnosing, "FRESH_SECONDS", 0.2)
    path = desk.put("a.py", "1\n")
    place = await located(desk.workspace, "a.py")
    assert await after_edit(place, desk.environment) is None, "not open, so no version to hold it to"
    assert services.asked == []
    desk.documents.open(path, "1\n", 3)
    await desk("Read", path="a.py")  # from here on the ledger knows version 3
    services.finding(path, 2, finding(0, "old"))
    assert await after_edit(place, desk.environment) is None
    services.finding(path, None, finding(0, "of no version"))
    assert await after_edit(place, desk.environment) is None
    services.finding(path, 3, *[finding(n, "warn", "warning") for n in range(12)], finding(20, "bad"))
    monkeypatch.setattr(diagnosing, "FRESH_SECONDS", 150.0)
    found = await after_edit(place, desk.environment)
    assert found is not None
    assert len(found) == 10
    assert found[0] == {"line": 21, "severity": "error", "message": "bad", "source": "pyright"}
    services.finding(path, 3)
    assert await after_edit(place, desk.environment) == [], "nothing wrong is known, and worth saying"
    services.before = lambda: desk.documents.edit(path, "typed\n") and None
    assert await after_edit(place, desk.environment) is None, "the user has typed meanwhile"
    services.before = lambda: None
    services.failure = ToolFailure("EXECUTION_ERROR", "no")
    assert await after_edit(place, desk.environment) is None


# ------------------------------------------------------------------------------------------------------------ rename


async def test_a_rename_changes_every_file_and_needs_no_read(desk: Desk, services: FakeServices):
    desk.put("a.py", "def old(): pass\n")
    desk.put("src/b.py", "'😀'; old()\r\nolder\r\nold()\r\n")
    tried = await desk("Rename", path="a.py", line=1, symbol="old", new_name="new", dry_run=True)
    assert (tried.status, tried.data["dry_run"], len(tried.data["files"])) == ("partial", True, 2)
    assert (desk.root / "a.py").read_text() == "def old(): pass\n"
    result = await desk("Rename", path="a.py", line=1, symbol="old", new_name="new")
    assert result.status == "success"
    assert (desk.root / "a.py").read_text() == "def new(): pass\n"
    assert (desk.root / "src" / "b.py").read_bytes() == "'😀'; new()\r\nolder\r\nnew()\r\n".encode()
    assert [(file["path"], file["replacements"]) for file in result.data["files"]] == [("a.py", 1), ("src/b.py", 2)]
    assert [change.path for change in result.changes] == ["a.py", "src/b.py"]
    assert result.data["applied"] is True
    blind = await desk("Edit", path="a.py", old_string="new", new_string="x")
    assert code(blind) == "CONFLICT", "the model has still not read it"


async def test_a_file_read_before_a_rename_can_be_edited_after_it(desk: Desk, services: FakeServices):
    desk.put("a.py", "old\n")
    await desk("Read", path="a.py")
    await desk("Rename", path="a.py", line=1, symbol="old", new_name="new")
    assert await desk.environment.ledger.external_changes(desk.workspace) == []
    assert (await desk("Edit", path="a.py", old_string="new", new_string="x")).status == "success"


@pytest.mark.parametrize(
    ("edits", "says"),
    [
        ([((9, 0, 9, 1), "x")], "outside the text"),
        ([((0, 2, 0, 1), "x")], "outside the text"),
        ([((0, 1, 0, 2), "x")], "outside the text"),  # between the halves of a character
        ([((1, 0, 1, 3), "x"), ((1, 2, 1, 4), "y")], "overlap at line 2"),
    ],
)
async def test_edits_that_cannot_be_are_refused_and_nothing_is_changed(
    desk: Desk, services: FakeServices, edits: Any, says: str
):
    path = desk.put("a.py", "😀 old\nfour\n")
    services.change = edit(path, *edits)
    result = await desk("Rename", path="a.py", line=1, symbol="old", new_name="new")
    assert code(result) == "EXECUTION_ERROR"
    assert says in result.error.message
    assert path.read_text() == "😀 old\nfour\n"


async def test_edits_that_touch_and_insertions_at_one_place_keep_their_order(desk: Desk, services: FakeServices):
    path = desk.put("a.py", "old\n")
    services.change = edit(
        path,
        ((0, 0, 0, 0), "1\n"),
        ((0, 0, 0, 0), "2\n"),
        ((0, 0, 0, 2), "n"),
        ((0, 2, 0, 3), "ew"),
        ((2, 0, 2, 0), "end"),
    )
    assert (await desk("Rename", path="a.py", line=1, symbol="old", new_name="new")).status == "success"
    assert path.read_text() == "1\n2\nnew\nend"


@pytest.mark.parametrize("where", ["outside", "git", "link"])
async def test_no_file_outside_or_in_git_is_touched(desk: Desk, services: FakeServices, where: str):
    outside = desk.root.parent / "outside.py"
    outside.write_text("old\n")
    (desk.root / "link.py").symlink_to(outside)
    inside = desk.put("a.py", "old\n")
    other = {"outside": outside, "git": desk.put(".git/config", "old\n"), "link": desk.root / "link.py"}[where]
    services.change = ProposedChange(
        edit(inside, ((0, 0, 0, 3), "new")).documents + edit(other, ((0, 0, 0, 3), "new")).documents
    )
    result = await desk("Rename", path="a.py", line=1, symbol="old", new_name="new")
    assert code(result) == "ACCESS_DENIED"
    assert (inside.read_text(), other.read_text()) == ("old\n", "old\n")


async def test_what_is_more_than_text_is_refused_by_name(desk: Desk, services: FakeServices):
    path = desk.put("a.py", "old\n")
    services.change = ProposedChange(edit(path, ((0, 0, 0, 3), "new")).documents, ("rename a.py to b.py",))
    result = await desk("Rename", path="a.py", line=1, symbol="old", new_name="new")
    assert code(result) == "EXECUTION_ERROR"
    assert "rename a.py to b.py" in result.error.message
    assert path.read_text() == "old\n"


@pytest.mark.parametrize("reported", [6, None])
async def test_a_document_that_has_moved_on_is_a_conflict(desk: Desk, services: FakeServices, reported: int | None):
    path = desk.put("a.py", "old\n")
    desk.documents.open(path, "old\n", 6)
    services.change = edit(path, ((0, 0, 0, 3), "new"), version=reported)
    services.before = lambda: desk.documents.edit(path, "typed old\n") and None
    result = await desk("Rename", path="a.py", line=1, symbol="old", new_name="new")
    assert code(result) == "CONFLICT"
    assert path.read_text() == "old\n"


async def test_a_conflict_in_the_middle_is_told_with_what_was_done(desk: Desk, services: FakeServices):
    desk.put("a.py", "old\n")
    desk.put("b.py", "old\n")
    desk.put("c.py", "old\n")
    tool = desk.toolbox.get("Rename")
    assert tool is not None
    args = desk.toolbox.parse(tool, {"path": "a.py", "line": 1, "symbol": "old", "new_name": "new"})
    assert await tool.subjects(args, desk.environment) == ("a.py", "b.py", "c.py")
    preview = await tool.preview(args, desk.environment)
    assert preview.diff is not None
    assert preview.diff.count("+new") == 3
    desk.put("b.py", "old, but different\n")
    result = await tool.run(args, desk.environment)
    assert len(services.asked) == 1, "what was approved is what is made"
    assert result.status == "partial"
    assert result.data["failed"]["path"] == "b.py"
    assert result.data["failed"]["code"] == "CONFLICT"
    assert result.data["left"] == ["c.py"]
    assert [(desk.root / name).read_text() for name in ("a.py", "b.py", "c.py")] == [
        "new\n",
        "old, but different\n",
        "old\n",
    ]
    assert [change.path for change in result.changes] == ["a.py"]
    desk.put("a.py", "old\n")
    args = desk.toolbox.parse(tool, {"path": "a.py", "line": 1, "symbol": "old", "new_name": "new"})
    await tool.subjects(args, desk.environment)
    desk.put("a.py", "gone\n")
    with pytest.raises(ToolFailure, match="changed meanwhile"):
        await tool.run(args, desk.environment)


# --------------------------------------------------------------------------------------------------------- quick fix


async def test_a_quick_fix_by_title_or_the_only_one(desk: Desk, services: FakeServices):
    path = desk.put("a.py", "import os\r\nx = 1\r\n")
    assert code(await desk("QuickFix", path="a.py", line=1)) == "NOT_FOUND"
    remove = Fix("Remove import", edit(path, ((0, 0, 1, 0), "")))
    services.fixes_offered = [remove, Fix("Ignore", edit(path, ((0, 9, 0, 9), "  # noqa")))]
    several = await desk("QuickFix", path="a.py", line=1)
    assert code(several) == "INVALID_PARAM"
    assert "Remove import; Ignore" in several.error.message
    assert "no fix 'Other'" in (await desk("QuickFix", path="a.py", line=1, title="Other")).error.message
    assert services.asked[0][2] == Span(Position(0, 0), Position(0, 9)), "the line without its break"
    tried = await desk("QuickFix", path="a.py", line=1, title="ignore", dry_run=True)
    assert tried.data["title"] == "Ignore"
    services.fixes_offered = [remove]
    result = await desk("QuickFix", path="a.py", line=1)
    assert (result.status, path.read_bytes()) == ("success", b"x = 1\r\n")
    assert result.data["title"] == "Remove import"


# -------------------------------------------------------------------------------------------------------- the history


async def test_after_a_rename_what_is_wrong_in_open_files_is_told_once(
    desk: Desk, services: FakeServices, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(diagnosing, "FRESH_SECONDS", 0.2)
    path = desk.put("a.py", "old\n")
    desk.documents.open(path, "old\n", 3)
    result = await desk("Rename", path="a.py", line=1, symbol="old", new_name="new")
    assert "diagnostics" not in result.data["files"][0], "written behind a clean buffer, whose version says nothing"
    services.finding(path, 3, finding(0, "of the old text"))
    place = await located(desk.workspace, "a.py")
    assert await after_edit(place, desk.environment) is None, "the ledger knows of no version"
    desk.documents.edit(path, "new\n")
    await desk("Read", path="a.py")
    services.finding(path, 4, finding(0, "bad"))
    monkeypatch.setattr(diagnosing, "FRESH_SECONDS", 150.0)
    assert await after_edit(place, desk.environment) is not None
    desk.documents.edit(path, "new, typed\n")
    services.finding(path, 5, finding(0, "of another text"))
    assert await after_edit(place, desk.environment) is None
