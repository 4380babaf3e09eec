"""What history keeps of a result (C-1 to C-4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codelaw.context.shortening.compressor import compress


def envelope(data: Any, **more: Any) -> dict[str, Any]:
    return {"status": "success", "data": data, "text": "T", "stats": {"time_ms": 1}, "context": {"cwd": "/w"}, **more}


def numbered(count: int) -> str:
    return "\n".join(f"{n:>5}\tline {n}" for n in range(1, count + 1))


def test_only_status_data_error_and_ref_stay():
    error = {"code": "TIMEOUT", "message": "m" * 9000}
    kept = compress("Bash", envelope({"command": "c", "exit_code": None}, status="error", error=error), "r9")
    assert kept == {
        "status": "error",
        "data": {"command": "c", "exit_code": None},
        "error": {"code": "TIMEOUT", "message": "m" * 9000},
        "ref": "r9",
    }


@pytest.mark.parametrize("ending", ["", "\n"])
def test_exactly_500_lines_are_not_truncated(ending: str):
    data = {"path": "a", "start_line": 1, "end_line": 500, "content": numbered(500) + ending, "mtime": 1.5}
    kept = compress("Read", envelope(data), "r")["data"]
    assert kept == data


def test_flags_and_notes_of_a_read_stay():
    flags = {
        "note": "Note: a was modified externally.",
        "unsaved": True,
        "source": "buffer",
        "version": 3,
        "replaced": True,
    }
    data = {"path": "a", "content": "", **flags}
    assert compress("Read", envelope(data), "r")["data"] == data


def test_lists_keep_their_first_items():
    entries = [f"e{n}" for n in range(11)]
    ls = compress("LS", envelope({"path": "p", "total": 11, "folders": 1, "files": 10, "entries": entries}), "r")
    assert ls["data"] == {"path": "p", "total": 11, "folders": 1, "files": 10, "entries": entries[:10], "shown": 10}
    glob = compress(
        "Glob", envelope({"pattern": "*", "path": ".", "total": 11, "files": entries, "truncated": True}), "r"
    )
    assert glob["data"]["files"] == entries[:10]
    assert (glob["data"]["total"], glob["data"]["truncated"]) == (11, True)
    matches = [{"file": f"f{n}", "line": n, "text": "t"} for n in range(6)]
    grep = compress(
        "Grep", envelope({"pattern": "p", "total": 6, "files": 6, "matches": matches, "fallback": True}), "r"
    )
    assert grep["data"] == {
        "pattern": "p", "total": 6, "files": 6, "matches": matches[:5], "shown": 5, "fallback": True,
    }  # fmt: skip


@pytest.mark.parametrize("tool", ["Edit", "MultiEdit", "Write"])
def test_changes_keep_50_lines_of_diff(tool: str):
    diff = [f"+{n}" for n in range(51)]
    data = {"path": "a", "applied": True, "replacements": 2, "changed_lines": [[1, 9]]}
    assert compress(tool, envelope({**data, "diff": "\n".join(diff[:50])}), "r")["data"] == {
        **data,
        "diff": "\n".join(diff[:50]),
    }
    cut = compress(tool, envelope({**data, "diff": "\n".join(diff)}), "r")["data"]
    assert cut["diff"] == "\n".join(diff[:50])
    assert cut["diff_truncated"] is True
    dry = compress(tool, envelope({**data, "applied": False, "dry_run": True}, status="partial"), "r")
    assert (dry["status"], dry["data"]["applied"], dry["data"]["dry_run"]) == ("partial", False, True)


def test_a_command_keeps_both_ends_of_its_output():
    lines = [f"line {n}" for n in range(1000)]
    data = {"command": "pytest", "exit_code": 1, "stdout": "\n".join(lines), "stderr": "\n".join(lines) + "\n"}
    kept = compress("Bash", envelope(data, status="error"), "r")["data"]
    out, err = kept["stdout"].split("\n"), kept["stderr"].split("\n")
    assert (out[:10], out[-20:]) == (lines[:10], lines[-20:])
    assert err[-20:] == lines[-20:]
    assert len(err) == 21
    assert kept["truncated"] is True
    one_line = compress("Bash", envelope({"stdout": "x" * 100_000 + "END"}), "r")["data"]["stdout"]
    assert len(one_line) < 5000
    assert one_line.endswith("END")


def test_todos_keep_the_recap_only():
    data = {"todos": [{"content": "x", "status": "pending"}], "recap": "[0/1] Next: x."}
    assert compress("TodoWrite", envelope(data), "r")["data"] == {"recap": "[0/1] Next: x."}


def test_unknown_tools_keep_head_and_tail():
    data = {"first": "HEAD", "body": "x" * 100_000, "last": "TAIL"}
    kept = compress("mcp__x", envelope(data), "r")
    text = json.dumps(kept)
    assert len(text) < 6000
    assert "HEAD" in text
    assert "TAIL" in text
    assert kept["data"]["omitted_characters"] > 90_000
    for small in ({"small": [1, None]}, [1], "text", None):
        assert compress("mcp__x", envelope(small), "r")["data"] == small


def test_what_the_data_does_not_name_comes_from_the_call():
    params = {"path": "a.py", "content": "secret body", "limit": 3}
    given_envelope = envelope({}, status="error", error={"code": "NOT_FOUND", "message": "m"})
    given_envelope["context"]["params_input"] = params
    assert compress("Read", given_envelope, "r")["data"] == {"path": "a.py"}


def test_200_needles_survive():
    """The facts an agent comes back to: paths, numbers, commands and exit codes of covered tools."""
    for n in range(25):
        path, number = f"src/deep/module_{n}/file_{n}.py", 7001 + n
        long = [f"noise {i} {'x' * 80}" for i in range(700)]
        cases: list[tuple[str, dict[str, Any], list[Any]]] = [
            ("LS", {"path": path, "total": number, "entries": long}, [path, number]),
            ("Glob", {"pattern": path, "total": number, "files": [path, *long]}, [path, number]),
            ("Grep", {"pattern": path, "total": number, "matches": [{"file": path, "line": number}, *long]}, [path, number]),
            ("Read", {"path": path, "start_line": 1, "mtime": number, "content": "\n".join([f"{number}\t{path}", *long])}, [path, number]),
            ("Edit", {"path": path, "applied": True, "changed_lines": [[number, number]], "diff": "\n".join(long)}, [path, number]),
            ("Write", {"path": path, "lines": number, "diff": "\n".join(long)}, [path, number]),
            ("Bash", {"command": f"pytest {path}", "exit_code": number, "stdout": "\n".join([*long, f"{number} failed"])}, [path, number, f"{number} failed"]),
            ("TodoWrite", {"recap": f"[1/{number}] {path}", "todos": long}, [path, number]),
        ]  # fmt: skip
        for tool, data, needles in cases:
            text = json.dumps(compress(tool, envelope(data), f"ref-{n}"))
            for needle in (*needles, f"ref-{n}"):
                assert str(needle) in text, (tool, needle)
