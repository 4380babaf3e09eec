"""To which embedder code is given (X-5)."""

from __future__ import annotations

import pytest

from codelaw.app.recall import may_embed
from codelaw.settings.model import Settings

HERE = "http://127.0.0.1:11434/v1"
THERE = "https://embeddings.example.org/v1"


@pytest.mark.parametrize(
    ("embedding", "given"),
    [
        ({}, False),
        ({"code": "any"}, False),
        ({"provider": "local", "path": "/m"}, True),
        ({"provider": "local", "path": "/m", "code": "off"}, False),
        ({"provider": "openai", "baseUrl": HERE}, True),
        ({"provider": "openai", "baseUrl": "http://localhost:1/v1"}, True),
        ({"provider": "openai", "baseUrl": HERE, "code": "off"}, False),
        ({"provider": "openai", "apiKey": "k"}, False),
        ({"provider": "openai", "baseUrl": THERE}, False),
        ({"provider": "openai", "baseUrl": "http://127.0.0.1.example.org/v1"}, False),
        ({"provider": "openai", "baseUrl": "http://[::1"}, False),
        ({"provider": "openai", "baseUrl": THERE, "code": "any"}, True),
    ],
)
def test_code_leaves_this_machine_only_where_the_user_says_so(embedding: dict[str, str], given: bool) -> None:
    assert may_embed(Settings.model_validate({"embedding": embedding})) is given
