"""Recorded sessions as our own messages, their results as our tools would have answered."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from codelaw.context.escaping import json_line
from codelaw.context.observations.text import shown
from codelaw.context.shortening.compressor import compress
from codelaw.domain.messages import Call, Message, Metadata

Rows = list[dict[str, Any]]

_ARROW = re.compile(r"^ *(\d+)→", re.MULTILINE)
"""In front of a file's line as the recorded agent was shown it."""


def kind_of(message: Message) -> str:
    if message.metadata.tool_name == "system":
        return "system"
    return {"user": "user", "assistant": "asst", "tool": "obs"}[message.role]


def messages_of(rows: Rows, *, as_text: bool) -> tuple[list[Message], list[Message]]:
    """The session's messages in the order of the simulator's blocks: as history keeps them, and in full.

    `as_text` is whether the model is shown results as text, as configured, or as JSON (C-7).
    """
    kept: list[Message] = []
    full: list[Message] = []
    steps: dict[int, Rows] = {}
    order: list[tuple[str, Any]] = []
    for row in rows:
        if row["role"] in ("tool", "assistant"):
            if row["step"] not in steps:
                steps[row["step"]] = []
                order.append(("step", row["step"]))
            steps[row["step"]].append(row)
        elif row["role"] in ("user", "system"):
            order.append((row["role"], row))
    for what, item in order:
        if what != "step":
            mark = Metadata(step=item["step"], tool_name="system" if what == "system" else None)
            both = Message(f"{what}{len(full)}", f"t{item['turn']}", "user", item.get("text", ""), mark)
            kept.append(both)
            full.append(both)
            continue
        group = steps[item]
        turn = f"t{group[0]['turn']}"
        thought = "\n".join(filter(None, [row.get("thought") or "" for row in group]))
        asked = [row for row in group if row["role"] == "tool"]
        calls = tuple(Call(f"c{item}_{number}", *_named(row)) for number, row in enumerate(asked))
        said = Message(f"say{item}", turn, "assistant", thought, Metadata(step=item, calls=calls))
        kept.append(said)
        full.append(said)
        for row, call in zip(asked, calls, strict=True):
            ref = f"r{len(full)}"
            envelope = envelope_of(call, row)
            facts = Metadata(step=item, tool_name=call.tool, call_id=call.id, ref=ref, as_text=as_text)
            whole = {name: value for name, value in envelope.items() if name != "context"}
            kept.append(
                Message(f"result_{call.id}", turn, "tool", json_line(compress(call.tool, envelope, ref)), facts)
            )
            full.append(Message(f"result_{call.id}", turn, "tool", json_line(whole), facts))
    return kept, full


def _named(row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A call in our tools' words."""
    arguments = row.get("args") or {}
    if not isinstance(arguments, dict):
        arguments = {"raw": arguments}
    tool = "Bash" if row["tool"] == "execute_bash" else str(row["tool"])
    return tool, {"path" if name == "file_path" else name: value for name, value in arguments.items()}


def envelope_of(call: Call, row: dict[str, Any]) -> dict[str, Any]:
    """A recorded result as our tool would have answered."""
    text, failed = row.get("result_text", ""), bool(row.get("is_error"))
    given = call.arguments
    lines = text.split("\n")
    path = given.get("path")
    match call.tool:
        case "Read":
            first = given.get("offset") or 1
            data = {"path": path, "start_line": first, "end_line": first + len(lines) - 1}
            data["content"] = _ARROW.sub(r"\1\t", text)
        case "Bash":
            data = {"command": given.get("command"), "exit_code": int(failed), "stdout": text, "stderr": ""}
        case "Grep":
            data = {"pattern": given.get("pattern"), "path": path, "total": len(lines), "matches": lines}
        case "Glob":
            data = {"pattern": given.get("pattern"), "total": len(lines), "files": lines}
        case "LS":
            data = {"path": path, "total": len(lines), "entries": lines}
        case "Edit" | "MultiEdit":
            data = {"path": path, "applied": True, "replacements": 1, "diff": text}
        case "Write":
            data = {"path": path, "applied": True, "diff": text}
        case "TodoWrite":
            data = {"recap": text[:200]}
        case _:
            data = {"text": text}
    envelope: dict[str, Any] = {"status": "success", "data": data, "text": ""}
    if failed:
        said = "The command ended with exit code 1." if call.tool == "Bash" else text
        body = data if call.tool == "Bash" else {}
        envelope = {"status": "error", "data": body, "text": "", "error": {"code": "EXECUTION_ERROR", "message": said}}
    return envelope | {"context": {"params_input": dict(given)}}


def texts(message: Message) -> list[str]:
    """What can be read in a message: an assistant's words and arguments, a result's text or strings."""
    if message.role == "assistant":
        written = [json.dumps(call.arguments, ensure_ascii=False) for call in message.metadata.calls]
        return [message.content, *written]
    if message.role == "user":
        return [message.content]
    return [shown(message)] if message.metadata.as_text else list(_strings(json.loads(message.content)))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def readable(message: Message) -> str:
    """A result as it is sent; JSON without its escapes, which the recorded texts do not have either."""
    line = shown(message)
    if message.metadata.as_text:
        return line
    for escaped, plain in (("\\n", "\n"), ("\\t", "\t"), ('\\"', '"'), ("\\\\", "\\")):
        line = line.replace(escaped, plain)
    return line
