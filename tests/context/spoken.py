"""Chats to shorten, made of calls and results as the agent would have stored them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from codelaw.context.escaping import json_line
from codelaw.context.shortening.compressor import compress
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.results import ToolError, ToolResult
from codelaw.transcript.repair.repairs import result_message


def code(name: str, lines: int) -> str:
    """A file's text as Read shows it."""
    return "\n".join(
        f"{number:>5}\tdef {name}_{number}(value): return value + {number}" for number in range(1, lines + 1)
    )


def read(path: str, lines: int = 100) -> tuple[str, dict[str, Any], ToolResult]:
    data = {"path": path, "start_line": 1, "end_line": lines, "total_lines": lines, "content": code(path[:-3], lines)}
    return "Read", {"path": path}, ToolResult("success", data, f"Lines 1-{lines}.")


def edit(path: str, size: int = 600) -> tuple[str, dict[str, Any], ToolResult]:
    old, new = "old line\n" * (size // 9), "new line\n" * (size // 9)
    data = {"path": path, "applied": True, "replacements": 1, "diff": f"-{old[:200]}\n+{new[:200]}"}
    return "Edit", {"path": path, "old_string": old, "new_string": new}, ToolResult("success", data, "Written.")


def bash(command: str, lines: int = 60, failed: bool = False) -> tuple[str, dict[str, Any], ToolResult]:
    data = {"command": command, "exit_code": int(failed), "stdout": "a line of output\n" * lines, "stderr": ""}
    error = ToolError("EXECUTION_ERROR", "The command ended with exit code 1.") if failed else None
    return "Bash", {"command": command}, ToolResult("error" if failed else "success", data, "", error)


@dataclass
class Spoken:
    """A chat that grows turn by turn: `record` as the history has it, `full` with whole observations."""

    native: bool = False
    record: list[Message] = field(default_factory=list)
    full: list[Message] = field(default_factory=list)

    def turn(self, name: str, *steps: tuple[str, Mapping[str, Any], ToolResult], answer: str | None = "done") -> Spoken:
        self._both(Message(f"user_{name}", name, "user", f"question of {name}"))
        for number, (tool, arguments, result) in enumerate(steps, 1):
            call = Call(f"{name}_{number}", tool, arguments)
            written = f"Thought: step {number}\nAction: {tool}[{json.dumps(arguments)}]"
            said = Message(
                f"say_{name}_{number}",
                name,
                "assistant",
                f"step {number}" if self.native else written,
                Metadata(step=number, calls=(call,)),
            )
            self._both(said)
            ref = f"r_{name}_{number}"
            cut = compress(tool, result.envelope(), ref)
            self.record.append(result_message(said, call, json_line(cut), ref=ref))
            self.full.append(result_message(said, call, json_line(result.observation()), ref=ref))
        if answer is not None:
            step = len(steps) + 1
            said = f"Thought: enough\nAction: Finish[{answer}]"
            self._both(Message(f"say_{name}_{step}", name, "assistant", said, Metadata(step=step, answer=answer)))
        return self

    def _both(self, message: Message) -> None:
        self.record.append(message)
        self.full.append(message)
