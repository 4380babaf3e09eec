"""A store of memories in the computer's memory, and embedders, that hang, fail or are slow when they are told to."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from codelaw.domain.errors import Refusal
from codelaw.domain.memories import Candidate
from codelaw.memory.words import asked, fused, likeness


class Shelf:
    """A `MemoryStore` without vectors. `trouble` is raised by every method, after `seconds`."""

    def __init__(self, *entries):
        self.entries = {entry.id: entry for entry in entries}
        self.trouble = None
        self.seconds = 0.0
        self.calls = []
        self.running = 0

    async def _enter(self, name):
        self.calls.append(name)
        self.running += 1
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        if self.trouble is not None:
            raise self.trouble

    async def save(self, memory, *, embedder="", vector=None):
        await self._enter("save")
        self.entries[memory.id] = memory

    async def get(self, memory_id):
        await self._enter("get")
        if memory_id not in self.entries:
            raise Refusal("memory_not_found", "There is no such memory.")
        return self.entries[memory_id]

    async def forget(self, memory_id):
        await self._enter("forget")
        del self.entries[memory_id]

    async def list(self, places, scope, category, limit, cursor):
        await self._enter("list")
        return self._here(places)[:limit], None

    async def foremost(self, places, scope, categories, limit):
        await self._enter("foremost")
        fit = [entry for entry in self._here(places) if entry.scope == scope and entry.category in categories]
        return sorted(fit, key=lambda entry: (-entry.confidence, -entry.created_at))[:limit]

    async def candidates(self, places, question, *, embedder="", vector=None, category=None, limit=50):
        await self._enter("candidates" if vector is None else f"candidates by {embedder}")
        terms = asked(question)
        alike = [Candidate(entry, fused(likeness(terms, entry.text), None)) for entry in self._here(places)]
        alike = [one for one in alike if one.similarity and category in (None, one.memory.category)]
        return sorted(alike, key=lambda one: -one.similarity)[:limit]

    async def mark_used(self, memory_ids, at):
        await self._enter("mark_used")
        for memory_id in memory_ids:
            before = self.entries[memory_id]
            self.entries[memory_id] = replace(before, used_at=at, uses=before.uses + 1)

    async def unembedded(self, embedder, limit, user=None):
        return []

    async def store_vectors(self, embedder, vectors):
        pass

    def _here(self, places):
        owners = {"user": (places.user,), "project": places.projects, "session": (places.session,)}
        return [entry for entry in self.entries.values() if entry.belongs_to in owners[entry.scope]]


class Lens:
    """An `Embedder` of one dimension. `trouble` is raised after `seconds`; a `stubborn` one does not let itself be
    cancelled."""

    name = "lens"

    def __init__(self, seconds=0.0, trouble=None, *, stubborn=False):
        self.seconds = seconds
        self.trouble = trouble
        self.stubborn = stubborn
        self.asked = []
        self.running = 0

    async def embed(self, texts):
        self.asked += texts
        self.running += 1
        try:
            await self._look()
        finally:
            self.running -= 1
        if self.trouble is not None:
            raise self.trouble
        return [b"\0\0\x80\x3f"] * len(texts)

    async def close(self):
        pass

    async def _look(self):
        end = asyncio.get_running_loop().time() + self.seconds
        while (left := end - asyncio.get_running_loop().time()) > 0:
            try:
                await asyncio.sleep(left)
            except asyncio.CancelledError:
                if not self.stubborn:
                    raise
