"""Errors as JSON-RPC spells them (V-2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
NOT_INITIALIZED = -32002
REQUEST_FAILED = -32803
REQUEST_CANCELLED = -32800


@dataclass(slots=True, eq=False)
class WireError(Exception):
    """An error to answer a request with."""

    code: int
    message: str
    data: Any = None

    def body(self) -> dict[str, Any]:
        """The `error` member of a response."""
        body: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            body["data"] = self.data
        return body


class ClientError(Exception):
    """The client answered a request of ours with an error, or with something that is not an answer."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data


class Disconnected(ClientError):
    """The connection ended before the client answered."""

    def __init__(self) -> None:
        super().__init__(REQUEST_CANCELLED, "the client is gone")


def refusal(code: str, message: str, hint: str = "") -> WireError:
    """A -32803 with its code and hint."""
    return WireError(REQUEST_FAILED, message, {"code": code, "message": message, "hint": hint})


def bad_params(errors: list[dict[str, str]]) -> WireError:
    """A -32602 that names the fields."""
    wrong = "; ".join(f"{error['path'] or 'params'}: {error['message']}" for error in errors[:3])
    return WireError(INVALID_PARAMS, f"Invalid params: {wrong}", {"errors": errors})


def internal_error() -> WireError:
    """What a client gets of a bug: nothing but that there was one."""
    message = "Internal error; the server's log has the details"
    return WireError(INTERNAL_ERROR, message, {"code": "internal_error", "message": message, "hint": ""})
