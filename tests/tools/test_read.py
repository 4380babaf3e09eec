from __future__ import annotations

import pytest

from codelaw.tools.bounds import MAX_DATA, json_size
from tests.fakes.desk import Desk


async def test_lines_are_numbered_and_described(desk: Desk):
    path = desk.put("src/a.py", "one\ntwo\nthree\n")
    result = await desk("Read", path="src/a.py")
    assert result.status == "success"
    assert result.data == {
        "path": "src/a.py",
        "start_line": 1,
        "end_line": 3,
        "total_lines": 3,
        "content": "1\tone\n2\ttwo\n3\tthree",
        "mtime": path.stat().st_mtime,
        "size": 14,
        "source": "disk",
    }
    assert result.context["path_resolved"] == str(path)
    assert result.context["cwd"] == str(desk.root)
    assert result.context["params_input"] == {"path": "src/a.py"}
    assert result.stats["time_ms"] >= 0


async def test_the_default_slice_is_500_lines(desk: Desk):
    desk.put("a", "x\n" * 500)
    desk.put("b", "x\n" * 501)
    whole, cut = await desk("Read", path="a"), await desk("Read", path="b")
    assert (whole.status, whole.data["end_line"], "truncated" in whole.data) == ("success", 500, False)
    assert (cut.status, cut.data["end_line"], cut.data["truncated"]) == ("partial", 500, True)
    assert "start_line 501" in cut.text
    past = await desk("Read", path="a", start_line=501)
    assert past.error is not None
    assert "start_line = 501 is past the end" in past.error.message


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("none", "NOT_FOUND"),
        ("folder", "IS_DIRECTORY"),
        ("binary", "BINARY_FILE"),
        ("../x", "ACCESS_DENIED"),
        ("/etc/passwd", "ACCESS_DENIED"),
        ("a\0b", "INVALID_PARAM"),
        ("x" * 300, "INVALID_PARAM"),
        ("result:none", "NOT_FOUND"),
        ("untitled:none", "NOT_FOUND"),
        ("a/below-a-file", "NOT_FOUND"),
    ],
)
async def test_what_cannot_be_read_says_why(desk: Desk, path: str, code: str):
    desk.put("a", "text")
    desk.put("binary", b"abc\0def")
    desk.put("folder/x", "")
    result = await desk("Read", path=path)
    assert result.status == "error"
    assert result.error is not None
    assert result.error.code == code


async def test_a_nul_after_8_kib_is_text(desk: Desk):
    desk.put("a", b"x" * 8192 + b"\0")
    assert (await desk("Read", path="a")).data["total_lines"] == 1


async def test_undecodable_bytes_are_replaced_and_flagged(desk: Desk):
    desk.put("a", b"caf\xe9\n")
    result = await desk("Read", path="a")
    assert result.status == "partial"
    assert result.data["replaced"] is True
    assert result.data["content"] == "1\tcaf\ufffd"


async def test_long_lines_are_cut_and_flagged(desk: Desk):
    desk.put("a", "y\n" + "x" * 2001 + "\n" + "z" * 2000)
    result = await desk("Read", path="a")
    assert result.status == "partial"
    assert result.data["cut_lines"] == [2]
    assert result.data["content"].endswith("z" * 2000)


async def test_a_result_never_grows_past_its_bound(desk: Desk):
    desk.put("a", ("\x01" * 1500 + "\n") * 2000)
    desk.put("b", ("x" * 1500 + "\n") * 2000)
    for name in ("a", "b"):
        result = await desk("Read", path=name, limit=2000)
        assert json_size(dict(result.data)) <= MAX_DATA
        assert result.status == "partial"
    assert result.data["end_line"] < 2000


async def test_the_buffer_is_the_truth(desk: Desk):
    path = desk.put("a", "disk\n")
    desk.documents.open(path, "buffer\n", version=7)
    data = (await desk("Read", path="a")).data
    assert data["content"] == "1\tbuffer"
    assert (data["source"], data["version"], data["unsaved"]) == ("buffer", 7, True)
    desk.documents.edit(path, "disk\n")
    data = (await desk("Read", path="a")).data
    assert (data["source"], data["version"], "unsaved" in data) == ("buffer", 8, False)


async def test_documents_without_a_file_are_read_too(desk: Desk):
    desk.documents.open("untitled:Untitled-1", "new text")
    desk.documents.open(desk.root / "fresh.py", "fresh text")
    assert (await desk("Read", path="untitled:Untitled-1")).data["content"] == "1\tnew text"
    assert (await desk("Read", path="fresh.py")).data["content"] == "1\tfresh text"


async def test_an_earlier_result_is_paged_like_a_file(desk: Desk):
    stdout = "\n".join(f"line {number} a\\nb" for number in range(1000))
    envelope = {"status": "error", "data": {"command": "x", "stdout": stdout, "list": [1, {"k": "v"}]}}
    desk.results["r1"] = {**envelope, "error": {"code": "EXECUTION_ERROR", "message": "m"}}
    first = await desk("Read", path="result:r1", limit=4)
    assert first.data["content"].split("\n")[2:4] == ["3\t  command: x", "4\t  stdout:"]
    assert first.data["total_lines"] > 1000
    later = await desk("Read", path="result:r1", start_line=1000, limit=2000)
    assert "line 999 a\\nb" in later.data["content"]
    assert "message: m" in later.data["content"]


async def test_a_pipe_does_not_hang(desk: Desk):
    import os

    os.mkfifo(desk.root / "pipe")
    result = await desk("Read", path="pipe")
    assert result.error is not None
    assert result.error.code == "ACCESS_DENIED"
