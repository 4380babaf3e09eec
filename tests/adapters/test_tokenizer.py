"""Exact counts without a network."""

from __future__ import annotations

import pytest

from codelaw.adapters.tokenizer import load_counter


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),
        ("def total_price(self):\n    return 1\n", 10),
        ("服务器", 1),
        ("I'll don't 12345 ✓", 6),
        ("<|endoftext|>", 7),
    ],
)
async def test_counts_are_those_of_o200k_base(text: str, tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    count = await load_counter()
    assert count(text) == tokens
