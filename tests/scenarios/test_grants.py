"""Permissions given for always over the real server: they belong to a person and a folder (S-1, S-8)."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from codelaw.adapters.stores.opening import Stores, open_stores
from codelaw.domain.permissions import Grant
from codelaw.settings.places import account_name
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.lsp.raw import RawClient, stdio
from tests.scenarios.conftest import act, finish
from tests.scenarios.test_approvals import APPROVAL, bash, decisions, option

Open = Callable[..., AbstractAsyncContextManager[RawClient]]
MAKE = "make all"


@pytest.fixture
def store_url() -> str | None:
    return None


@pytest.fixture
def work(vendor: LoopbackVendor, home: Path, server: list[str], store_url: str | None) -> Open:
    """Starts a server for somebody, in some folders, on the same store."""

    @asynccontextmanager
    async def started(*folders: Path, person: str = "ann") -> AsyncIterator[RawClient]:
        model = {"baseUrl": vendor.url, "apiKey": "sk-test-SECRET", "name": "claude-sonnet-4-5"}
        env = {**os.environ, "CODELAW_HOME": str(home), "LOGNAME": person}
        options: dict[str, Any] = {"model": model}
        if store_url is not None:
            options["store"] = {"url": store_url}
        async with stdio(server, env=env) as client:
            await client.initialize(None, folders=[*folders], options=options)
            client.answers[APPROVAL] = option("reject")
            yield client

    return started


@pytest.fixture
def projects(tmp_path: Path) -> tuple[Path, Path]:
    made = tmp_path / "one", tmp_path / "two"
    for project in made:
        project.mkdir()
        (project / "Makefile").write_text("all:\n\techo ran > ran.txt\n")
    return made


async def judged(client: RawClient, vendor: LoopbackVendor, *replies: VendorReply) -> list[str]:
    """Who decided about the calls of a new turn."""
    vendor.reset([*replies, VendorReply(text=finish("ok"))])
    sent = await client.request("codelaw/chat/send", {"text": "go"})
    assert sent["stopReason"] == "finished"
    return [f"{one['source']} {one['action']}" for one in decisions(client, sent["chatId"])]


async def give(client: RawClient, vendor: LoopbackVendor, *replies: VendorReply) -> list[dict[str, Any]]:
    """Allow these calls for always; gives the grants there are then."""
    client.answers[APPROVAL] = option("allow_always")
    await judged(client, vendor, *replies)
    client.answers[APPROVAL] = option("reject")
    return (await client.request("codelaw/permission/list", {}))["grants"]


def write(path: str) -> VendorReply:
    return VendorReply(text=act("Write", json.dumps({"path": path, "content": "x"})))


async def test_a_grant_of_one_project_does_not_count_in_another(
    work: Open, vendor: LoopbackVendor, projects: tuple[Path, Path]
):
    one, two = projects
    async with work(one) as client:
        [grant] = await give(client, vendor, bash(MAKE))
        expected = {"rule": "Bash(make all)", "scope": "always", "folder": str(one), "person": account_name()}
        assert {key: grant[key] for key in expected} == expected
        (one / "ran.txt").unlink()
    async with work(two) as client:
        assert await judged(client, vendor, bash(MAKE)) == ["user deny"]
        assert not (two / "ran.txt").exists()
        assert (await client.request("codelaw/permission/list", {}))["grants"] == [grant], "listed wherever one is"
    async with work(one) as client:
        assert await judged(client, vendor, bash(MAKE)) == ["grant allow"]
    assert (one / "ran.txt").exists()


async def test_a_folder_that_was_moved_asks_again_and_a_link_to_it_does_not(
    work: Open, vendor: LoopbackVendor, projects: tuple[Path, Path], tmp_path: Path
):
    one, two = projects
    link = tmp_path / "link"
    link.symlink_to(one)
    async with work(link) as client:
        [grant] = await give(client, vendor, bash(MAKE))
        assert grant["folder"] == str(one), "the real path"
    async with work(one) as client:
        assert await judged(client, vendor, bash(MAKE)) == ["grant allow"]
    link.unlink()
    link.symlink_to(two)
    async with work(link) as client:
        assert await judged(client, vendor, bash(MAKE)) == ["user deny"], "the link leads elsewhere now"
    moved = one.rename(tmp_path / "moved")
    async with work(moved) as client:
        assert await judged(client, vendor, bash(MAKE)) == ["user deny"]
    two.rename(one)
    async with work(one) as client:
        assert await judged(client, vendor, bash(MAKE)) == ["grant allow"], "the path is what was allowed"


async def test_a_grant_of_somebody_else_does_not_count_and_is_not_taken_back(
    work: Open, vendor: LoopbackVendor, projects: tuple[Path, Path], home: Path
):
    await others(work, vendor, projects[0], await open_stores(None, home / "codelaw.db"), "bob")


class TestInATeamsStore:
    @pytest.fixture
    def store_url(self, postgres_url: str) -> str:
        return postgres_url

    @pytest.mark.parametrize("other", ["bob", account_name(), f"{account_name()}@{16 * '0'}"])
    async def test_a_grant_of_somebody_else_does_not_count_whatever_their_name_is(
        self, work: Open, vendor: LoopbackVendor, projects: tuple[Path, Path], store_url: str, other: str
    ):
        await others(work, vendor, projects[0], await open_stores(store_url, projects[0]), other)


async def others(work: Open, vendor: LoopbackVendor, folder: Path, stores: Stores, other: str) -> None:
    theirs = Grant("theirs", "Bash(make all)", "always", str(folder), other)
    await stores.chats.add_grant(theirs)
    await stores.chats.close()
    # What a variable says of who somebody is counts for nothing.
    async with work(folder, person=other) as mine:
        assert await judged(mine, vendor, bash(MAKE)) == ["user deny"]
        assert (await mine.request("codelaw/permission/list", {}))["grants"] == []
        refused = await mine.error("codelaw/permission/revoke", {"id": "theirs"})
        assert refused.data["code"] == "grant_not_yours"
        assert other in str(refused.message)
        [grant] = await give(mine, vendor, bash(MAKE))
        assert await judged(mine, vendor, bash(MAKE)) == ["grant allow"]
        # Another server of hers takes it back, and the next turn of this one asks.
        async with work(folder) as again:
            await again.request("codelaw/permission/revoke", {"id": grant["id"]})
        assert await judged(mine, vendor, bash(MAKE)) == ["user deny"]
