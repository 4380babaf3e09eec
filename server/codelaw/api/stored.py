"""A chat that codelaw has stored, read without a server (B-9)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from codelaw.adapters.stores.opening import open_stores
from codelaw.api.building import build_context
from codelaw.api.built import ApiMessage, BuiltContext
from codelaw.context.rendering import action_text, user_texts
from codelaw.domain.chats import StoredChat, Strategy
from codelaw.domain.errors import Refusal
from codelaw.domain.messages import Message
from codelaw.settings import home, load_settings, process_environment, user_file
from codelaw.transcript.repair.hygiene import hygiene
from codelaw.transcript.rounds import own
from codelaw.transcript.transcript import Transcript


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
    url, path = await asyncio.to_thread(_place, folder, store_url)
    stores = await open_stores(url, path)
    try:
        return _conversation(await stores.chats.load(chat_id))
    finally:
        await stores.chats.close()


def read_chat(chat_id: str, *, folder: str | Path | None = None, store_url: str | None = None) -> StoredConversation:
    """As `load_chat`, where no event loop runs.

    Raises:
        RuntimeError: one runs: await `load_chat` there.
        Refusal: as `load_chat`.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(load_chat(chat_id, folder=folder, store_url=store_url))
    raise RuntimeError("an event loop is running: await load_chat instead of read_chat")


def build_context_for_chat(
    conversation: StoredConversation,
    question: str | ApiMessage,
    *,
    model: str | None = None,
    strategy: Strategy | None = None,
    **options: Any,
) -> BuiltContext:
    """As `build_context` for a stored chat: with its messages and summary, and its model and strategy by default.

    Raises:
        Refusal: as `build_context`.
    """
    known: dict[str, Any] = {"summary": conversation.summary, "summarized": conversation.summarized}
    return build_context(
        conversation.messages,
        question,
        model=conversation.model if model is None else model,
        strategy=conversation.strategy if strategy is None else strategy,
        **(known | options),
    )


def _place(folder: str | Path | None, store_url: str | None) -> tuple[str | None, Path]:
    environment = process_environment()
    if store_url is None and folder is None:
        store_url = load_settings(environ=environment, user_file=user_file(environment)).value.store.url
    path = (Path(folder).expanduser() if folder is not None else home(environment)) / "codelaw.db"
    if store_url is None and not path.is_file():
        hint = "Name codelaw's data folder, or the database of store.url."
        raise Refusal("store_unavailable", f"There is no store of chats in {path.parent}.", hint)
    return store_url, path


def _conversation(stored: StoredChat) -> StoredConversation:
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
    messages = tuple(map(_api_message, kept))
    return StoredConversation(
        id=chat.id,
        title=chat.title,
        model=chat.model,
        strategy=chat.strategy,
        messages=messages,
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
