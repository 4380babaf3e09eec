"""The request body of Responses: a list of items, in which reasoning goes back as it came (P-4, P-5)."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from hashlib import sha256
from typing import Any

from codelaw.adapters.models.replies import word
from codelaw.adapters.models.spelling import Images, SpeltMessages, as_bytes, base64_of, dump, quote
from codelaw.domain.media.images import Image
from codelaw.domain.models import (
    ApiMessage,
    CallBlock,
    ImageBlock,
    KeptBlock,
    ModelRequest,
    ResultBlock,
    TextBlock,
    Ttl,
)

_LEAST_OUTPUT = 16
"""Tokens of the least that may be asked for."""
_MARKS: dict[Ttl | None, str] = {
    None: "",
    "5m": ',"prompt_cache_breakpoint":{"mode":"explicit"}',
    "1h": ',"prompt_cache_breakpoint":{"mode":"explicit","ttl":"12h"}',
}
_PLAIN = ("string", "integer", "number", "boolean")
_KNOWN = {"type", "description", "enum"}
_NEWER = {
    "prompt_cache_breakpoint": ("prompt_cache_breakpoint", "prompt_cache_options"),
    "prompt_cache_key": ("prompt_cache_key",),
    "include": ("'include", "Encrypted content is not supported"),
    "summary": ("reasoning.summary", "reasoning summaries"),
}
"""What some endpoints and older models do not take, and can be left out, with the words of their refusals."""
_ROLES = {"user": "user", "assistant": "assistant", "system": "developer"}


def learned(words: str) -> frozenset[str]:
    """The fields to leave out after a refusal in these words."""
    return frozenset(name for name, said in _NEWER.items() if any(word in words for word in said))


class ResponsesWriter:
    """Writes bodies. Equal requests give equal bytes."""

    def __init__(self) -> None:
        self._messages = SpeltMessages(_items)

    def write(self, request: ModelRequest, without: Container[str] = ()) -> bytes:
        """The whole body, `without` these newer fields. Nothing is stored, so that everything goes along.

        There are no stop sequences.
        """
        system = as_bytes(_said("developer", [_text(block) for block in request.system])) if request.system else b""
        messages = self._messages.of(request)
        thinks = request.thinking not in {None, "disabled"}
        reasoning = {
            "effort": "none" if request.thinking == "disabled" else request.effort,
            "summary": "summary" not in without and request.display and "auto",
        }
        fields: dict[str, object] = {
            "model": request.model,
            "max_output_tokens": max(_LEAST_OUTPUT, request.max_tokens),
            "stream": True,
            "store": False,
            # Requests that begin alike are sent to where their beginning is kept.
            "prompt_cache_key": sha256(b"".join([system, *messages[:1]])).hexdigest()[:32],
        }
        if any(reasoning.values()):
            fields["reasoning"] = {name: value for name, value in reasoning.items() if value}
        if thinks or request.effort is not None:
            fields["include"] = ["reasoning.encrypted_content"]
        if request.tools:
            fields["tools"] = [
                {
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                    "strict": _is_strict(tool.input_schema),
                }
                for tool in request.tools
            ]
        items = b",".join(filter(None, [system, *messages]))
        if "prompt_cache_breakpoint" in without:
            for mark in filter(None, _MARKS.values()):
                items = items.replace(mark.encode(), b"")  # which no text can hold, where each quote is escaped
        elif b',"prompt_cache_breakpoint":' in items:
            fields["prompt_cache_options"] = {"mode": "explicit"}  # the vendor puts none of its own beside ours
        said = {name: value for name, value in fields.items() if name not in without}
        return b"".join([as_bytes(dump(said))[:-1], b',"input":[', items, b"]}"])


def _is_strict(schema: Mapping[str, Any]) -> bool:
    """Whether the vendor can hold a model to it: every field must be there, and no other may."""
    fields: Mapping[str, Any] = schema.get("properties", {})
    plain = all(field.get("type") in _PLAIN and not field.keys() - _KNOWN for field in fields.values())
    return plain and schema.get("additionalProperties") is False and {*fields} == {*schema.get("required", ())}


def _items(message: ApiMessage, images: Images) -> str:
    return ",".join(_each(message, images))


def _each(message: ApiMessage, images: Images) -> Iterator[str]:
    """The items of a message; texts and pictures side by side are one, as long as they are of one phase."""
    parts: list[str] = []
    role, phase = _ROLES[message.role], ""
    for block in message.blocks:
        match block:
            case TextBlock() if message.role == "assistant":
                parts.append(f'{{"type":"output_text","text":{quote(block.text)},"annotations":[]}}')
                continue
            case TextBlock():
                parts.append(_text(block))
                continue
            case ImageBlock(image, instead):
                parts.append(_picture(image, instead, images, _MARKS[block.breakpoint]))
                continue
            case _:
                pass
        if parts:
            yield _said(role, parts, phase)
            parts, phase = [], ""
        match block:
            case KeptBlock(item):
                body = json.loads(item.body)
                if "content" in body or body.get("type") == "reasoning":
                    yield item.body
                phase = word(body.get("phase"))
            case CallBlock(call):
                arguments = quote(dump(dict(call.arguments)))
                yield (
                    f'{{"type":"function_call","call_id":{quote(call.id)},"name":{quote(call.tool)}'
                    f',"arguments":{arguments}}}'
                )
            case ResultBlock(call_id, text):
                shown = [_picture(image, block.instead, images) for image in block.images]
                output = ",".join([_text(TextBlock(text, block.breakpoint)), *shown])  # marked or not, it is a list
                yield f'{{"type":"function_call_output","call_id":{quote(call_id)},"output":[{output}]}}'
    if parts:
        yield _said(role, parts, phase)


def _said(role: str, parts: list[str], phase: str = "") -> str:
    told = f',"phase":{quote(phase)}' if phase else ""
    return f'{{"type":"message","role":"{role}"{told},"content":[{",".join(parts)}]}}'


def _text(block: TextBlock) -> str:
    return f'{{"type":"input_text","text":{quote(block.text)}{_MARKS[block.breakpoint]}}}'


def _picture(image: Image, instead: str, images: Images, mark: str = "") -> str:
    """A picture, or the words in its place where its bytes are not sent."""
    content = images.get(image.digest)
    if content is None:
        return f'{{"type":"input_text","text":{quote(instead)}{mark}}}'
    url = quote(f"data:{image.media_type};base64,{base64_of(content)}")
    return f'{{"type":"input_image","detail":"auto","image_url":{url}{mark}}}'
