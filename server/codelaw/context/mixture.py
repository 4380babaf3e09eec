"""What a view is made of, by kinds of text that tokenizers treat each in its own way (W-4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codelaw.context.sections import Section, image_tokens, message_texts
from codelaw.context.tokens import CALL_OVERHEAD, Kinds, kinds

KINDS = 4


@dataclass(frozen=True, slots=True)
class Mixture:
    """Estimated tokens by kind: prose, code, wide scripts, and what calls and pictures take besides text."""

    prose: float = 0.0
    code: float = 0.0
    wide: float = 0.0
    calls: float = 0.0

    @property
    def tokens(self) -> float:
        """All of it."""
        return self.prose + self.code + self.wide + self.calls

    @property
    def shares(self) -> tuple[float, ...]:
        """Each kind's part of the whole, which is more than nothing."""
        return tuple(part / self.tokens for part in (self.prose, self.code, self.wide, self.calls))


def mixture(sections: Sequence[Section]) -> Mixture:
    """Of the texts of sections as they are sent."""
    found: list[Kinds] = []
    calls = images = 0
    for section in sections:
        if not section.messages:
            found.append(kinds(section.content))
        for message in section.messages:
            found += map(kinds, message_texts(message))
            calls += len(message.metadata.calls)
            images += image_tokens(message)
    prose, code, wide = (sum(one[kind] for one in found) for kind in range(3))
    return Mixture(prose, code, wide, float(CALL_OVERHEAD * calls + images))
