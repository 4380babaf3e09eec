"""The Messages API's request body, spelled by hand.

The SDK walks every nested value of a request before it serialises it; a long chat pays for that at every step. Here a
message is spelled once and its bytes are kept for as long as the next request holds the same object.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from typing import cast

from codelaw.adapters.models.spelling import Images, SpeltMessages, as_bytes, base64_of, dump, quote
from codelaw.domain.media.images import Image
from codelaw.domain.models import (
    WEB_SEARCH,
    ApiMessage,
    Block,
    CallBlock,
    ImageBlock,
    KeptBlock,
    ModelRequest,
    ResultBlock,
    TextBlock,
    ToolSchema,
)

_UPDATES = "thinking-display-updates-2026-08-18"
_DIAGNOSIS = "cache-diagnosis-2026-04-07"
_FALLBACK = "server-side-fallback-2026-07-01"
_SHOWN = frozenset({"adaptive", "enabled"})
"""The kinds of thinking that may be shown."""
_UNKNOWN = re.compile(
    r"extra (?:inputs|fields)|not permitted|unknown|unrecogni[sz]ed|unexpected|anthropic-beta",
    re.IGNORECASE,
)
"""How endpoints say that they do not know a field."""
_LEAST_BUDGET = 1024
"""Tokens of the least that may be thought where a request says how much."""
_NONE: Mapping[str, bytes] = {}
_MARKS = {
    None: "",
    "5m": ',"cache_control":{"type":"ephemeral"}',
    "1h": ',"cache_control":{"type":"ephemeral","ttl":"1h"}',
}


def options(request: ModelRequest, without: Container[str] = ()) -> dict[str, object]:
    """What a request says beside its input, as far as it says anything; older endpoints may not know it."""
    fields: dict[str, object] = {
        "stop_sequences": request.stop_sequences,
        "thinking": _thinking(request, without),
        "output_config": request.effort and {"effort": request.effort},
        "diagnostics": None if request.previous is None else {"previous_message_id": request.previous or None},
        "fallbacks": request.fallbacks and "default",
    }
    return {name: value for name, value in fields.items() if value and name not in without}


def beta_headers(request: ModelRequest, without: Container[str] = ()) -> dict[str, str]:
    """The betas of the vendor that the fields of a request need."""
    fields = options(request, without)
    thinking = cast("Mapping[str, object]", fields.get("thinking", {}))
    needed = {
        _UPDATES: thinking.get("display") == "updates",
        _DIAGNOSIS: "diagnostics" in fields,
        _FALLBACK: "fallbacks" in fields,
    }
    betas = [beta for beta, is_needed in needed.items() if is_needed]
    return {"anthropic-beta": ",".join(betas)} if betas else {}


def unknown_fields(request: ModelRequest, words: str) -> frozenset[str]:
    """The fields of a refused request that are new, and that the endpoint says in its `words` not to know."""
    if not _UNKNOWN.search(words):
        return frozenset()
    if request.display is not None and "display" in words:
        return frozenset({"display"})
    named = {name for name in options(request) if name != "stop_sequences" and name in words}
    if "anthropic-beta" in words:
        named |= {"display", "diagnostics", "fallbacks"}
    return frozenset(named)


def _thinking(request: ModelRequest, without: Container[str]) -> dict[str, object] | None:
    """Its `display` and its budget where that kind of thinking takes them."""
    kind = request.thinking
    if kind not in _SHOWN:
        return None if kind is None else {"type": kind}
    shown = {} if request.display is None or "display" in without else {"display": request.display}
    if kind == "adaptive":
        return {"type": kind, **shown}
    # The answer needs room beside it, and there is a least of it.
    budget = max(_LEAST_BUDGET, request.max_tokens // 2)
    return {"type": kind, "budget_tokens": budget, **shown} if budget < request.max_tokens else None


class BodyWriter:
    """Writes bodies; remembers the messages of the previous one by identity. Equal requests give equal bytes."""

    def __init__(self) -> None:
        self._messages = SpeltMessages(_message)
        self._tools: tuple[tuple[ToolSchema, ...], bool, bytes] = ((), False, b"")

    def write(self, request: ModelRequest, without: Container[str] = ()) -> bytes:
        """The whole body, streaming asked for, of which a request for no output has none; `without` these fields."""
        parts = [f'{{"model":{quote(request.model)},"max_tokens":{request.max_tokens}'.encode()]
        parts += [b',"stream":true'] if request.max_tokens else []
        parts += [f",{quote(name)}:{dump(value)}".encode() for name, value in options(request, without).items()]
        return self._with_input(parts, request)

    def write_counted(self, request: ModelRequest) -> bytes:
        """The body of a question how many tokens the request's input has."""
        return self._with_input([f'{{"model":{quote(request.model)}'.encode()], request)

    def _with_input(self, parts: list[bytes], request: ModelRequest) -> bytes:
        if request.tools or request.searching:
            parts += (b',"tools":', self._tools_json(request.tools, searching=request.searching))
        if request.system:
            parts += (b',"system":[', as_bytes(",".join(map(_block, request.system))), b"]")
        return b"".join([*parts, b',"messages":[', b",".join(self._messages.of(request)), b"]}"])

    def _tools_json(self, tools: tuple[ToolSchema, ...], *, searching: bool) -> bytes:
        if self._tools[0] is not tools or self._tools[1] is not searching or not self._tools[2]:
            rows: list[Mapping[str, object]] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
                for tool in tools
            ]
            rows += [WEB_SEARCH] if searching else []
            self._tools = (tools, searching, as_bytes(dump(rows)))
        return self._tools[2]


def _message(message: ApiMessage, images: Images) -> str:
    blocks = ",".join(_block(block, images) for block in message.blocks)
    return f'{{"role":"{message.role}","content":[{blocks}]}}'


def _block(block: Block, images: Mapping[str, bytes] = _NONE) -> str:
    if isinstance(block, KeptBlock):
        return block.item.body
    mark = _MARKS[block.breakpoint]
    match block:
        case TextBlock(text):
            return f'{{"type":"text","text":{quote(text)}{mark}}}'
        case ImageBlock(image, instead):
            return _picture(image, instead, images, mark)
        case CallBlock(call):
            arguments = dump(dict(call.arguments))
            return f'{{"type":"tool_use","id":{quote(call.id)},"name":{quote(call.tool)},"input":{arguments}{mark}}}'
        case ResultBlock(call_id, text, is_error):
            error = ',"is_error":true' if is_error else ""
            content = quote(text)
            if block.images:
                shown = "".join(f",{_picture(image, block.instead, images)}" for image in block.images)
                content = f'[{{"type":"text","text":{content}}}{shown}]'
            return f'{{"type":"tool_result","tool_use_id":{quote(call_id)},"content":{content}{error}{mark}}}'


def _picture(image: Image, instead: str, images: Mapping[str, bytes], mark: str = "") -> str:
    """A picture, or the words in its place where its bytes are not sent."""
    content = images.get(image.digest)
    if content is None:
        return f'{{"type":"text","text":{quote(instead)}{mark}}}'
    data = base64_of(content)
    source = f'{{"type":"base64","media_type":{quote(image.media_type)},"data":"{data}"}}'
    return f'{{"type":"image","source":{source}{mark}}}'
