"""A search in memory, by words, for who brings none of their own (B-4)."""

from __future__ import annotations

from collections.abc import Sequence

from codelaw.domain.messages import Message
from codelaw.domain.passages import Hit


def by_words(question: str, messages: Sequence[Message]) -> list[Hit]:
    """The messages that share words with a question, best first."""
    from codelaw.ranking.dates import tells_time  # noqa: PLC0415 - with numpy, which only a search needs
    from codelaw.ranking.passages import split  # noqa: PLC0415 - as above
    from codelaw.ranking.scoring import Frame, Said, rank  # noqa: PLC0415 - as above
    from codelaw.ranking.words import packed  # noqa: PLC0415 - as above

    said: list[Said] = []
    counts: list[int] = []
    passages: list[str] = []
    for message in messages:
        parts = split(message.content)
        if parts:
            said.append(Said(message.id, message.role, 0.0, tells_time(message.content)))
            counts.append(len(parts))
            passages += parts
    if not said:
        return []
    frame = Frame.empty().extended(said, counts, [*map(len, passages)], [*map(packed, passages)])
    return [Hit(one.id, one.score, one.similarity) for one in rank(frame, question)]
