"""What is remembered for the chats of a session, and found again of what was said and of the code (B-4 to B-6, X-5)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from codelaw.adapters.code.commits import Commits
from codelaw.adapters.code.index import WorkspaceIndex
from codelaw.adapters.code.vectors import CodeVectors
from codelaw.adapters.embedders.choosing import make_embedder
from codelaw.adapters.workspace.projects import project_keys
from codelaw.agent.chat.retrieved_context import ContextRetriever, SpanLimits
from codelaw.agent.recall.embedding import Embedding
from codelaw.agent.recall.question_vectors import EmbedderInUse, Retriever, load_background, patience
from codelaw.agent.recall.remembering import ChatMemory, EmbeddingTasks, RecallLimits
from codelaw.agent.recording.history import Past
from codelaw.domain.memories import Places
from codelaw.domain.safety.hosts import is_this_machine, read_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from codelaw.agent.chat.chat import AgentChat
    from codelaw.domain.chats import Notice
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.memories import Embedder
    from codelaw.ports.store import Stores
    from codelaw.ports.workspace import Workspace
    from codelaw.settings.model import Settings


def code_index(home: Path, environment: Mapping[str, str], redaction: Redaction, *, trusted: bool) -> WorkspaceIndex:
    """The index, kept below `home`; git is run with that environment, in folders that are trusted."""
    commits = Commits(environment)
    commits.trusted = trusted
    return WorkspaceIndex(home / "code", commits, CodeVectors(redaction))


def embed_code(index: WorkspaceIndex, settings: Settings, embedder: Embedder) -> None:
    """Let the embedder make vectors of the code, where the settings want it."""
    index.vectors.use(embedder if may_embed(settings) else None, settings.memory.timeout_ms / 1000)


def may_embed(settings: Settings) -> bool:
    """Whether code is given to the embedder of the settings: a real model, on this machine unless the user says so."""
    chosen = settings.embedding
    match chosen.provider:
        case "hashing":
            return False  # it knows no more than the words that are searched for anyhow
        case "local":
            return chosen.code != "off"
        case "openai":
            return chosen.code == "any" or (chosen.code == "here" and _is_here(chosen.base_url))


def _is_here(url: str | None) -> bool:
    try:
        host = urlsplit(url or "").hostname
    except ValueError:
        return False
    return host is not None and is_this_machine(read_host(host))


class Recall:
    """The embedder of the settings in force, what it makes vectors of, and who asks for them."""

    def __init__(self, settings: Settings, workspace: Workspace, code: WorkspaceIndex, user: str) -> None:
        self._settings = settings
        self._workspace = workspace
        self._code = code
        self._user = user
        self._embedder = EmbedderInUse(make_embedder(**settings.embedding.model_dump(exclude={"code"})))
        self._retired: list[Embedder] = []
        """Embedders of earlier settings: they may be at work until the end."""
        self._attic = EmbeddingTasks()
        self.embedding: Embedding | None = None
        """None until the store is open."""
        embed_code(code, settings, self._embedder.now)

    def begin(self, stores: Stores, notify: Callable[[str, Notice], None]) -> None:
        """The store is open; `notify` is called with what a chat should know of its embedding."""
        self.embedding = Embedding(
            stores.index, stores.memories, self._embedder, notify, whose=self._owner(), shared=stores.shared
        )

    def _owner(self) -> str | None:
        """Whose memories are embedded; None while memory is switched off."""
        return self._user if self._settings.memory.enabled else None

    def reconfigure(self, settings: Settings) -> None:
        """Use the embedder that these settings name."""
        changed = settings.embedding != self._settings.embedding
        self._settings = settings
        if changed:
            self._retired.append(self._embedder.now)
            self._embedder.now = make_embedder(**settings.embedding.model_dump(exclude={"code"}))
        embed_code(self._code, settings, self._embedder.now)
        if self.embedding is not None:
            self.embedding.whose = self._owner()
            if changed:
                self.embedding.renew()

    def embed_later(self) -> None:
        """Let whatever waits be indexed and embedded in the background (B-5)."""
        if self.embedding is not None:
            self.embedding.kick(None)

    async def memory_of(self, stores: Stores, chat_id: str | None, settings: Settings | None = None) -> ChatMemory:
        """The memory of a chat, or of none, as the folders and the settings are now (B-6)."""
        projects = await asyncio.to_thread(project_keys, self._workspace.folders, self._user)
        chosen = (settings or self._settings).memory
        limits = RecallLimits(
            chosen.enabled, chosen.top_k, chosen.min_similarity, chosen.timeout_ms / 1000, chosen.category
        )
        return ChatMemory(
            store=stores.memories,
            embedder=self._embedder,
            places=Places(self._user, projects, chat_id),
            limits=limits,
            attic=self._attic,
        )

    async def gatherer(
        self, stores: Stores, agent: AgentChat | None, settings: Settings, memory: ChatMemory | None = None
    ) -> ContextRetriever:
        """Gathers what stands beside the questions of a chat, or of a new one (L-3); `memory` where it is known."""
        chosen = settings.retrieval
        limits = SpanLimits(chosen.top_k, chosen.radius, chosen.min_similarity, settings.memory.timeout_ms / 1000)
        if memory is None:
            memory = await self.memory_of(stores, agent.chat.id if agent is not None else None, settings)
        past = agent.past if agent is not None else Past("", stores.chats)
        retriever = Retriever(stores.index, self._embedder.now, patience(limits.seconds), memory.attic.questions)
        return ContextRetriever(past, memory, retriever, limits)

    async def warm(self, stores: Stores) -> None:
        """Load what looking for memories needs, where there are any: a first turn should not wait for it."""
        memory = await self.memory_of(stores, None)
        if self._settings.memory.enabled and (await memory.store.list(memory.places, None, None, 1, None))[0]:
            await asyncio.to_thread(load_background)

    async def stop(self) -> None:
        """Finish what goes on in the background; before the store is closed."""
        await asyncio.gather(self._attic.close(), *([self.embedding.close()] if self.embedding is not None else []))

    async def close(self) -> None:
        """Give back what the embedders hold."""
        for embedder in [*self._retired, self._embedder.now]:
            await embedder.close()
