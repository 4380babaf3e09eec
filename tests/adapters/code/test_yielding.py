"""The event loop gets its turn sooner while an index is made, and only then (X-5)."""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path

import pytest

from codelaw.adapters.code import yielding as module
from codelaw.adapters.code.index import WorkspaceIndex
from codelaw.adapters.code.yielding import MANY, SECONDS, spare, yielding
from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.domain.files import FileText, Located
from tests.fakes.desk import folder, make_desk


def test_the_last_one_puts_it_back() -> None:
    before = sys.getswitchinterval()
    one, two = yielding(), yielding()
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert sys.getswitchinterval() == pytest.approx(min(before, SECONDS))
    two.__exit__(None, None, None)
    assert sys.getswitchinterval() == before


def test_what_many_files_come_to_is_kept_from_the_collector_at_each_further_many() -> None:
    begun = module._Interpreter.spared + MANY
    kept: list[bool] = []
    for files in (begun - 1, begun, begun + MANY - 1, begun + MANY):
        made: list[object] = [object()]
        spare(files)
        kept.append(not any(one is made for one in gc.get_objects()))
    assert kept == [False, True, False, True]
    gc.unfreeze()


async def test_it_holds_while_files_are_read_and_no_longer(tmp_path: Path) -> None:
    before, seen = sys.getswitchinterval(), list[float]()

    class Reading(DiskWorkspace):
        async def read(self, located: Located) -> FileText:
            seen.append(sys.getswitchinterval())
            return await super().read(located)

    desk, index = make_desk(folder(tmp_path / "work")), WorkspaceIndex(tmp_path / "kept")
    desk.put("a.py", "def wanted():\n    pass\n")
    await index.search(Reading(desk.workspace.folders, desk.documents), "nothing_like_that")
    assert seen == [pytest.approx(SECONDS)]
    assert sys.getswitchinterval() == before
    running = asyncio.create_task(index.search(desk.workspace, "wanted"))
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])
    await index.close()
    assert sys.getswitchinterval() == before
