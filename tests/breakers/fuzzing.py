"""Messages that nobody would send, made by chance: params near to their types and far from them, and no requests."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codelaw.lsp.methods.handlers import METHODS
from codelaw.protocol.names import COMMANDS, EDITOR_COMMANDS

DOCUMENT_METHODS = (
    "textDocument/hover", "textDocument/completion", "textDocument/codeAction", "textDocument/codeLens",
    "textDocument/documentSymbol", "textDocument/foldingRange", "workspace/textDocumentContent",
)  # fmt: skip
NOTIFICATIONS = (
    "textDocument/didOpen", "textDocument/didChange", "textDocument/didSave", "textDocument/didClose",
    "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles", "$/setTrace", "$/cancelRequest",
    "window/workDoneProgress/cancel", "no/such/notification",
)  # fmt: skip
WORDS = (
    "", "x", "a.txt", "../../etc/passwd", "/", "\0", "é😀", "\ud800", "\u2028", "agent", "panel", "full", "user", "{}", "null",
    "ASKCANARY1Z", "-1", "file:///", "codelaw-chat:/", "%00", "jsonrpc", "a" * 3_000,
)  # fmt: skip
NUMBERS = (0, 1, -1, 2, 1000, 1001, 2**31, 2**53, -(2**63), 2**63 - 1, 0.5, 1e300, -0.0)


class Chance:
    """Makes messages by a seed. `chats` and `turns` are ids that exist."""

    def __init__(self, seed: int, root: Path, chats: list[str], turns: list[str]) -> None:
        self.random = random.Random(seed)
        self.root, self.chats, self.turns = root, chats, turns
        self._count = 0
        self._schemas = {method: types.params.model_json_schema() for method, types in METHODS.items()}

    def message(self) -> dict[str, Any]:
        """A JSON-RPC message, or an object that is none; with an id of its own when one can be answered by it."""
        self._count += 1
        drawn = self.random.random()
        if drawn < 0.15:
            return {"jsonrpc": "2.0", "method": self.random.choice(NOTIFICATIONS), "params": self._document_params()}
        made: dict[str, Any] = {"jsonrpc": "2.0", "id": self.random.choice([f"é{self._count}", 2**40 + self._count])}
        made |= self._called(drawn)
        if self.random.random() < 0.06:
            made |= self.random.choice(
                [{"method": 7}, {"params": "x"}, {"params": [1, {}]}, {"jsonrpc": 2}, {"more": 1}]
            )
        return made

    def _called(self, drawn: float) -> dict[str, Any]:
        if drawn < 0.7:
            method = self.random.choice(list(METHODS))
            params = self._params(method)
            if method == "codelaw/chat/delete" and isinstance(params, dict) and params.get("chatId") in self.chats:
                params["chatId"] = "gone"  # what the others are about has to be there
            if self.random.random() < 0.8:
                return {"method": method, "params": params}
            return _command(method.replace("/", "."), params)
        if drawn < 0.85:
            return {"method": self.random.choice(DOCUMENT_METHODS), "params": self._document_params()}
        if drawn < 0.95:
            return _command(self.random.choice([*COMMANDS, *EDITOR_COMMANDS, "no.such.command"]), self.value())
        return {"method": self.random.choice(["initialize", "no/such/method", "", "$/unknown"]), "params": self.value()}

    def _params(self, method: str) -> Any:
        if self.random.random() < 0.1:
            return self.value()
        params = self._of(self._schemas[method], self._schemas[method])
        for name in [*params, self.random.choice(WORDS)] if isinstance(params, dict) else ():
            if self.random.random() < 0.08:
                params[name] = self.value()
        return params

    def _of(self, schema: Mapping[str, Any], whole: Mapping[str, Any], depth: int = 0) -> Any:
        """A value of that schema, nearly always."""
        if "$ref" in schema:
            return self._of(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, depth)
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        for name in ("anyOf", "oneOf"):
            if name in schema:
                return self._of(self.random.choice(schema[name]), whole, depth)
        match schema.get("type"):
            case "object":
                required = set(schema.get("required", ()))
                return {
                    name: self._named(name, inner, whole, depth)
                    for name, inner in schema.get("properties", {}).items()
                    if name in required or self.random.random() < 0.4
                }
            case "array":
                return [self._of(schema.get("items", {}), whole, depth + 1) for _ in range(self.random.randrange(3))]
            case "string":
                return self.random.choice(WORDS)
            case "integer" | "number":
                return self.random.choice([1, 5, 20, *NUMBERS])
            case "boolean":
                return self.random.random() < 0.5
            case "null":
                return None
            case _:
                return self.value(depth + 1)

    def _named(self, name: str, schema: Mapping[str, Any], whole: Mapping[str, Any], depth: int) -> Any:
        """Of some names a value that means something, more often than not."""
        known: dict[str, list[Any]] = {
            "chatId": self.chats,
            "turnId": self.turns,
            "beforeTurn": self.turns,
            "uri": [(self.root / name).as_uri() for name in ("a.txt", "b.txt", "c.chat.md")],
            "text": ["a plain question", "what of @a.txt?", *WORDS],
            "model": [None, "claude-sonnet-4-5"],
        }
        if name in known and self.random.random() < 0.8:
            return self.random.choice(known[name])
        return self._of(schema, whole, depth)

    def _document_params(self) -> Any:
        uri = self._named("uri", {"type": "string"}, {}, 0)
        place = {"line": self.random.choice([0, 7, 999, -1]), "character": self.random.choice([0, 3, 10**6])}
        ranges = {"start": place, "end": place}
        made: dict[str, Any] = {
            "textDocument": {"uri": uri, "version": self.random.randrange(9), "languageId": "text", "text": "words\n" * 20},
            "uri": uri, "position": place, "range": ranges, "context": {"diagnostics": []}, "value": "off",
            "id": self._count, "contentChanges": [{"range": ranges, "text": self.random.choice(WORDS)}], "token": "x",
            "settings": {}, "changes": [{"uri": uri, "type": 2}],
        }  # fmt: skip
        if self.random.random() < 0.4:
            made[self.random.choice(list(made))] = self.value()
        return made

    def value(self, depth: int = 0) -> Any:
        """Any JSON."""
        kind = self.random.randrange(8 if depth < 5 else 5)
        if kind < 5:
            return self.random.choice([None, True, False, *NUMBERS, *WORDS])
        if kind == 5:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        if kind == 6:
            return {self.random.choice(WORDS): self.value(depth + 1) for _ in range(self.random.randrange(4))}
        deep: Any = self.random.choice(WORDS)
        for _ in range(self.random.randrange(60)):
            deep = [deep] if self.random.random() < 0.5 else {"jsonrpc": deep}
        return deep


def _command(name: str, argument: Any) -> dict[str, Any]:
    return {"method": "workspace/executeCommand", "params": {"command": name, "arguments": [argument]}}


def spelled(message: dict[str, Any]) -> bytes:
    """As it goes over the wire; a lone surrogate is spelt as JSON can."""
    return json.dumps(message).encode()


BROKEN = (
    b"",
    b"not json",
    b'{"jsonrpc": "2.0", "id": ',
    b"\xff\xfe\x00",
    b"[]",
    b"null",
    b'"text"',
    b"[" * 5_000,
    b"{}",
)
"""Bodies that nothing can be answered to by an id."""
