"""Several servers on one PostgreSQL database (D-4)."""

from __future__ import annotations

import asyncio
import threading

from codelaw.domain.checkpoints import Demotion
from tests.adapters.stores.suite import a_chat, a_checkpoint, said


async def test_a_chat_deleted_while_others_write_to_it_is_not_found_and_nothing_of_it_stays(open_store, behind):
    stores = [await open_store() for _ in range(3)]
    for round_ in range(10):
        await stores[0].create(a_chat())
        outcomes = await asyncio.gather(
            stores[0].append("c1", [said(f"m{round_}")]),
            stores[1].delete("c1"),
            stores[2].reshape("c1", 0, a_checkpoint(), [Demotion("m", "result")]),
            return_exceptions=True,
        )
        assert outcomes[1] is None
        for outcome in (outcomes[0], outcomes[2]):
            assert outcome in (None, 1) or getattr(outcome, "code", None) == "chat_not_found"
    assert behind("SELECT (SELECT count(*) FROM codelaw.messages) + (SELECT count(*) FROM codelaw.checkpoints)") == [
        (0,)
    ]


async def test_writers_of_one_chat_do_not_hold_up_those_of_another(open_store):
    first, second = await open_store(), await open_store()
    for id_ in ("c1", "c2"):
        await first.create(a_chat(id_))
    held, enough = threading.Event(), threading.Event()

    def slow(session):
        session.execute(f"SELECT 1 FROM chats WHERE id = 'c1'{session.row_lock}")
        held.set()
        enough.wait(150)

    holding = asyncio.ensure_future(first.database.write(slow))
    await asyncio.to_thread(held.wait, 150)
    await second.append("c2", [said("m")])
    waiting = asyncio.ensure_future(second.append("c1", [said("m")]))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    enough.set()
    await asyncio.gather(holding, waiting)


async def test_work_broken_off_by_a_deadlock_is_done_again(open_store):
    stores = [await open_store() for _ in range(2)]
    for id_ in ("c1", "c2"):
        await stores[0].create(a_chat(id_))
    both, tries = threading.Barrier(2), []

    def crosswise(first, second):
        def work(session):
            session.execute("UPDATE chats SET title = title || ? WHERE id = ?", (first, first))
            tries.append(first)
            if len(tries) <= 2:
                both.wait(150)
            session.execute("UPDATE chats SET title = title || ? WHERE id = ?", (first, second))

        return work

    await asyncio.gather(
        stores[0].database.write(crosswise("c1", "c2")), stores[1].database.write(crosswise("c2", "c1"))
    )
    assert len(tries) == 3
    for id_ in ("c1", "c2"):
        assert sorted([(await stores[0].chat(id_)).title[5:7], (await stores[0].chat(id_)).title[7:]]) == ["c1", "c2"]
