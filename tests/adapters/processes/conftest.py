"""A workspace with a world around it, and sandboxes on it, for every test that runs commands."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.processes.sandbox import Sandbox, SandboxMeans
from tests.attacks.world import World, world

Fenced = Callable[..., Awaitable[tuple[Sandbox, SandboxMeans]]]


@pytest.fixture
def around(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path / "world") as made:
        yield made


@pytest.fixture
async def fenced(around: World) -> AsyncIterator[Fenced]:
    """Makes a sandbox of one kind on the workspace; the test is skipped where there is none."""
    made: list[Sandbox] = []

    async def one(kind: Any = "bubblewrap", **more: Any) -> tuple[Sandbox, SandboxMeans]:
        made.append(Sandbox(lambda: [around.ws], [around.own], around.environment, kinds=(kind,), **more))
        means = await made[-1].means()
        if means.kind is None:
            pytest.skip(means.detail)
        return made[-1], means

    yield one
    for sandbox in made:
        await sandbox.close()
