"""The OpenAI embeddings API on loopback: real HTTP, strict about what it takes, with scripted faults.

    async with LoopbackEmbeddings([Answer(status=429, headers={"retry-after": "1"})]) as vendor: ... vendor.url

An answer of the script is used up by one request; without one every text gets its vector (`vector`).
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import math
import struct
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.loopback.http import LoopbackServer, Received, head_of, reset, send

Break = Literal["reset", "reset_in_body", "hang", "trickle"]


@dataclass(frozen=True, slots=True)
class Answer:
    """How one request is answered."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    error: Any = None
    """The body of an error answer; text is sent as it is."""
    broken: Break | None = None
    change: Callable[[list[dict[str, Any]]], Any] | None = None
    """Makes another `data` of the right one."""
    body: bytes | None = None
    wait: float = 0.0


@dataclass(slots=True)
class Asked:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: Any
    at: float

    @property
    def texts(self) -> list[str]:
        return self.body["input"]


class LoopbackEmbeddings(LoopbackServer):
    """The server; like OpenAI's it refuses blank texts, more than 2048 of them, and a wrong key."""

    def __init__(
        self,
        script: Sequence[Answer] = (),
        *,
        key: str | None = "sk-test-SECRET",
        dimension: int = 32,
        longest: int = 100_000,
        encoding: Literal["asked", "base64"] = "asked",
    ) -> None:
        super().__init__()
        self.script = list(script)
        self.key = key
        self.dimension = dimension
        self.longest = longest
        """Characters of a text that fit into the model's context."""
        self.encoding = encoding
        self.held: Callable[[Sequence[str]], Awaitable[object] | None] = lambda _: None
        """What texts wait for before they are answered."""
        self.requests: list[Asked] = []
        self.embedded: list[str] = []
        """Every text that got a vector, in order."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def answer(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; False ends the connection."""
        asked = Asked(request.path, request.headers, json.loads(request.body), asyncio.get_running_loop().time())
        self.requests.append(asked)
        answer = self.script.pop(0) if self.script else Answer()
        await asyncio.sleep(answer.wait)
        held = self.held(asked.texts)
        if held is not None:
            await held
        if answer.broken == "hang":
            await reader.read(1)
            return False
        if answer.broken == "reset":
            return await reset(writer)
        if answer.body is not None:
            return await send(writer, answer.status, answer.body, answer.headers)
        if answer.status != 200:
            body = answer.error if isinstance(answer.error, str) else json.dumps(answer.error or {})
            return await send(writer, answer.status, body.encode(), answer.headers)
        refused = self._refused(asked)
        if refused is not None:
            status, message, code = refused
            error = {"error": {"message": message, "type": "invalid_request_error", "code": code}}
            return await send(writer, status, error)
        size = asked.body.get("dimensions", self.dimension)
        data: Any = [
            {"object": "embedding", "index": place, "embedding": self._spelled(vector(text, size), asked.body)}
            for place, text in enumerate(asked.texts)
        ]
        if answer.change is not None:
            data = answer.change(data)
        else:
            self.embedded += asked.texts
        whole = {"object": "list", "data": data, "model": asked.body["model"], "usage": {"prompt_tokens": 1}}
        content = json.dumps(whole).encode()
        if answer.broken == "reset_in_body":
            writer.write(head_of(200, len(content)) + content[: len(content) // 2])
            return await reset(writer)
        if answer.broken == "trickle":
            writer.write(head_of(200, len(content)) + content[:10])
            await writer.drain()
            await reader.read(1)
            return False
        return await send(writer, 200, content)

    def _refused(self, asked: Asked) -> tuple[int, str, str] | None:
        if self.key is not None and asked.headers.get("authorization") != f"Bearer {self.key}":
            given = asked.headers.get("authorization", "").removeprefix("Bearer ")
            return 401, f"Incorrect API key provided: {given}.", "invalid_api_key"
        if asked.path != "/v1/embeddings":
            return 404, f"Invalid URL (POST {asked.path})", ""
        body = asked.body
        if set(body) - {"model", "input", "dimensions", "encoding_format"} or body.get("encoding_format") != "float":
            return 400, f"Unknown parameters: {sorted(body)}", ""
        if body["model"] == "no-such-model":
            return 404, "The model `no-such-model` does not exist", "model_not_found"
        texts = body["input"]
        if not isinstance(texts, list) or not 0 < len(texts) <= 2048 or not all(text.strip() for text in texts):
            return 400, "'$.input' is invalid.", ""
        if any(len(text) > self.longest for text in texts):
            message = "This model's maximum context length is 8192 tokens, however you requested more."
            return 400, message, "context_length_exceeded"
        return None

    def _spelled(self, numbers: list[float], body: dict[str, Any]) -> Any:
        if self.encoding == "base64":
            return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
        return numbers


def vector(text: str, size: int) -> list[float]:
    """What this server gives a text: of length 1, and different for different texts."""
    raw = [byte - 127.5 for byte in hashlib.shake_256(text.encode()).digest(size)]
    length = math.sqrt(sum(value * value for value in raw))
    return [value / length for value in raw]
