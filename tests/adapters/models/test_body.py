"""The bytes of a request's messages, whichever way they are spelt (L-6)."""

from __future__ import annotations

import json

import pytest

from codelaw.adapters.models.anthropic_body import BodyWriter
from codelaw.domain.models import ApiMessage, ModelRequest, TextBlock

TEXTS = ["plain", "", 'quo"ted \\ \n\t\x00', "\N{EURO SIGN} \N{GRINNING FACE}", "half \ud800"]


@pytest.mark.parametrize("text", TEXTS)
def test_one_text_alone_is_spelt_as_among_others(text: str) -> None:
    def blocks(*given: TextBlock) -> list[dict[str, object]]:
        request = ModelRequest("m", (TextBlock("be good"),), (ApiMessage("user", given),), 100)
        return json.loads(BodyWriter().write(request))["messages"][0]["content"]

    alone, among = blocks(TextBlock(text)), blocks(TextBlock(text), TextBlock("more", breakpoint="5m"))
    assert alone == among[:1] == [{"type": "text", "text": text.replace("\ud800", "?")}]
    marked = blocks(TextBlock(text, breakpoint="5m"))
    assert marked == [alone[0] | {"cache_control": {"type": "ephemeral"}}]
