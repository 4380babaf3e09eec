"""The prompt cache: what is read, written, billed and forgotten, and what is said of a miss."""

from __future__ import annotations

from typing import Any

import pytest

from tests.loopback.cache import PromptCache

MODEL = "claude-sonnet-5-5"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def cache(clock: Clock) -> PromptCache:
    return PromptCache(clock=clock)


def text(name: str, ttl: str | None = None, tokens: int = 1000) -> dict[str, Any]:
    mark = {} if ttl is None else {"cache_control": {"type": "ephemeral", "ttl": ttl}}
    return {"type": "text", "text": name * 4 * tokens, **mark}


def asked(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": list(blocks)}], **more}


def spent(usage: dict[str, Any]) -> tuple[int, int, int, int]:
    """Thousands of tokens: read, written for 5 minutes, written for an hour, neither."""
    written = usage["cache_creation"]
    assert sum(written.values()) == usage["cache_creation_input_tokens"]
    counts = (usage["cache_read_input_tokens"], *(written[f"ephemeral_{ttl}_input_tokens"] for ttl in ("5m", "1h")))
    return tuple(round(count / 1000) for count in (*counts, usage["input_tokens"]))  # type: ignore[return-value]


def test_what_is_marked_is_written_and_read_while_it_lives(cache: PromptCache, clock: Clock) -> None:
    assert spent(cache.usage(asked(text("a", "5m"), text("b")), 1)) == (0, 1, 0, 1)
    clock.now = 299
    assert spent(cache.usage(asked(text("a", "5m"), text("c")), 1)) == (1, 0, 0, 1)
    clock.now = 598  # what was read lives on from there
    assert spent(cache.usage(asked(text("a", "5m"), text("c")), 1)) == (1, 0, 0, 1)
    clock.now = 899
    assert spent(cache.usage(asked(text("a", "5m")), 1)) == (0, 1, 0, 0)


@pytest.mark.parametrize(("between", "found"), [(19, True), (20, False)])
def test_the_look_back_has_twenty_positions(cache: PromptCache, between: int, found: bool) -> None:
    cache.usage(asked(text("a", "5m")), 1)
    more = [text("b", tokens=1) for _ in range(between - 1)]
    usage = cache.usage(asked(text("a"), *more, text("c", "5m")), 1)
    assert (usage["cache_read_input_tokens"] > 0) is found


@pytest.mark.parametrize(
    ("more", "read"),
    [
        ({}, 2),
        ({"max_tokens": 99}, 2),
        ({"thinking": {"type": "between_tools"}}, 1),
        ({"output_config": {"effort": "low"}}, 1),
        ({"tool_choice": {"type": "none"}}, 1),
        ({"system": [text("t", "5m")]}, 0),
        ({"tools": [{"name": "LS", "description": "d", "input_schema": {}}]}, 0),
        ({"model": "claude-opus-5-5"}, 0),
    ],
)
def test_what_makes_the_cache_another(cache: PromptCache, more: dict[str, Any], read: int) -> None:
    body = asked(text("a", "5m"), system=[text("s", "5m")])
    cache.usage(body, 1)
    assert spent(cache.usage({**body, **more}, 1))[0] == read
