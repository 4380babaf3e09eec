"""Chat files in an editor that knows nothing of codelaw, over the real server (E-3)."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from codelaw.transcript.chat_file.chat_file import parse
from tests.lsp.pad import Pad, editing
from tests.lsp.raw import RawClient, RpcError
from tests.scenarios.conftest import Start, act, finish

Begin = Callable[..., AbstractAsyncContextManager[RawClient]]
LONG = "The answer is **long** 🦊 and goes on.\n\n```py\n## You\nprint(1)\n```\n\n" + "\n\n".join(
    f"Paragraph {number} of the answer, which is told in pieces." for number in range(12)
)


@pytest.fixture
def begin(start: Start, tmp_path: Path) -> Begin:
    """Starts a server whose model says what it is told to."""

    @asynccontextmanager
    async def begun(replies: list[dict[str, Any]], capabilities: Any = None) -> AsyncIterator[RawClient]:
        script = tmp_path / "script.json"
        script.write_text(json.dumps({"replies": replies}))
        model = {"provider": "scripted", "script": str(script)}
        async with start(capabilities or editing(), {"model": model}) as client:
            yield client

    return begun


def uri_of(root: Path, name: str = "talk.chat.md") -> str:
    return (root / name).as_uri()


async def test_a_question_is_answered_below_it_and_the_next_one_goes_to_the_same_chat(begin: Begin, root: Path):
    (root / "a.py").write_text("x = 1\n")
    replies = [
        {"text": act("Read", '{"path": "a.py"}')},
        {"text": finish(LONG), "chunk": 40, "delay": 0.05},
        {"text": finish("Second.")},
    ]
    async with begin(replies) as client:
        pad = Pad(client, uri_of(root), "# Notes of mine\n\n## You\n\nWhat is in @a.py?\n")
        await pad.show()
        begun = await pad.send()
        text = await pad.ended()
        assert text.startswith(f"<!-- codelaw chat {begun['chatId']} -->\n\n# Notes of mine\n\n## You\n\nWhat is in")
        assert f"## codelaw <!-- turn {begun['turnId']} -->\n\n> - Read a.py" in text
        assert f"\n\n{LONG}\n\n<!-- /turn {begun['turnId']} -->\n\n## You\n" in text
        assert 3 <= len(pad.edits) <= 12, "in pieces, and not in too many"

        await pad.type("And now?")
        again = await pad.send()
        assert again["chatId"] == begun["chatId"]
        text = await pad.ended(2)
        assert [block.id for block in parse(text).blocks] == [begun["turnId"], again["turnId"]]
        assert "Second." in text
        record = await client.request("codelaw/chat/read", {"chatId": begun["chatId"]})
        asked = [message["content"] for message in record["messages"] if message["role"] == "user"]
        assert asked[0].startswith("What is in @a.py?")
        assert asked[1] == "And now?"


@pytest.mark.parametrize(("encoding", "ending"), [("utf-8", "\n"), ("utf-16", "\r\n"), ("utf-32", "\r\n")])
async def test_places_and_line_ends_are_those_of_the_editor(begin: Begin, root: Path, encoding: str, ending: str):
    replies = [{"text": finish("Fuchs 🦊 𝄞\n\nund é"), "chunk": 3, "delay": 0.01}]
    async with begin(replies, editing(encoding)) as client:
        pad = Pad(client, uri_of(root), f"## You{ending}{ending}🦊🦊 wer ist das? 𝄞", encoding=encoding)
        await pad.show()
        await pad.send()
        text = await pad.ended()
        assert f"🦊🦊 wer ist das? 𝄞{ending}{ending}## codelaw" in text
        assert f"Fuchs 🦊 𝄞{ending}{ending}und é{ending}{ending}<!-- /turn" in text
        assert ("\n" in text.replace("\r\n", "")) == (ending == "\n")


@pytest.mark.parametrize("seed", range(4))
async def test_no_keystroke_is_lost_while_an_answer_streams(begin: Begin, root: Path, seed: int):
    chance = random.Random(seed)
    replies = [{"text": finish(LONG), "chunk": 12, "delay": 0.02}]
    async with begin(replies, editing(pinned=seed % 2 == 0)) as client:
        pad = Pad(client, uri_of(root), "Intro 0.\n\n## You\n\nTell me.\n")
        await pad.show()
        await pad.send()
        typed = []
        for number in range(25):
            word = f"<{number}>"
            await asyncio.sleep(chance.uniform(0, 0.12))
            if chance.random() < 0.5:
                await pad.type(f" {word}", after="Intro 0.")
            else:
                await pad.type(f"{word} ")
            typed.append(word)
        text = await pad.ended()
        assert all(text.count(word) == 1 for word in typed)
        assert LONG in text
        block = parse(text).blocks[0]
        assert not any(word in text[block.start : block.end] for word in typed)
        question = parse(text).question
        assert question is not None
        assert question.text.startswith("<")


async def test_what_is_typed_into_the_answer_stays_and_the_rest_comes_at_the_end(begin: Begin, root: Path):
    replies = [{"text": finish(LONG), "chunk": 12, "delay": 0.02}]
    async with begin(replies) as client:
        pad = Pad(client, uri_of(root), "Tell me.")
        await pad.show()
        await pad.send()
        await pad.until("Paragraph 1 ")
        await pad.type("MINE ", after="The answer is ")
        await pad.delete("goes on.")
        edits = len(pad.edits)
        text = await pad.ended()
        assert "The answer is MINE **long** 🦊 and \n" in text
        assert all(f"Paragraph {number} " in text for number in range(12))
        assert len(pad.edits) <= edits + 2


async def test_an_editor_that_takes_no_edit_is_shown_the_answer(begin: Begin, root: Path):
    async with begin([{"text": finish("Shown elsewhere.")}], {"window": {"showDocument": {"support": True}}}) as client:
        pad = Pad(client, uri_of(root), "Tell me.")
        shown: list[str] = []
        client.answers["window/showDocument"] = lambda params: shown.append(params["uri"]) or {"success": True}
        await pad.show()
        begun = await pad.send()
        async with asyncio.timeout(150):
            while not shown:
                await asyncio.sleep(0.01)
        assert "Shown elsewhere." in Path(shown[0].removeprefix("file://")).read_text()
        assert pad.edits == []
        await pad.type("\n\n## You\n\nMore")
        again = await pad.send()
        assert again["chatId"] == begun["chatId"], "the chat of an unmarked file is remembered"


async def test_a_file_is_filled_in_by_another_server(begin: Begin, root: Path):
    replies = [{"text": finish(LONG), "chunk": 12, "delay": 0.02}, {"text": finish("Later.")}]
    async with begin(replies) as client:
        pad = Pad(client, uri_of(root), "Tell me.")
        await pad.show()
        begun = await pad.send()
        early = await pad.until("Paragraph 2 ")
        await pad.hide()
        async with asyncio.timeout(150):
            while (await client.request("codelaw/chat/read", {"chatId": begun["chatId"]}))["running"]:
                await asyncio.sleep(0.05)
    async with begin([{"text": finish("Later.")}]) as client:
        pad = Pad(client, uri_of(root), early.replace("The answer is", "The answer (see me) is"))
        await pad.show()
        text = await pad.ended()
        assert "The answer (see me) is" in text
        assert "Paragraph 11 of the answer" in text
        await pad.type("And then?")
        assert (await pad.send())["chatId"] == begun["chatId"]
        assert "Later." in await pad.ended(2)
    async with begin([]) as client:
        untouched = Pad(client, uri_of(root), "Tell me.")
        await untouched.show()
        other = Pad(client, uri_of(root), f"<!-- codelaw chat {begun['chatId']} -->\n\nTell me.\n")
        await other.show()
        text = await other.until("Paragraph 11 ")
        assert begun["turnId"] in text, "a turn that was never saved is put in whole"
        assert untouched.text == "Tell me."


async def test_a_copy_begins_a_chat_of_its_own_and_a_moved_file_goes_on(begin: Begin, root: Path):
    replies = [{"text": finish(f"Answer {number}.")} for number in range(4)]
    async with begin(replies) as client:
        pad = Pad(client, uri_of(root), "One?")
        await pad.show()
        begun = await pad.send()
        text = await pad.ended()
        (root / "talk.chat.md").write_text(text)
        await pad.hide()

        copy = Pad(client, uri_of(root, "copy.chat.md"), text + "Two?")
        await copy.show()
        second = await copy.send()
        assert second["chatId"] != begun["chatId"]
        text = await copy.ended(2)
        assert "This file is a copy" in text
        assert parse(text).chat_id == second["chatId"]
        assert begun["chatId"] not in text
        await copy.hide()

        (root / "talk.chat.md").rename(root / "moved.chat.md")
        moved = Pad(client, uri_of(root, "moved.chat.md"), (root / "moved.chat.md").read_text() + "Three?")
        await moved.show()
        assert (await moved.send())["chatId"] == begun["chatId"]
        await moved.ended(2)


async def test_an_unknown_chat_becomes_a_new_one_which_says_so(begin: Begin, root: Path):
    async with begin([{"text": finish("Hello.")}]) as client:
        pad = Pad(client, uri_of(root), "<!-- codelaw chat 0123456789ab -->\n\n## You\n\nOne?")
        await pad.show()
        begun = await pad.send()
        text = await pad.ended()
        assert text.startswith(f"<!-- codelaw chat {begun['chatId']} -->\n")
        assert "> - **Warning:** The chat 0123456789ab is not known here" in text


async def test_what_cannot_be_sent_is_refused_in_words(begin: Begin, root: Path):
    replies = [{"text": finish(LONG), "chunk": 4, "delay": 0.05}]
    async with begin(replies) as client:
        pad = Pad(client, uri_of(root), "# Title\n\n## You\n\n")
        await pad.show()
        # A title alone is not a question: there is a heading for one.
        with pytest.raises(RpcError, match="no question") as refused:
            await pad.send()
        assert refused.value.data["code"] == "invalid_text"
        with pytest.raises(RpcError, match="not an open chat file"):
            await client.command("codelaw.chatFile.send", {"uri": uri_of(root, "other.chat.md")})
        await pad.type("One?")
        results = await asyncio.gather(pad.send(), pad.send(), return_exceptions=True)
        (lost,) = [result for result in results if isinstance(result, RpcError)]
        assert lost.data["code"] == "chat_busy"
        await pad.until("Paragraph 0")
        assert await client.command("codelaw.chatFile.stop", {"uri": pad.uri}) == {"cancelled": True}
        text = await pad.ended()
        assert "> - **Stopped.**" in text
        assert await client.command("codelaw.chatFile.stop", {"uri": pad.uri}) == {"cancelled": False}


async def test_lenses_and_actions_send_stop_and_undo(begin: Begin, root: Path):
    replies = [
        {"text": act("Write", '{"path": "new.txt", "content": "hello"}')},
        {"text": finish(LONG), "chunk": 12, "delay": 0.02},
    ]
    async with begin(replies) as client:
        asked: list[str] = []

        def choose(params: dict[str, Any]) -> dict[str, str]:
            asked.append(params["message"])
            return params["actions"][0]

        client.answers["window/showMessageRequest"] = choose
        pad = Pad(client, uri_of(root), "# Mine\n\n## You\n\nWrite it.\n")
        await pad.show()

        async def lenses() -> list[tuple[str, int]]:
            found = await client.request("textDocument/codeLens", {"textDocument": {"uri": pad.uri}})
            return [(lens["command"]["title"], lens["range"]["start"]["line"]) for lens in found]

        async def actions(line: int) -> list[dict[str, Any]]:
            place = {"line": line, "character": 0}
            return await client.request(
                "textDocument/codeAction",
                {
                    "textDocument": {"uri": pad.uri},
                    "range": {"start": place, "end": place},
                    "context": {"diagnostics": []},
                },
            )

        assert await lenses() == [("▶ Send", 2)]
        assert await actions(0) == []
        (send,) = await actions(4)
        assert (send["title"], send["kind"]) == ("▶ Send", "refactor.codelaw.chat")
        await client.request("workspace/executeCommand", send["command"])
        await pad.until("Paragraph 1 ")
        heading = pad.text[: pad.text.index("## codelaw")].count("\n")
        assert await lenses() == [("■ Stop", heading)]
        text = await pad.ended()
        assert len(asked) == 1
        assert "> - **Changed:** new.txt (+1 −0)" in text
        assert await lenses() == [("↩ Undo this turn (1 file)", heading)]
        assert (root / "new.txt").read_text() == "hello"
        (undo,) = await actions(heading + 1)
        await client.request("workspace/executeCommand", undo["command"])
        assert not (root / "new.txt").exists()
        assert "1 file undone" in client.params("window/showMessage")[-1]["message"]
        assert len(client.params("workspace/codeLens/refresh")) >= 2


async def test_a_turn_whose_server_was_killed_is_ended_in_its_file(begin: Begin, root: Path):
    replies = [{"text": finish(LONG), "chunk": 12, "delay": 0.05}, {"text": finish("Later.")}]
    async with begin(replies) as client:
        pad = Pad(client, uri_of(root), "Tell me.")
        await pad.show()
        begun = await pad.send()
        early = await pad.until("Paragraph 2 ")
        assert client.process is not None
        await client.process.kill()
    async with begin([{"text": finish("Later.")}]) as client:
        pad = Pad(client, uri_of(root), early)
        await pad.show()
        text = await pad.ended()
        assert parse(text).block(begun["turnId"]).running is False
        assert "codelaw stopped before the turn ended" in text
        await pad.type("And then?")
        assert (await pad.send())["chatId"] == begun["chatId"]
        assert "Later." in await pad.ended(2)
