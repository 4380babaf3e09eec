"""An endpoint on loopback that also answers at other paths than those of messages, as servers do that list models."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from tests.loopback.http import Received, send
from tests.loopback.server import LoopbackVendor


class Serving(LoopbackVendor):
    """A vendor that answers with `served` at their paths, with or without a key; what is asked there is `looked_up`."""

    def __init__(self, served: Mapping[str, Any] | None = None, **facts: Any) -> None:
        super().__init__(**facts)
        self.served = dict(served or {})
        self.pause = 0.0
        """Seconds before each of those answers."""
        self.looked_up: list[Received] = []

    async def answer(self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """As the vendor, unless it is served."""
        if not request.path.startswith(("/v1/messages", "/control/")):
            self.looked_up.append(request)
            await asyncio.sleep(self.pause)
            found = self.served.get(request.path)
            body = found(request) if callable(found) else found
            missing = {"error": {"message": "no such path"}}
            return await send(writer, 404 if body is None else 200, missing if body is None else body)
        return await super().answer(request, reader, writer)

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.looked_up]


def ollama(*names: str, running: Mapping[str, int] | None = None, num_ctx: int | None = None) -> dict[str, Any]:
    """What Ollama serves that has these models; `running` are those loaded, with their windows."""
    loaded = dict(running or {})

    def show(request: Received) -> Any:
        given = {"parameters": f'stop "<end>"\nnum_ctx {num_ctx}'} if num_ctx else {}
        facts = {"general.architecture": "qwen3", "qwen3.context_length": 262_144}
        return {"capabilities": ["completion", "tools", "thinking"], "model_info": facts, **given}

    def generate(request: Received) -> Any:
        loaded.update(dict.fromkeys(names, 4096))
        return {"done": True, "done_reason": "load"}

    return {
        "/v1/models": {"object": "list", "data": [{"id": one, "object": "model", "owned_by": "library"} for one in names]},
        "/api/ps": lambda _: {"models": [{"name": one, "context_length": size} for one, size in loaded.items()]},
        "/api/show": show,
        "/api/generate": generate,
    }  # fmt: skip
