"""What each strategy saves against sending everything, by the length of the chat, beside the table of S3 (B-1, B-3).

    savings.py

Chats of questions and answers, built by the public API for a model of 100 000 tokens; a summary takes 300 tokens. S3
gives no measures of its messages, so that theirs are one length here; only the number of them matters much.
"""

from __future__ import annotations

import random

from client import table

from codelaw.api import build_context
from codelaw.domain.chats import Strategy

WORDS = 40
SUMMARY = "plain " * 150
ROWS: tuple[tuple[str, range, Strategy, int, str], ...] = (
    ("< 20 messages", range(2, 20, 2), "full", 30, "0 %"),
    ("20-50, the newest 30", range(20, 51, 2), "last-n", 30, "40-60 %"),
    ("20-50, the newest 20", range(20, 51, 2), "last-n", 20, "40-60 %"),
    ("50-100", range(50, 101, 2), "summary+recent", 30, "60-80 %"),
    ("> 100, to 200", range(102, 201, 2), "span-retrieval", 30, "70-90 %"),
)


def chat(messages: int) -> list[dict[str, str]]:
    """A chat of that many messages about changing topics."""
    dice = random.Random(messages)
    topics = [f"topic{number}" for number in range(12)]
    return [
        {
            "role": "assistant" if place % 2 else "user",
            "content": " ".join([topics[place // 8 % 12], *(f"word{dice.randrange(400)}" for _ in range(WORDS))]),
        }
        for place in range(messages)
    ]


def saved(messages: int, strategy: Strategy, last: int) -> float:
    """The share of the chat that is not sent."""
    said = chat(messages)
    given = {"summary": SUMMARY, "summarized": messages - 20} if strategy == "summary+recent" else {}
    built = build_context(said, "What of topic3?", model="claude-3", strategy=strategy, last=last, **given)
    whole = build_context(said, "What of topic3?", model="claude-3", strategy="full").token_stats.recent_messages
    return 100 * built.token_stats.saved / whole


def main() -> None:
    rows: list[tuple[str, str, str]] = []
    for name, lengths, strategy, last, wanted in ROWS:
        shares = [saved(count, strategy, last) for count in lengths]
        mean = sum(shares) / len(shares)
        rows.append((f"{name}: {strategy}", f"{shares[0]:.0f}-{shares[-1]:.0f} %, mean {mean:.0f} %", wanted))
    table("Saved against sending the whole chat", rows)


if __name__ == "__main__":
    main()
