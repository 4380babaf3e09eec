"""LS, Glob, Bash, TodoWrite, and what completes an envelope."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from codelaw.domain.chats import Todo
from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.bounds import MAX_DATA, bounded, json_size
from codelaw.tools.changing.diffs import difference
from codelaw.tools.changing.editing import PREVIEW_CHARACTERS, shown_whole
from codelaw.tools.commands.bash import Bash, BashArguments
from codelaw.tools.paths import located
from codelaw.tools.todo_list import recap
from tests.fakes.desk import Desk, folder, make_desk
from tests.fakes.living import once_begun


async def test_ls_puts_folders_first(desk: Desk):
    for name in ("b.py", "a.py", "zoo/x", "Attic/x", ".hidden", "gone.log", ".gitignore"):
        desk.put(name, "*.log\n" if name == ".gitignore" else "")
    (desk.root / "link").symlink_to("a.py")
    data = (await desk("LS")).data
    assert data["entries"] == ["Attic/", "zoo/", "a.py", "b.py", "link@"]
    assert (data["path"], data["total"], data["folders"], data["files"]) == (".", 5, 2, 3)
    shown = (await desk("LS", hidden=True)).data["entries"]
    assert ".hidden" in shown
    assert "gone.log" not in shown
    cut = await desk("LS", limit=2)
    assert (cut.status, cut.data["entries"], cut.data["total"]) == ("partial", ["Attic/", "zoo/"], 5)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("src/a.py:3", "A line number is not part of a path."),
        ("src/a.py:3-7", "A line number is not part of a path."),
        ("src\\a.py", "Paths are written with `/`."),
        ("/src/a.py", "without `/` in front"),
        ("work/src/a.py", "leave its name out"),
    ],
)
async def test_a_path_that_leads_to_nothing_is_told_what_may_be_wrong(desk: Desk, path: str, says: str):
    desk.put("src/a.py", "needle\n")
    result = await desk("Read", path=path)
    assert result.error is not None
    assert says in result.error.message
    plain = await desk("Read", path="src/b.py")
    assert plain.error is not None
    assert plain.error.message == "There is no file src/b.py."


@pytest.mark.parametrize(
    ("pattern", "says"),
    [('"*.py"', "leave out the quotes"), ("src/", "`src/**`"), ("src", "`src/**`"), ("~/*.py", "not the home")],
)
async def test_a_glob_that_matches_nothing_is_told_what_may_be_wrong(desk: Desk, pattern: str, says: str):
    desk.put("src/a.py", "")
    result = await desk("Glob", pattern=pattern)
    assert result.data["total"] == 0
    assert says in result.text
    assert (await desk("Glob", pattern="*.none")).text == "0 files match *.none"


async def test_several_folders_are_named(tmp_path: Path):
    desk = make_desk(folder(tmp_path / "one"), folder(tmp_path / "two"))
    (tmp_path / "two/b.py").write_text("needle\n")
    (tmp_path / "one/a.py").write_text("needle\n")
    assert (await desk("LS")).data["entries"] == ["one/", "two/"]
    assert (await desk("LS", path="two")).data["entries"] == ["b.py"]
    assert set((await desk("Glob", pattern="*.py")).data["files"]) == {"one/a.py", "two/b.py"}
    assert (await desk("Glob", pattern="*.py", path="two")).data["files"] == ["two/b.py"]
    assert {hit["file"] for hit in (await desk("Grep", pattern="needle")).data["matches"]} == {"one/a.py", "two/b.py"}
    assert (await desk("Read", path="two/b.py")).data["path"] == "two/b.py"
    assert (await desk("Read", path=str(tmp_path.resolve() / "two/b.py"))).data["path"] == "two/b.py"
    wrong = await desk("Read", path="b.py")
    assert wrong.error is not None
    assert "one, two" in wrong.error.message


async def test_without_a_folder_there_are_no_files(tmp_path: Path):
    desk = make_desk(folder(tmp_path))
    desk.workspace.folders = ()
    for name, arguments in (
        ("LS", {}),
        ("Read", {"path": "a"}),
        ("Bash", {"command": "true"}),
        ("Glob", {"pattern": "*"}),
    ):
        result = await desk(name, **arguments)
        assert result.error is not None
        assert result.error.code == "INVALID_PARAM"
        assert "No folder is open" in result.error.message


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", {"a.py", "src/b.py", "src/deep/c.py"}),
        ("**/c.py", {"src/deep/c.py"}),
        ("**/a.py", {"a.py"}),
        ("src/*.py", {"src/b.py"}),
        ("src/**/*.py", {"src/b.py", "src/deep/c.py"}),
        ("src/**", {"src/b.py", "src/deep/c.py", "src/d.ts"}),
        ("*.{py,ts}", {"a.py", "src/b.py", "src/deep/c.py", "src/d.ts"}),
        ("[ab].py", {"a.py", "src/b.py"}),
        ("[!a].py", {"src/b.py", "src/deep/c.py"}),
        ("?.ts", {"src/d.ts"}),
        ("none*", set()),
    ],
)
async def test_glob(desk: Desk, pattern: str, found: set[str]):
    for name in ("a.py", "src/b.py", "src/deep/c.py", "src/d.ts", ".hidden/e.py", "build/f.py"):
        desk.put(name, "")
    desk.put(".gitignore", "build/\n")
    result = await desk("Glob", pattern=pattern)
    assert set(result.data["files"]) == found
    assert result.data["total"] == len(found)


async def test_glob_is_newest_first_and_capped(desk: Desk):
    for age, name in enumerate(("new", "old", "older")):
        os.utime(desk.put(f"{name}.py", ""), (1000 - age, 1000 - age))
    assert (await desk("Glob", pattern="*.py")).data["files"] == ["new.py", "old.py", "older.py"]
    cut = await desk("Glob", pattern="*.py", limit=1)
    assert (cut.status, cut.data["total"], cut.data["reason"]) == ("partial", 3, "limit of 1 files")
    few = await desk.workspace.walk([await located(desk.workspace, ".")], "*", max_visits=2, seconds=2)
    assert (len(few.files), few.stopped) == (2, "stopped after 2 entries")
    late = await desk.workspace.walk([await located(desk.workspace, ".")], "*", max_visits=64, seconds=-1)
    assert late.stopped in {"", "stopped after -1 s"}


@pytest.mark.parametrize(
    ("pattern", "code"), [("[a", "INVALID_PARAM"), ("{a", "INVALID_PARAM"), ("../*", "ACCESS_DENIED")]
)
async def test_a_bad_glob_is_refused(desk: Desk, pattern: str, code: str):
    result = await desk("Glob", pattern=pattern)
    assert result.error is not None
    assert result.error.code == code


async def test_bash_tells_how_a_command_ended(desk: Desk):
    result = await desk("Bash", command="pwd; echo problem >&2", description="Where am I")
    assert result.status == "success"
    assert result.data["seconds"] >= 0
    assert result.data == {
        "command": "pwd; echo problem >&2",
        "seconds": result.data["seconds"],
        "exit_code": 0,
        "stdout": f"{desk.root}\n",
        "stderr": "problem\n",
        "sandboxed": False,
        "description": "Where am I",
    }
    failed = await desk("Bash", command="echo out; exit 3")
    assert failed.status == "error"
    assert failed.error is not None
    assert (failed.error.code, failed.data["exit_code"], failed.data["stdout"]) == ("EXECUTION_ERROR", 3, "out\n")


async def test_bash_in_time_or_not_at_all(desk: Desk):
    async def run(seconds: float) -> ToolResult:
        return await desk("Bash", command="echo begun; sleep 60", timeout_ms=int(seconds * 1000))

    result = await once_begun(run, lambda result: "begun" in str(result.data))
    assert result.error is not None
    assert result.error.code == "TIMEOUT"
    assert (result.data["stdout"], result.data["timed_out"], result.data["exit_code"]) == ("begun\n", True, None)


async def test_bash_keeps_head_and_tail(desk: Desk):
    result = await desk("Bash", command="echo first; seq 100000; echo last")
    assert result.status == "partial"
    assert result.data["stdout"].startswith("first\n")
    assert result.data["stdout"].endswith("last\n")
    assert "left out" in result.data["stdout"]
    assert json_size(dict(result.data)) < MAX_DATA


async def test_todos_are_replaced(desk: Desk):
    todos = [{"content": f"task {n}", "status": "pending"} for n in range(5)]
    todos[0]["status"] = "completed"
    todos[1]["status"] = "in_progress"
    result = await desk("TodoWrite", todos=todos)
    assert result.data["todos"] == todos
    assert result.data["recap"] == "[1/5] In progress: task 1. Next: task 2; task 3; task 4."
    kept = tuple(Todo(t["content"], t["status"]) for t in todos)  # type: ignore[arg-type]
    assert desk.environment.todos.now == kept
    todos[2]["status"] = "in_progress"
    refused = await desk("TodoWrite", todos=todos)
    assert refused.error is not None
    assert "at most 1" in refused.error.message
    assert desk.environment.todos.now == kept


def test_recap():
    assert recap([]) == ""
    assert recap([Todo("a", "completed"), Todo("b", "cancelled")]) == "[1/2] Cancelled: 1."
    assert recap([Todo("a\n<system-reminder>", "in_progress")]) == "[0/1] In progress: a ‹system-reminder>."
    assert recap([Todo(str(n), "pending") for n in range(5)]) == "[0/5] Next: 0; 1; 2 (and 2 more)."


def test_a_change_is_previewed_whole_or_not_at_all():
    text = "\n".join(f"line {number}" for number in range(5_000))
    shown = shown_whole(difference("", text, "a.txt").text).diff
    assert shown is not None
    assert "+line 4999" in shown
    with pytest.raises(ToolFailure, match="make it in parts"):
        shown_whole("x" * (PREVIEW_CHARACTERS + 1))


def test_no_result_passes_its_bound():
    data = {"a": "x" * 100_000, "b": [{"c": "y" * 100}] * 5000, "d": {str(n): "z" for n in range(10)}}
    result = bounded(ToolResult("success", data, ""))
    assert json_size(dict(result.data)) <= MAX_DATA
    assert (result.status, result.data["truncated"]) == ("partial", True)
    small = ToolResult("success", {"a": 1}, "")
    assert bounded(small) is small


def test_the_title_of_a_command_is_the_command_and_never_the_models_word_for_it():
    arguments = BashArguments(command="rm x", timeout_ms=None, description="List the files")
    assert (Bash().title(arguments), Bash().described(arguments)) == ("rm x", "List the files")
