"""Chats that codelaw has stored, read without a server, and prompts that go on with one (B-9)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from codelaw.adapters.embedders.choosing import make_embedder
from codelaw.adapters.stores.opening import open_stores
from codelaw.agent.recall.question_vectors import Retrieved, Retriever
from codelaw.api.building import build_context
from codelaw.api.built import ApiMessage, BuiltContext
from codelaw.api.reading import SYSTEM, read
from codelaw.context.sections import action_text, user_texts
from codelaw.domain.chats import StoredChat, Strategy
from codelaw.domain.errors import Refusal
from codelaw.domain.messages import Message
from codelaw.domain.reports import Dropped
from codelaw.settings.effective import load_settings
from codelaw.settings.model import Settings
from codelaw.settings.places import home, process_environment, user_file
from codelaw.transcript.repair.hygiene import hygiene
from codelaw.transcript.transcript import Transcript, own

_FOUND = 50
"""Messages that a search gives at most."""
_SECONDS = 30.0
"""For the embedding of a question."""


@dataclass(frozen=True, slots=True)
class StoredConversation:
    """A chat as `build_context` takes one."""

    id: str
    title: str
    model: str
    strategy: Strategy
    messages: tuple[ApiMessage, ...]
    """Oldest first, the archived ones too; without the running turn and what a revert has withdrawn. Results of tools
    have the role `tool`, and are text as the assistant's calls are."""
    ids: tuple[str, ...]
    """Of the messages, in the store."""
    store: tuple[str | None, Path]
    """Where it was read: a URL, or a file."""
    summary: str = ""
    """Of the first `summarized` messages: what compactions have written, else the rolling summary; or empty."""
    summarized: int = 0


async def load_chat(
    chat_id: str, *, folder: str | Path | None = None, store_url: str | None = None
) -> StoredConversation:
    """A chat from the store; servers may use it at the same time, and nothing in it is changed.

    Args:
        chat_id: as `codelaw chats` lists it.
        folder: codelaw's data folder; by default `CODELAW_HOME`, or where codelaw keeps its data on this machine.
        store_url: as the setting `store.url`; by default what the environment and the user's own settings say, but
            not with a `folder`.

    Raises:
        Refusal: `chat_not_found`, or `store_unavailable`: there is no store, or it cannot be read.
    """
    store = await asyncio.to_thread(_place, folder, store_url)
    stores = await open_stores(*store)
    try:
        return _conversation(await stores.chats.load(chat_id), store)
    finally:
        await stores.chats.close()


def read_chat(chat_id: str, *, folder: str | Path | None = None, store_url: str | None = None) -> StoredConversation:
    """As `load_chat`, and waits for it; an event loop of the caller's stands still meanwhile."""
    return _done(load_chat(chat_id, folder=folder, store_url=store_url))


def build_context_for_request(
    messages: Sequence[ApiMessage],
    *,
    conversation_id: str | StoredConversation = "",
    model: str = "",
    context_strategy: Strategy | None = None,
    folder: str | Path | None = None,
    store_url: str | None = None,
    **options: Any,
) -> BuiltContext:
    """As `build_context`, for a request whose last message of the user is the current input.

    With the id of a stored chat, or the chat itself, that is what was said before, in the place of the request's own
    earlier messages; its summary is used, and its model and strategy where none are given. Spans are found in its
    index, by words and by the vectors of the embedder that the user's settings name (B-4, B-5); where that fails by
    words alone, and `dropped` says why. `folder` and `store_url` are those of `load_chat`.

    Raises:
        ValueError: there is no such message; and as `build_context`.
        Refusal: as `build_context` and `load_chat`.
    """
    spoken = [message for message in messages if message.get("role") not in SYSTEM]
    if not spoken or read(spoken)[-1].role != "user":
        raise ValueError("the last message must be the user's")
    if not conversation_id:
        return build_context(messages, spoken[-1], model=model, strategy=context_strategy or "auto", **options)
    chat = conversation_id
    if isinstance(chat, str):
        chat = read_chat(chat, folder=folder, store_url=store_url)
    search = _Search(chat)
    known: dict[str, Any] = {"summary": chat.summary, "summarized": chat.summarized, "search": search, **options}
    said = [*(one for one in messages if one.get("role") in SYSTEM), *chat.messages]
    built = build_context(
        said, spoken[-1], model=model or chat.model, strategy=context_strategy or chat.strategy, **known
    )
    return replace(built, dropped=(*built.dropped, *search.dropped))


@dataclass(slots=True)
class _Search:
    """The search of `build_context`, in the index of a stored chat."""

    chat: StoredConversation
    dropped: list[Dropped] = field(default_factory=list[Dropped])

    def __call__(self, question: str, older: Sequence[ApiMessage]) -> list[tuple[int, float]]:
        ids = {id(message): name for message, name in zip(self.chat.messages, self.chat.ids, strict=True)}
        places = {ids[id(message)]: place for place, message in enumerate(older)}
        found = _done(_found(self.chat, question, [name for name in self.chat.ids if name not in places]))
        if found.words_only:
            self.dropped.append(Dropped("vectors", f"found by words only: {found.words_only}"))
        return [(places[hit.message_id], hit.score) for hit in found.hits if hit.message_id in places]


async def _found(chat: StoredConversation, question: str, without: Sequence[str]) -> Retrieved:
    settings = await asyncio.to_thread(_settings)
    stores, embedder = await open_stores(*chat.store), make_embedder(**settings.embedding.model_dump(exclude={"code"}))
    try:
        retriever = Retriever(stores.index, embedder, _SECONDS)
        return await retriever.hits(chat.id, question, top_k=_FOUND, without=without)
    finally:
        await embedder.close()
        await stores.chats.close()


def _done(work: Coroutine[Any, Any, Any]) -> Any:
    """What comes of work that needs an event loop, which is none of the caller's."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, work).result()


def _settings() -> Settings:
    environment = process_environment()
    return load_settings(environ=environment, user_file=user_file(environment)).value


def _place(folder: str | Path | None, store_url: str | None) -> tuple[str | None, Path]:
    if store_url is None and folder is None:
        store_url = _settings().store.url
    path = Path(folder or home(process_environment())).expanduser() / "codelaw.db"
    if store_url is None and not path.is_file():
        hint = "Name codelaw's data folder, or the database of store.url."
        raise Refusal("store_unavailable", f"There is no store of chats in {path.parent}.", hint)
    return store_url, path


def _conversation(stored: StoredChat, store: tuple[str | None, Path]) -> StoredConversation:
    chat = stored.chat
    transcript = Transcript(
        tuple(one for one in own(stored.messages) if one.turn_id != chat.running),
        stored.checkpoints,
        withdrawn=stored.withdrawn,
        thread=stored.thread_summary,
    )
    clean, _ = hygiene(transcript.unwithdrawn)
    kept = [one for one in clean if one.role != "summary"]
    summary, covered = "", 0
    if transcript.summaries:
        archived = {one.id for one in transcript.messages[: transcript.cut]}
        summary = "\n\n".join(one.content for one in transcript.summaries)
        covered = sum(one.id in archived for one in kept)
    elif transcript.thread is not None:
        places = transcript.turns
        last = places.get(transcript.thread.covers, -1)
        summary = transcript.thread.text
        covered = sum(places.get(one.turn_id, last + 1) <= last for one in kept)
    return StoredConversation(
        chat.id,
        chat.title,
        chat.model,
        chat.strategy,
        messages=tuple(map(_api_message, kept)),
        ids=tuple(one.id for one in kept),
        store=store,
        summary=summary if covered else "",
        summarized=covered,
    )


def _api_message(message: Message) -> ApiMessage:
    match message.role:
        case "user":
            return {"role": "user", "content": "\n\n".join(user_texts(message))}
        case "tool":
            name = message.metadata.tool_name
            return {"role": "tool", "content": message.content, **({"name": name} if name else {})}
        case _:
            return {"role": "assistant", "content": action_text(message)}
