"""`workspace/executeCommand`: every method of ours under its name with dots, and the commands of actions and lenses."""

from __future__ import annotations

from typing import Any, cast

from codelaw.lsp.transport.errors import WireError, bad_params
from codelaw.protocol.names import COMMANDS, EDITOR_COMMANDS

KNOWN = COMMANDS | {name: name for name in EDITOR_COMMANDS}
"""What each command stands for: a method, or itself."""


def read_command(params: Any) -> tuple[str, Any]:
    """What a command stands for, and its params: the one argument, or `{}` without one.

    Raises:
        WireError: -32602 with the field's path.
    """
    if not isinstance(params, dict):
        raise bad_params([{"path": "", "message": "Input should be an object"}])
    body = cast("dict[str, Any]", params)
    name = body.get("command")
    if not isinstance(name, str) or name not in KNOWN:
        raise bad_params([{"path": "command", "message": f"No such command: {str(name)[:200]}"}])
    arguments: Any = body.get("arguments")
    if arguments is None:
        return KNOWN[name], {}
    if not isinstance(arguments, list) or len(cast("list[Any]", arguments)) > 1:
        raise bad_params([{"path": "arguments", "message": "Input should be an array with at most one object"}])
    values = cast("list[Any]", arguments)
    return KNOWN[name], values[0] if values else {}


def inside_arguments(error: WireError) -> WireError:
    """The same -32602 with its paths seen from the command's params."""
    data: Any = error.data
    errors: Any = data.get("errors") if isinstance(data, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(errors, list):
        return error
    moved: list[dict[str, str]] = []
    for item in cast("list[dict[str, str]]", errors):
        inner = item["path"]
        path = "arguments[0]" + (f".{inner}" if inner and not inner.startswith("[") else inner)
        moved.append({"path": path, "message": item["message"]})
    return bad_params(moved)
