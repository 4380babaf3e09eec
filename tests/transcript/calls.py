"""Turns of calls with their results, as the history keeps them."""

from __future__ import annotations

from typing import Any

from codelaw.context.escaping import json_line
from codelaw.context.shortening.compressor import compress
from codelaw.domain.messages import Call, Message, Metadata

Step = tuple[str, dict[str, Any], dict[str, Any]]


def said(*steps: Step, turn: str = "t1") -> list[Message]:
    """A turn whose calls had these results, as the history keeps them."""
    found = [Message(f"{turn}u", turn, "user", "do it")]
    for number, (tool, arguments, envelope) in enumerate(steps):
        call = Call(f"{turn}c{number}", tool, arguments)
        kept = json_line(compress(tool, envelope, call.id))
        found.append(Message(f"{turn}a{number}", turn, "assistant", "Thought: x", Metadata(calls=(call,))))
        found.append(Message(f"{turn}r{number}", turn, "tool", kept, Metadata(call_id=call.id, tool_name=tool)))
    return found


def ok(**data: Any) -> dict[str, Any]:
    return {"status": "success", "data": data}


def failed(code_: str, message: str, **data: Any) -> dict[str, Any]:
    return {"status": "error", "data": data, "error": {"code": code_, "message": message}}


def bash(command: str, exit_code: int = 0) -> Step:
    data = {"command": command, "exit_code": exit_code, "stdout": "", "stderr": ""}
    result = ok(**data) if exit_code == 0 else failed("EXECUTION_ERROR", f"The command ended with {exit_code}.", **data)
    return ("Bash", {"command": command}, result)


def edit(path: str, new: str = "b") -> Step:
    return ("Edit", {"path": path, "old_string": "a", "new_string": new}, ok(path=path, applied=True, diff="+b"))


def wrote(path: str, operation: str) -> Step:
    return ("Write", {"path": path, "content": "x"}, ok(path=path, applied=True, operation=operation))
