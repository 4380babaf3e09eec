"""What `store.url` may name."""

from __future__ import annotations

import asyncio
import os
import sys

import pytest

from codelaw.adapters.stores.opening import open_stores
from codelaw.domain.errors import Refusal
from tests.adapters.stores.suite import a_chat


@pytest.mark.parametrize("spelling", ["{}", "sqlite://{}", "sqlite:///{}"])
async def test_a_file_may_be_named_by_its_path_or_by_a_url(tmp_path, spelling):
    file = tmp_path / "a folder" / "team.db"
    for _ in range(2):
        named = str(file).replace(" ", "%20") if "sqlite" in spelling else file
        stores = await open_stores(spelling.format(named), tmp_path / "other.db")
        if _ == 0:
            await stores.chats.create(a_chat())
        assert await stores.chats.chat("c1") == a_chat()
        await stores.chats.close()
    assert file.exists()
    assert not (tmp_path / "other.db").exists()


@pytest.mark.parametrize("url", [None, ""])
async def test_without_a_url_chats_lie_in_the_users_own_file(tmp_path, url):
    stores = await open_stores(url, tmp_path / "own.db")
    await stores.chats.close()
    assert (tmp_path / "own.db").exists()


async def test_postgresql_is_opened_by_both_its_schemes(tmp_path, postgres_url):
    for url in (postgres_url, postgres_url.replace("postgresql:", "postgres:")):
        stores = await open_stores(url, tmp_path / "own.db")
        assert await stores.chats.list(None, 9, None) == ([], None)
        await stores.chats.close()
    assert not (tmp_path / "own.db").exists()


@pytest.mark.parametrize(
    "url",
    [
        "mysql://me:pg-SECRET@host/db", "relative.db", "sqlite://relative.db", "sqlite:/one", "sqlite:///", "sqlite:relative",
        "sqlite:///file.db?mode=pg-SECRET", "http://x", "postgres", "~/codelaw.db",
    ],
)  # fmt: skip
async def test_anything_else_is_refused_with_what_is_accepted(tmp_path, url):
    with pytest.raises(Refusal) as caught:
        await open_stores(url, tmp_path / "own.db")
    assert caught.value.code == "store_unavailable"
    assert "postgresql://" in caught.value.hint
    assert "sqlite:///" in caught.value.hint
    assert "SECRET" not in caught.value.message + caught.value.hint
    assert list(tmp_path.iterdir()) == []


WITHOUT = """
import asyncio, sys
from pathlib import Path
sys.modules["psycopg"] = None
from codelaw.adapters.stores.opening import open_stores
from codelaw.domain.errors import Refusal
try:
    asyncio.run(open_stores("postgresql://me:pg-SECRET@127.0.0.1:1/db", Path("own.db")))
except Refusal as refusal:
    print(refusal.code, refusal.message, refusal.hint)
"""


async def test_without_the_package_for_postgresql_it_is_named():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WITHOUT, stdout=asyncio.subprocess.PIPE, env=environment
    )
    reported = (await process.communicate())[0].decode()
    assert reported.startswith("store_unavailable")
    assert "-m pip install 'psycopg[binary]>=3.2'" in reported
    assert "SECRET" not in reported


async def test_a_file_of_another_kind_that_a_setting_names_is_left_alone(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("Dear diary,\n" * 900)
    before = file.read_bytes()
    with pytest.raises(Refusal) as refused:
        await open_stores(str(file), tmp_path / "own.db")
    assert (refused.value.code, "not a database" in refused.value.message) == ("store_unavailable", True)
    assert file.read_bytes() == before
    assert not list(tmp_path.glob("notes.txt.*"))


async def test_a_damaged_database_of_ours_that_a_setting_names_is_set_aside(tmp_path):
    file = tmp_path / "team.db"
    stores = await open_stores(str(file), tmp_path / "own.db")
    await stores.chats.close()
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))
    stores = await open_stores(str(file), tmp_path / "own.db")
    assert [notice.code for notice in stores.notices] == ["store_damaged"]
    assert any(tmp_path.glob("team.db.damaged-*"))
    await stores.chats.close()
