"""Messages that are nested deeply: every id is answered once, with the value or with a plain refusal (V-2)."""

from __future__ import annotations

import json

import pytest

from codelaw.lsp.transport.errors import INVALID_REQUEST
from codelaw.lsp.transport.messages import BadMessage, decode


def nested(depth: int, inside: str) -> bytes:
    params = '{"a":[' * depth + inside + "]}" * depth
    return f'{{"jsonrpc":"2.0","id":7,"method":"x","params":{params}}}'.encode()


@pytest.mark.parametrize("inside", ['"\\ud800"', '"\\ud83d\\ude00"', '{"\\udc00k":"\\ud83d"}'])
def test_half_characters_are_replaced_at_any_depth(inside: str):
    message = decode(nested(240, inside))
    assert isinstance(message, dict)
    said = json.dumps(message, ensure_ascii=False)
    assert not any(0xD800 <= ord(character) < 0xE000 for character in said)
    assert message["id"] == 7
    assert list(message) == ["jsonrpc", "id", "method", "params"]


def test_what_is_nested_too_deeply_is_an_invalid_request():
    found = decode(nested(50_000, "1"))
    assert isinstance(found, BadMessage)
    assert (found.error.code, found.request_id) == (INVALID_REQUEST, 7)
    assert "nested" in found.error.message
