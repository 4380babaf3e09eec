"""Which kept items go back (P-5)."""

from __future__ import annotations

from codelaw.agent.dialects.base import Binding
from codelaw.domain.messages import KeptItem, KeptItems
from codelaw.domain.models import ApiMessage, KeptBlock, ModelRequest, TextBlock

THOUGHT, SEARCH, FOUND = KeptItem("thought"), KeptItem("search", bound=False), KeptItem("found", bound=False)


def request(*kept: KeptBlock, question: str = "q") -> ModelRequest:
    said = ApiMessage("assistant", (*kept, TextBlock("a")))
    messages = (ApiMessage("user", (TextBlock(question),)), said, ApiMessage("user", (TextBlock("more"),)))
    return ModelRequest("model", (), messages, 100)


def kept(binding: Binding, items: tuple[KeptItem, ...], maker: str = "maker") -> tuple[KeptBlock, ...]:
    """Blocks of items that were made behind the question `q`."""
    asked = binding.bound(ModelRequest("model", (), (ApiMessage("user", (TextBlock("q"),)),), 100))
    group = KeptItems(maker, items, asked.prefix, asked.after)
    return tuple(KeptBlock(item, group) for item in items)


def sent(bound: ModelRequest) -> list[str]:
    return [block.item.body for message in bound.messages for block in message.blocks if isinstance(block, KeptBlock)]


def test_behind_an_edit_the_thinking_stays_out_and_what_the_makers_own_tools_found_stays():
    binding = Binding("maker", binds=True)
    blocks = kept(binding, (THOUGHT, SEARCH, FOUND))
    assert sent(binding.bound(request(*blocks))) == ["thought", "search", "found"]
    assert sent(binding.bound(request(*blocks, question="Q"))) == ["search", "found"]
    binding.refuse(request(*blocks))
    assert sent(binding.bound(request(*blocks))) == ["search", "found"]
    assert sent(Binding("another", binds=True).bound(request(*blocks))) == []


def test_what_stays_stands_in_front_of_what_is_made_behind_it():
    binding = Binding("maker", binds=True)
    found, other = (kept(binding, (SEARCH, item)) for item in (FOUND, KeptItem("found else", bound=False)))
    assert binding.bound(request(*found)).prefix != binding.bound(request(*other)).prefix
    assert binding.bound(request(*kept(binding, (THOUGHT,)))).prefix == binding.bound(request()).prefix
