"""Evidence recall of the retriever (B-4): `python benchmarks/recall.py locomo10.json [--model FOLDER] [--beam DIR]`.

LoCoMo (arXiv 2402.17753): ten long dialogues of short turns, 1,986 questions with the turns that answer them. BEAM
(arXiv 2510.27246): chats about code with long messages; DIR is its `chats/100K`. Neither may be handed on, so both are
paths. Every conversation is stored as a chat in one SQLite file, indexed, and asked through the index that the product
uses. The metric is LoCoMo's own: the share of a question's evidence that is among the first k messages, 1 for a
question without evidence; its mean over all questions.

Constants were chosen on `dev`: the first three dialogues of LoCoMo, and the chats of BEAM with even numbers; `held` is
the rest. Both speakers of a dialogue are people, so both are stored as users. `--model` is a folder of a
sentence-transformers model; its vectors are kept in `--keep FILE`, as embedding all takes long.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

DEPTHS = (5, 10, 25, 50)
CATEGORIES = {4: "single-hop", 1: "multi-hop", 2: "temporal", 3: "open-domain", 5: "adversarial"}


@dataclass
class Conversation:
    """A chat with its questions: text, category, ids of the evidence."""

    id: str
    dev: bool
    messages: list[tuple[str, str, str, float]]
    """Id, role, text, time."""
    questions: list[tuple[str, str, list[str]]]


def locomo(path: Path) -> Iterator[Conversation]:
    for number, sample in enumerate(json.loads(path.read_text("utf-8"))):
        spoken = sample["conversation"]
        sessions = sorted(int(key[8:]) for key in spoken if re.fullmatch(r"session_\d+", key))
        messages: list[tuple[str, str, str, float]] = []
        for session in sessions:
            began = datetime.strptime(spoken[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y").timestamp()  # noqa: DTZ007 - local, as days of messages are
            for place, turn in enumerate(spoken[f"session_{session}"]):
                text = f'{turn["speaker"]} said, "{turn["text"]}"'
                text += f" and shared {turn['blip_caption']}" if "blip_caption" in turn else ""
                messages.append((turn["dia_id"], "user", text, began + 30.0 * place))
        asked = [(item["question"], CATEGORIES[item["category"]], item.get("evidence") or []) for item in sample["qa"]]
        yield Conversation(f"locomo-{sample['sample_id']}", number < 3, messages, asked)


def beam(folder: Path) -> Iterator[Conversation]:
    for chat in sorted((item for item in folder.iterdir() if item.name.isdigit()), key=lambda item: int(item.name)):
        messages: list[tuple[str, str, str, float]] = []
        at = 0.0
        for batch in json.loads((chat / "chat.json").read_text("utf-8")):
            for message in (message for turn in batch["turns"] for message in turn):
                if message.get("time_anchor"):
                    at = datetime.strptime(message["time_anchor"], "%B-%d-%Y").replace(hour=9, tzinfo=UTC).timestamp()
                messages.append((str(message["id"]), message["role"], message["content"], at + 10.0 * len(messages)))
        ids = {message[0] for message in messages}
        asked: list[tuple[str, str, list[str]]] = []
        probing = json.loads((chat / "probing_questions" / "probing_questions.json").read_text("utf-8"))
        for category, items in probing.items():
            for item in items:
                evidence = sorted({str(one) for one in _numbers(item.get("source_chat_ids", []))} & ids)
                if evidence:
                    asked.append((item["question"], category, evidence))
        yield Conversation(f"beam-{chat.name}", int(chat.name) % 2 == 0, messages, asked)


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, str):
        yield from map(int, re.findall(r"\d+", value))
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _numbers(item)


async def fill(store: Any, conversation: Conversation) -> None:
    """Store a conversation as a chat, a turn for each message, unless it is there already."""
    from codelaw.domain.chats import Chat, StoredTurn
    from codelaw.domain.errors import Refusal
    from codelaw.domain.messages import Message

    chat_id = conversation.id
    try:
        await store.chat(chat_id)
    except Refusal:
        await store.create(Chat(chat_id, "", "panel", "agent", "m", "layered", 0.0, 0.0))
        for id_, role, text, at in conversation.messages:
            await store.begin_turn(
                StoredTurn(id_, chat_id, "running", store.owner, at), Message(id_, id_, cast("Any", role), text)
            )
            await store.end_turn(StoredTurn(id_, chat_id, "ended", store.owner, at))


async def embed(index: Any, embedder: Any, chat_id: str) -> None:
    while passages := await index.claim(embedder.name, chat_id, 64):
        vectors = await embedder.embed([passage.text for passage in passages])
        await index.store(embedder.name, [(one.id, vector) for one, vector in zip(passages, vectors, strict=True)])


Row = dict[int, float]


async def recalls(index: Any, conversation: Conversation, embedder: Any) -> tuple[list[tuple[str, Row]], float]:
    """For each question its category and recall at each depth; and seconds of all searches, embedding taken off."""
    rows: list[tuple[str, Row]] = []
    seconds = 0.0
    for question, category, evidence in conversation.questions:
        asked: dict[str, Any] = {}
        if embedder is not None:
            asked = {"embedder": embedder.name, "vector": (await embedder.embed([question]))[0]}
        began = time.perf_counter()
        hits = await index.search(conversation.id, question, limit=max(DEPTHS), **asked)
        seconds += time.perf_counter() - began
        found = [hit.message_id for hit in hits]
        row = {k: sum(one in found[:k] for one in evidence) / len(evidence) if evidence else 1.0 for k in DEPTHS}
        rows.append((category, row))
    return rows, seconds


def line(label: str, rows: Sequence[Row]) -> str:
    means = "  ".join(f"{100 * sum(row[k] for row in rows) / len(rows):5.1f}" for k in DEPTHS)
    return f"  {label:28} {means}   n={len(rows)}"


async def measure(title: str, index: Any, conversations: Sequence[Conversation], embedder: Any) -> None:
    by: dict[str, list[Row]] = defaultdict(list)
    seconds = 0.0
    for conversation in conversations:
        rows, spent = await recalls(index, conversation, embedder)
        seconds += spent
        for category, row in rows:
            by[category].append(row)
            by["dev" if conversation.dev else "held"].append(row)
            by["all"].append(row)
    print(f"\n{title}\n  {'recall at':28} " + "  ".join(f"{k:5}" for k in DEPTHS))
    parts = [name for name in ("all", "dev", "held") if by[name]]
    for name in (*parts, *(name for name in by if name not in {"all", "dev", "held"})):
        print(line(name, by[name]))
    print(f"  {1000 * seconds / len(by['all']):.1f} ms for a search", flush=True)


async def run(arguments: argparse.Namespace, folder: Path, embedder: Any = None) -> None:
    from codelaw.adapters.stores.index import SqlIndex
    from codelaw.adapters.stores.opening import SqliteStore

    store = await SqliteStore.open((arguments.keep or folder / "recall.db").resolve())
    index = SqlIndex(store.database)
    sets = {"LoCoMo": list(locomo(arguments.locomo))}
    if arguments.beam:
        sets["BEAM 100K"] = list(beam(arguments.beam))
    for name, conversations in sets.items():
        for conversation in conversations:
            await fill(store, conversation)
            while await index.index(conversation.id):
                pass
        await measure(f"{name}, words", index, conversations, None)
        if embedder is not None:
            for conversation in conversations:
                await embed(index, embedder, conversation.id)
            await measure(f"{name}, words and {embedder.name}", index, conversations, embedder)
    await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locomo", type=Path)
    parser.add_argument("--model", type=Path)
    parser.add_argument("--beam", type=Path)
    parser.add_argument("--keep", type=Path)
    arguments = parser.parse_args()
    embedder = None
    if arguments.model:
        from codelaw.adapters.embedders.local import LocalEmbedder

        embedder = LocalEmbedder(arguments.model)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(arguments, Path(folder), embedder))


if __name__ == "__main__":
    main()
