"""The tours of ARCHITECTURE.md are the way through the code: a real server enters these files, and of their rooms no more."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.contracts.tours import tours
from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.loopback.summaries import Summariser
from tests.lsp.desk_editor import DeskEditor, editing
from tests.scenarios import entering
from tests.scenarios.conftest import Start, act, finish, starting

SERVER = Path(__file__).parents[2] / "server" / "codelaw"


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "entered.txt"


@pytest.fixture
def recorded(record: Path, vendor: LoopbackVendor, root: Path, home: Path) -> Start:
    """Starts a server that keeps the record."""
    return starting([sys.executable, entering.__file__, str(record), "serve", "--stdio"], vendor, root, home)


def says(tool: str, **arguments: str) -> VendorReply:
    return VendorReply(text=act(tool, json.dumps(arguments)))


def compare(title: str, record: Path) -> None:
    """Hold a tour against the files that were entered."""
    tour, entered = tours()[title], set(record.read_text("utf-8").split())
    unseen = [name for name in (*tour.files, *tour.beside) if name not in entered]
    assert [name for name in unseen if "def " in (SERVER / f"{name}.py").read_text("utf-8")] == []
    rooms = tuple(f"{room}/" for room in tour.rooms)
    untold = {name for name in entered if name.startswith(rooms)} - {*tour.files, *tour.beside}
    assert untold == set(), f"{title} enters these files, and ARCHITECTURE.md does not tell of them"


async def test_a_question(recorded: Start, record: Path, vendor: LoopbackVendor, root: Path):
    (root / "CODE_LAW.md").write_text("Be kind.\n")
    (root / "a.py").write_text("# one\n" * 600)
    vendor.play(says("Read", path="a.py"), VendorReply(text=finish("It is `a.py:1`.")))
    async with recorded() as client:
        result = await client.request("codelaw/chat/send", {"text": "What is in @a.py?"})
        assert (result["stopReason"], result["steps"]) == ("finished", 2)
    compare("a question", record)


async def test_an_edit_of_an_open_buffer(recorded: Start, record: Path, vendor: LoopbackVendor, root: Path):
    (root / "a.py").write_text("x = 1\n")
    vendor.play(
        says("Read", path="a.py"),
        says("Edit", path="a.py", old_string="y = 1", new_string="y = 2"),
        VendorReply(text=finish("Done.")),
    )
    async with recorded(editing()) as client:
        editor = DeskEditor(client)
        document = await editor.open(root / "a.py", "y = 1\n")
        await client.request("codelaw/chat/send", {"text": "Make it two."})
        assert document.text == "y = 2\n"
    compare("an edit of an open buffer", record)


async def test_a_compaction(start: Start, recorded: Start, record: Path, vendor: LoopbackVendor):
    """The rounds are had with a server that keeps no record."""
    vendor.summariser = Summariser("good")
    options = {"context": {"keepRounds": 4}}
    chat: dict[str, str] = {}
    async with start(options=options) as client:
        for number in range(8):
            vendor.play(VendorReply(text=finish(f"{number} {'plain words ' * 2000}"), chunk=4_000))
            result = await client.request("codelaw/chat/send", {"text": f"Question {number}"} | chat)
            chat = {"chatId": result["chatId"]}
    async with recorded(options=options) as client:
        report = await client.request("codelaw/context/compact", chat)
        assert (report["compacted"], report["summary"]) == (True, "model")
    compare("a compaction", record)
