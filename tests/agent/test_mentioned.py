"""Mentions in a workspace of several folders: what they lead to, and what completes them (M-2, M-4)."""

from __future__ import annotations

from pathlib import Path

import pytest

from codelaw.domain.files import Folder
from tests.agent.conftest import Bench


@pytest.fixture
async def several(bench: Bench) -> Bench:
    """Two folders, the second named as the first with a number, because their own names are equal (V-4)."""
    other = bench.root.parent / "elsewhere" / bench.root.name
    for root in (bench.root, other):
        (root / "src").mkdir(parents=True)
        (root / "src" / "app.py").write_text("one = 1\n")
    (bench.root / "src" / "alone.py").write_text("")
    (other / "deep" / "below").mkdir(parents=True)
    (other / "deep" / "below" / "needle.py").write_text("")
    (other / ".env").write_text("KEY=1")
    folders = [("work", bench.root), ("work-2", other)]
    bench.session.set_folders([Folder(name, root, root.as_uri()) for name, root in folders])
    return bench


async def completed(bench: Bench, prefix: str, limit: int = 50) -> list[str]:
    found = await bench.session.mentions(prefix, limit)
    return [item.path for item in found if item.kind in {"file", "folder"}]


async def test_the_folders_and_what_is_in_them_come_from_the_first_character_on(several: Bench):
    every = ["work", "work-2", "work/src", "work-2/deep", "work-2/src"]
    assert await completed(several, "") == every
    assert await completed(several, "@") == every
    assert await completed(several, "w") == ["work", "work-2"]
    assert await completed(several, "", 3) == ["work"], "half is left for other mentions"


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("work/", ["work/src"]),
        ("work-2/", ["work-2/deep", "work-2/src"]),
        ("work/src/a", ["work/src/alone.py", "work/src/app.py"]),
        ("src/a", ["work/src/alone.py", "work/src/app.py", "work-2/src/app.py"]),
        ("deep/below/", ["work-2/deep/below/needle.py"]),
        ("s", ["work/src", "work-2/src"]),
        ("need", ["work-2/deep/below/needle.py"]),
        (".e", ["work-2/.env"]),
        ("nowhere/", []),
        ("../", []),
        ("/etc/", []),
        ("a\0b/", []),
    ],
)
async def test_a_path_is_completed_with_its_folder_and_without(several: Bench, prefix: str, found: list[str]):
    assert await completed(several, prefix) == found


async def test_what_must_not_be_read_is_not_offered(several: Bench):
    await several.reopen(permissions={"deny": ["Read(secrets/**)"]})
    (several.root / "secrets").mkdir()
    (several.root / "secrets" / "token.txt").write_text("")
    (several.root / "tokens.md").write_text("")
    assert await completed(several, "secrets/") == []
    assert await completed(several, "tok") == ["tokens.md"]


async def test_a_message_names_a_file_with_its_folder_or_without(several: Bench):
    several.vendor.reset([several.finish("ok", times=0)])
    await several.turn("看@src/alone.py和@work-2/src/app.pyを。")
    text = several.sent()["messages"][-1]["content"][0]["text"]
    assert "The user mentioned @work/src/alone.py, @work-2/src/app.py." in text
    started = several.kinds("turn_started")[-1]
    assert [(mention.path, mention.kind) for mention in started.mentions] == [
        ("work/src/alone.py", "file"),
        ("work-2/src/app.py", "file"),
    ]
    second: Path = several.root.parent / "elsewhere" / several.root.name / "src" / "app.py"
    assert started.mentions[1].uri == second.as_uri()
