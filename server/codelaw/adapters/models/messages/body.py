"""The Messages API's request body, spelled by hand.

The SDK walks every nested value of a request before it serialises it; a long chat pays for that at every step. Here a
message is spelled once and its bytes are kept for as long as the next request holds the same object.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Container, Mapping
from json.encoder import encode_basestring  # pyright: ignore[reportUnknownVariableType]
from typing import cast

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
    pictures_in,
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
_quote: Callable[[str], str] = encode_basestring
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
        self._messages: dict[int, tuple[ApiMessage, bytes, frozenset[str]]] = {}
        """By id each message, how it was spelt, and the pictures that were sent in it."""
        self._tools: tuple[tuple[ToolSchema, ...], bool, bytes] = ((), False, b"")

    def write(self, request: ModelRequest, without: Container[str] = ()) -> bytes:
        """The whole body, streaming asked for, of which a request for no output has none; `without` these fields."""
        parts = [f'{{"model":{_quote(request.model)},"max_tokens":{request.max_tokens}'.encode()]
        parts += [b',"stream":true'] if request.max_tokens else []
        parts += [f",{_quote(name)}:{_dump(value)}".encode() for name, value in options(request, without).items()]
        return self._with_input(parts, request)

    def write_counted(self, request: ModelRequest) -> bytes:
        """The body of a question how many tokens the request's input has."""
        return self._with_input([f'{{"model":{_quote(request.model)}'.encode()], request)

    def _with_input(self, parts: list[bytes], request: ModelRequest) -> bytes:
        if request.tools or request.searching:
            parts += (b',"tools":', self._tools_json(request.tools, searching=request.searching))
        if request.system:
            parts += (b',"system":[', _bytes(",".join(map(_block, request.system))), b"]")
        return b"".join([*parts, b',"messages":[', self._messages_json(request), b"]}"])

    def _messages_json(self, request: ModelRequest) -> bytes:
        known, messages, images = self._messages, request.messages, request.images
        current: dict[int, tuple[ApiMessage, bytes, frozenset[str]]] = {}
        sent = frozenset(images)
        for message in messages:
            key = id(message)
            entry = known.get(key)
            if entry is None or entry[0] is not message or entry[2] != (sent & _seen(message) if sent else frozenset()):
                entry = (message, _message(message, images), sent & _seen(message) if sent else frozenset[str]())
            current[key] = entry
        # The entries hold their messages, so no id can be taken over by another object while it is a key here.
        self._messages = current
        return b",".join([current[id(message)][1] for message in messages])

    def _tools_json(self, tools: tuple[ToolSchema, ...], *, searching: bool) -> bytes:
        if self._tools[0] is not tools or self._tools[1] is not searching or not self._tools[2]:
            rows: list[Mapping[str, object]] = [
                {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
                for tool in tools
            ]
            rows += [WEB_SEARCH] if searching else []
            self._tools = (tools, searching, _bytes(_dump(rows)))
        return self._tools[2]


def _seen(message: ApiMessage) -> frozenset[str]:
    return frozenset(image.digest for block in message.blocks for image in pictures_in(block))


def _message(message: ApiMessage, images: Mapping[str, bytes]) -> bytes:
    blocks = ",".join(_block(block, images) for block in message.blocks)
    return _bytes(f'{{"role":"{message.role}","content":[{blocks}]}}')


def _block(block: Block, images: Mapping[str, bytes] = _NONE) -> str:
    if isinstance(block, KeptBlock):
        return block.item.body
    mark = _MARKS[block.breakpoint]
    match block:
        case TextBlock(text):
            return f'{{"type":"text","text":{_quote(text)}{mark}}}'
        case ImageBlock(image, instead):
            return _picture(image, instead, images, mark)
        case CallBlock(call):
            arguments = _dump(dict(call.arguments))
            return f'{{"type":"tool_use","id":{_quote(call.id)},"name":{_quote(call.tool)},"input":{arguments}{mark}}}'
        case ResultBlock(call_id, text, is_error):
            error = ',"is_error":true' if is_error else ""
            content = _quote(text)
            if block.images:
                shown = "".join(f",{_picture(image, block.instead, images)}" for image in block.images)
                content = f'[{{"type":"text","text":{content}}}{shown}]'
            return f'{{"type":"tool_result","tool_use_id":{_quote(call_id)},"content":{content}{error}{mark}}}'


def _picture(image: Image, instead: str, images: Mapping[str, bytes], mark: str = "") -> str:
    """A picture, or the words in its place where its bytes are not sent."""
    content = images.get(image.digest)
    if content is None:
        return f'{{"type":"text","text":{_quote(instead)}{mark}}}'
    data = base64.b64encode(content).decode()
    source = f'{{"type":"base64","media_type":{_quote(image.media_type)},"data":"{data}"}}'
    return f'{{"type":"image","source":{source}{mark}}}'


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _bytes(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # A lone surrogate is not Unicode text; the vendor would refuse the whole body for it.
        return text.encode(errors="replace")
