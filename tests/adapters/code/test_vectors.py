"""Vectors of code, by an embedder behind real HTTP and by one in a folder (X-5)."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from codelaw.adapters.code.index import WorkspaceIndex
from codelaw.adapters.code.vectors import CodeVectors
from codelaw.adapters.embedders.hashing import HashingEmbedder
from codelaw.adapters.embedders.http import HttpEmbedder
from codelaw.domain.safety.redaction import Redaction
from codelaw.permissions.policy import denied_to
from codelaw.permissions.rules import parse
from codelaw.ports.memories import Embedder
from tests.fakes.desk import Desk, folder, make_desk
from tests.loopback.embeddings import Answer, LoopbackEmbeddings

FILES = {f"{name}.py": f"def {name}(job):\n    return job.state\n" for name in ("run", "walk", "draw")}
KEY = "sk-test-SECRET"
Made = Callable[[Embedder | None], WorkspaceIndex]


@pytest.fixture
async def vendor() -> AsyncIterator[LoopbackEmbeddings]:
    async with LoopbackEmbeddings() as made:
        yield made


@pytest.fixture
async def embedder(vendor: LoopbackEmbeddings) -> AsyncIterator[HttpEmbedder]:
    made = HttpEmbedder(vendor.url, KEY)
    yield made
    await made.close()


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Made]:
    opened: list[WorkspaceIndex] = []

    def made(embedder: Embedder | None) -> WorkspaceIndex:
        vectors = CodeVectors(Redaction({"hunter2hunter2": "a key"}))
        vectors.use(embedder, 10.0)
        opened.append(WorkspaceIndex(tmp_path / "kept", vectors=vectors))
        return opened[-1]

    yield made
    for one in opened:
        await one.close()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = make_desk(folder(tmp_path / "work"))
    for name, text in FILES.items():
        desk.put(name, text)
    return desk


async def test_a_piece_is_found_by_its_vector_though_no_word_of_the_question_stands_in_it(
    desk: Desk, make: Made, embedder: HttpEmbedder, vendor: LoopbackEmbeddings
) -> None:
    index = make(embedder)
    assert (await index.search(desk.workspace, "zzz")).places == ()
    await index.vectors.done()
    (nearest,) = [text for text in vendor.embedded if text.startswith("draw.py")]
    found = await index.search(desk.workspace, nearest)
    assert found.places[0].path == "draw.py"
    state = index.state()
    assert (state.embedder, state.embedded, state.chunks, state.note) == (embedder.name, 3, 3, "")


async def test_what_has_not_changed_keeps_its_vector_in_the_next_server_too(
    desk: Desk, make: Made, embedder: HttpEmbedder, vendor: LoopbackEmbeddings
) -> None:
    body = "\n".join(f"    call_{n}()" for n in range(12))
    desk.put("two.py", f"def one():\n{body}\n\n\ndef two():\n{body}\n")
    first = make(embedder)
    await first.search(desk.workspace, "state")
    await first.vectors.done()
    before = len(vendor.embedded)
    second = make(embedder)
    desk.documents.open(desk.root / "two.py", f"def one():\n{body}\n\n\ndef two():\n    changed()\n{body}\n")
    await second.search(desk.workspace, "state")
    await second.vectors.done()
    new = [text for text in vendor.embedded[before:] if text != "state"]
    assert len(new) == 1
    assert "changed()" in new[0]


async def test_no_embedder_gets_a_denied_file_or_a_known_key(
    desk: Desk, make: Made, embedder: HttpEmbedder, vendor: LoopbackEmbeddings
) -> None:
    desk.put("secret.py", "def secret():\n    return 1\n")
    desk.put("login.py", "PASSWORD = 'hunter2hunter2'\n")
    index = make(embedder)
    seen = desk.workspace.without(denied_to("Read", "reads", (parse("Read(secret.py)"),)))
    await index.search(seen, "state")
    await index.vectors.done()
    assert len(vendor.embedded) == 4
    assert not any("secret" in text or "hunter2" in text for text in vendor.embedded)


async def test_a_failure_is_told_and_costs_no_search(
    desk: Desk, make: Made, embedder: HttpEmbedder, vendor: LoopbackEmbeddings
) -> None:
    vendor.script = [Answer(status=401, error={"error": {"message": "no such key"}})]
    index = make(embedder)
    assert (await index.search(desk.workspace, "walk")).places[0].path == "walk.py"
    await index.vectors.done()
    assert "by its words alone" in (note := index.state().note)
    assert KEY not in note
    asked = len(vendor.requests)
    assert (await index.search(desk.workspace, "walk")).places[0].path == "walk.py"
    assert len(vendor.requests) == asked


@pytest.mark.parametrize("damage", ["numbers = 'text'", "digests = 7", "numbers = x'0000'", "numbers = zeroblob(0)"])
async def test_a_damaged_row_costs_no_search(
    tmp_path: Path, desk: Desk, make: Made, embedder: HttpEmbedder, damage: str
) -> None:
    first = make(embedder)
    await first.search(desk.workspace, "state")
    await first.vectors.done()
    (file,) = (tmp_path / "kept").glob("*.db")
    with sqlite3.connect(file) as kept:
        kept.execute(f"UPDATE vectors SET {damage} WHERE path = 'run.py'")
    kept.close()
    second = make(embedder)
    await second.search(desk.workspace, "state")
    await second.vectors.done()
    assert (await second.search(desk.workspace, "walk")).places[0].path == "walk.py"
    assert second.state().embedded == 3


async def test_a_file_that_is_gone_has_no_vectors_any_more(desk: Desk, make: Made) -> None:
    index = make(HashingEmbedder())
    await index.search(desk.workspace, "state")
    await index.vectors.done()
    (desk.root / "run.py").unlink()
    await index.search(desk.workspace, "state")
    await index.vectors.done()
    assert index.state().embedded == 2
