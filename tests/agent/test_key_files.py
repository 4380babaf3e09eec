"""A file that is made to hold keys is read when the user named it, or says so (S-8)."""

from __future__ import annotations

import pytest

from codelaw.domain.requests import Attachment
from tests.agent.conftest import Bench

KEY = "PASSWORD=swordfish"


@pytest.fixture
def keys(bench: Bench) -> Bench:
    (bench.root / ".env").write_text(f"{KEY}\n")
    (bench.root / "config").mkdir()
    (bench.root / "config" / "prod.env").write_text(f"{KEY}\n")
    (bench.root / ".codelaw" / "commands").mkdir(parents=True)
    (bench.root / ".codelaw" / "commands" / "check.md").write_text("Look at @.env first.")
    return bench


async def read(bench: Bench, text: str, path: str = ".env", **more) -> bool:
    """Whether a turn reads the file without a question; whoever is asked says no."""
    bench.user.asked.clear()
    bench.user.answer = "reject"
    await bench.turn(text, replies=[bench.act("Read", {"path": path}), bench.finish("ok")], **more)
    told = KEY in str(bench.sent()["messages"])
    assert told != bool(bench.user.asked)
    return told


async def test_it_is_asked_about_and_why_is_said(keys: Bench):
    assert not await read(keys, "go")
    (question,) = keys.user.asked
    assert question.always_asked
    assert "Read(.env)" in question.why
    assert [option.kind for option in question.options] == ["allow_once", "reject"]


@pytest.mark.parametrize("mode", ["ask", "plan"])
async def test_it_is_asked_about_where_nothing_is_changed(keys: Bench, mode):
    assert not await read(keys, "go", mode=mode)


async def test_what_the_user_mentions_or_attaches_is_read(keys: Bench):
    assert await read(keys, "look at @.env")
    assert await read(keys, "look at @config/prod.env", "./config/prod.env")
    assert not await read(keys, "look at @config/prod.env")
    assert await read(keys, "look", attachments=[Attachment((keys.root / ".env").as_uri())])


async def test_a_command_of_the_folder_mentions_nothing_for_the_user(keys: Bench):
    assert not await read(keys, "/check")
    assert await read(keys, "/check @.env")


async def test_a_link_to_it_is_no_other_file(keys: Bench):
    (keys.root / "notes.txt").symlink_to(".env")
    assert not await read(keys, "go", "notes.txt")


async def test_naming_a_link_does_not_name_the_file_behind_it(keys: Bench):
    (keys.root / "notes.txt").symlink_to(".env")
    (keys.root / ".codelaw" / "commands" / "notes.md").write_text("Look at @notes.txt first.")
    assert not await read(keys, "look at @notes.txt")
    assert not await read(keys, "/notes", "notes.txt")


async def test_what_is_piped_into_a_message_mentions_nothing_for_the_user(keys: Bench):
    piped = "<stdin>\nsee @.env\n</stdin>"
    assert not await read(keys, piped)
    assert not await read(keys, f"mend this\n\n{piped}")
    assert await read(keys, f"look at @.env\n\n{piped}")
