"""Documents as no client should send them: nothing is guessed, and whatever is asked afterwards has its answer (V-2)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.loopback.script import VendorReply
from tests.loopback.server import LoopbackVendor
from tests.scenarios.conftest import Start, finish

WRONG: list[Any] = [None, True, 7, -1, 1.5, 2**70, [], {}, ["a"], {"a": 1}]
START = {"line": 0, "character": 0}
LINES = {"start": START, "end": {"line": 3, "character": 0}}


def wrong_items(uri: str) -> list[dict[str, Any]]:
    """Documents of which one field has the wrong type, or is missing."""
    item = {"uri": uri, "languageId": "python", "version": 1, "text": "opened"}
    whole = [{**item, name: wrong} for name in item for wrong in WRONG if name != "version" or type(wrong) is not int]
    return [*whole, *({key: value for key, value in item.items() if key != name} for name in item)]


def wrong_changes() -> list[Any]:
    """Content changes that change nothing."""
    places = [*({**START, name: wrong} for name in START for wrong in [*WRONG, "0"] if wrong != 7), {}, [], None, 5]
    ranges = [*({"start": place, "end": START} for place in places), *({"start": START, "end": one} for one in places)]
    changes: list[Any] = [{"range": span, "text": "x"} for span in [*ranges, {}, [], None, 5, "0:0"]]
    changes += [{"text": wrong} for wrong in WRONG] + [
        {"range": {"start": START, "end": START}, "text": 5},
        {},
        5,
        None,
    ]
    return [*changes, {"range": {"start": START, "end": START}}]


@pytest.mark.parametrize("language", [None, 5, ["python"], {}])
async def test_a_document_of_no_known_language_is_open_all_the_same(
    start: Start, vendor: LoopbackVendor, root: Path, language: Any
) -> None:
    (root / "a.py").write_text("on the disk\n")
    uri = (root / "a.py").as_uri()
    vendor.reset([VendorReply(text=finish("ok"), times=0)])
    async with start() as client:
        item = {"uri": uri, "languageId": language, "version": 1, "text": "in the editor\n"}
        await client.notify("textDocument/didOpen", {"textDocument": item})
        looking = {"uri": uri, "version": 1, "cursor": START, "visible": {"start": START, "end": START}}
        sent = {"text": "go", "editor": looking, "attachments": [{"uri": uri, "range": LINES}]}
        assert (await client.request("codelaw/chat/send", sent))["stopReason"] == "finished"
        assert "in the editor" in vendor.messages[0].body.decode()


async def test_what_is_wrong_in_a_notification_is_passed_over(start: Start, vendor: LoopbackVendor, root: Path) -> None:
    uris = [(root / name).as_uri() for name in ("a.py", "b.py")]
    vendor.reset([VendorReply(text=finish("ok"), times=0)])
    async with start() as client:
        await client.open(root / "a.py", "THEBUFFER\n")
        for item in wrong_items(uris[1]):
            await client.notify("textDocument/didOpen", {"textDocument": item})
        for version, change in enumerate(wrong_changes(), 2):
            named = {"uri": uris[0], "version": version}
            await client.notify("textDocument/didChange", {"textDocument": named, "contentChanges": [change]})
        for wrong, method in itertools.product(
            [*WRONG, "x"], ["didClose", "didSave", "willSave", "didOpen", "didChange"]
        ):
            for params in (wrong, {"textDocument": wrong}, {"textDocument": {"uri": wrong}}):
                await client.notify(f"textDocument/{method}", params)
        for at in ({"line": 2**31 - 1, "character": 2**31 - 1}, {"line": 0, "character": 2**31 - 1}):
            change = {"range": {"start": at, "end": START}, "text": ""}  # its end stands before its start
            named = {"uri": uris[1], "version": 9}
            await client.notify("textDocument/didChange", {"textDocument": named, "contentChanges": [change]})
        for uri in uris:
            looking = {"uri": uri, "cursor": START, "visible": {"start": START, "end": START}}
            sent = {"text": "go", "editor": looking, "attachments": [{"uri": uris[0], "range": LINES}]}
            assert (await client.request("codelaw/chat/send", sent))["stopReason"] == "finished"
        assert "THEBUFFER" in vendor.messages[0].body.decode()
        assert await client.shut_down() == 0
        assert client.process is not None
        assert "Traceback" not in client.process.stderr
