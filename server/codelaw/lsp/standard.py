"""Which function answers which method of LSP itself; their names stand in `abilities`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from codelaw.lsp.connection import Connection

Answer = Callable[["Connection", Any], Awaitable[Any]]
"""Takes lsprotocol's params and gives lsprotocol's result."""

ANSWERS: dict[str, Answer] = {}
