"""What is sent in large amounts is read with work in proportion to it, and others have their turn meanwhile (S-6, V-2)."""

from __future__ import annotations

import asyncio
import gc
import json
import random
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pydantic import ValidationError

from codelaw.domain.chats import Chat
from codelaw.domain.errors import Refusal
from codelaw.domain.events import AnswerDelta, ChatEvent, ToolCallEvent
from codelaw.domain.messages import Message
from codelaw.domain.reports import ChatRecord
from codelaw.lsp import law
from codelaw.lsp.documents import positions
from codelaw.lsp.documents.documents import EditorDocuments
from codelaw.lsp.documents.positions import Encoding, SplicedText, line_at, line_starts, offset
from codelaw.lsp.features.chat_file_index import FilesOfChat
from codelaw.lsp.methods.handlers import METHODS
from codelaw.lsp.server.connection import Connection
from codelaw.lsp.server.server import CodelawServer
from codelaw.lsp.transport import encoding
from codelaw.lsp.transport.encoding import encoded
from codelaw.lsp.transport.errors import WireError
from codelaw.lsp.transport.messages import Incoming, framed
from codelaw.lsp.transport.rpc import Encoded
from codelaw.lsp.transport.structuring import changed_uris
from codelaw.protocol.base import TOLD, field_errors
from codelaw.protocol.chats import Export
from codelaw.protocol.events import ChatEventPayload as ChatEventWire
from codelaw.protocol.events import ChatRecordPayload as ChatRecordWire

MANY = 20_000
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
texts = st.lists(st.sampled_from(["a", "bc", "\n", "\r", "\r\n", "😀", "é", "漢", " ", "\u2028"]), max_size=40).map(
    "".join
)
edits = st.tuples(*(st.integers(0, 8) for _ in range(4)), texts)


def structured(method: str, params: Any) -> WireError | None:
    rpc = CodelawServer(on_exit=lambda _status: None).rpc
    try:
        rpc._typed(method, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    except WireError as error:
        return error
    return None


def turns_of(loop_work: Callable[[], Any]) -> int:
    """How often the event loop went round while something was done."""

    async def counted() -> int:
        rounds = 0
        task = asyncio.ensure_future(loop_work())
        while not task.done():
            rounds += 1
            await asyncio.sleep(0)
        await task
        return rounds

    return asyncio.run(counted())


@given(texts, st.lists(edits, max_size=12), st.sampled_from(ENCODINGS), st.integers(1, 6))
def test_many_changes_give_what_one_by_one_gives(
    text: str, changes: list[tuple[int, int, int, int, str]], encoding: Encoding, size: int
):
    before, positions.SMALLEST = positions.SMALLEST, size
    try:
        spliced = SplicedText(text, encoding)
        for line, character, last_line, last, new in changes:
            starts = line_starts(text)
            begin = offset(text, starts, line, character, encoding)
            end = offset(text, starts, last_line, last, encoding)
            text = text[:begin] + new + text[max(begin, end) :]
            spliced.splice((line, character), (last_line, last), new)
            assert (spliced.text, len(spliced)) == (text, len(text))
    finally:
        positions.SMALLEST = before


@given(texts, st.integers(0, 30), st.sampled_from(ENCODINGS))
def test_a_place_is_where_counting_characters_one_by_one_finds_it(text: str, units: int, encoding: Encoding):
    line = line_at(text, line_starts(text), 0)
    widths = [
        {"utf-8": len(one.encode()), "utf-16": len(one.encode("utf-16-le")) // 2, "utf-32": 1}[encoding] for one in line
    ]
    whole = [place for place in range(len(line) + 1) if sum(widths[:place]) <= units]
    assert offset(text, line_starts(text), 0, units, encoding) == whole[-1]


@pytest.mark.parametrize("line", ["x" * 39 + "\n", "é"], ids=["many lines", "one line"])
async def test_a_thousand_changes_do_not_read_the_document_a_thousand_times(line: str, monkeypatch: pytest.MonkeyPatch):
    read = 0
    cut = SplicedText._piece

    def counted(self: SplicedText, text: str) -> Any:
        nonlocal read
        read += len(text)
        return cut(self, text)

    monkeypatch.setattr(SplicedText, "_piece", counted)
    text = line * (1_000_000 // len(line))
    documents = EditorDocuments()
    documents.opened(types.TextDocumentItem("untitled:1", "text", 1, text))
    rng, last = random.Random(5), text.count("\n")
    changes = [
        types.TextDocumentContentChangePartial(
            types.Range(types.Position(number := rng.randint(0, last), 3), types.Position(number, 4)), "yz"
        )
        for _ in range(1000)
    ]
    identifier = types.VersionedTextDocumentIdentifier(2, "untitled:1")
    documents.changed(types.DidChangeTextDocumentParams(identifier, changes))
    buffer = documents.get("untitled:1")
    assert buffer is not None
    assert len(buffer.text) == len(text) + 1000
    assert read <= 20 * len(text)


@pytest.mark.parametrize("given", ["x" * MANY, [1] * MANY, {str(number): 1 for number in range(MANY)}, 7])
def test_what_is_no_array_is_one_error_and_a_wrong_one_few(given: Any):
    error = structured("workspace/didChangeWorkspaceFolders", {"event": {"added": given, "removed": []}})
    assert error is not None
    found = cast("dict[str, Any]", error.data)["errors"]
    assert found[0]["path"] == ("event.added[0].uri" if isinstance(given, list) else "event.added")
    assert len(found) == (20 if isinstance(given, list) else 1)


def test_arrays_that_are_right_are_read_as_before():
    context = {"diagnostics": [{"range": place(0), "message": "m", "tags": [1, 2]}], "only": ["quickfix"]}
    params = {"textDocument": {"uri": "file:///a"}, "range": place(1), "context": context}
    assert structured("textDocument/codeAction", params) is None


def place(line: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}


def test_of_very_many_unknown_fields_as_many_are_read_as_are_told():
    unknown = {f"x{number}": 1 for number in range(MANY)}
    for params, first in (
        ({"text": "a", **unknown}, "x0"),
        ({"text": "a", "editor": {"uri": "file:///a", "line": 1, **unknown}}, "editor.x0"),
    ):
        with pytest.raises(ValidationError) as caught:
            METHODS["codelaw/chat/send"].params.model_validate(params)
        assert caught.value.error_count() == TOLD
        assert field_errors(caught.value)[0] == {"path": first, "message": "Unknown field"}


def connection(**given: Any) -> Connection:
    """One whose context has only this."""
    made = Connection.__new__(Connection)
    made.context = cast("Any", SimpleNamespace(documents=EditorDocuments(), **given))
    made._trusting = None
    return made


def watching(seen: Counter[str]) -> Connection:
    configuration = SimpleNamespace(law_files=[], reload=asyncio.Event().wait)
    made = connection(configuration=configuration, spawn=lambda work: (seen.update(["settings"]), work.close())[1])
    made.law = SimpleNamespace(soon=lambda: seen.update(["law"]))  # type: ignore[assignment]
    return made


def reading(read: Callable[..., Any]) -> Connection:
    return connection(session=SimpleNamespace(chats=SimpleNamespace(read=read)))


def test_others_have_their_turn_while_a_hundred_thousand_files_change(monkeypatch: pytest.MonkeyPatch):
    looked: Counter[str] = Counter()
    monkeypatch.setattr(law, "path_of", lambda uri: looked.update([uri]))
    seen: Counter[str] = Counter()
    changes = [{"uri": f"file:///w/src/file{number}.py", "type": 2} for number in range(100_000)]
    assert len([*changed_uris({"changes": changes})]) == 100_000
    assert turns_of(lambda: watching(seen).files_changed(changed_uris({"changes": changes}))) > 40
    assert (seen, looked) == (Counter(), Counter())


@pytest.mark.parametrize("name", ["CODE_LAW.md", "code_law.MD", "CODE%5FLAW.md"])
def test_the_law_and_the_settings_are_found_among_many_files(name: str):
    seen: Counter[str] = Counter()
    uris = [f"file:///w/{number}.py" for number in range(5000)]
    uris[3000] = f"file:///w/{name}"
    uris[4000] = "file:///w/.codelaw/config.toml"
    asyncio.run(watching(seen).files_changed(uris))
    assert seen == Counter(law=1, settings=1)


async def test_what_came_in_one_piece_is_taken_in_turns():
    rpc = CodelawServer(on_exit=lambda _status: None).rpc
    reader, taken = Incoming(), []

    async def quick(_params: Any) -> None:
        await asyncio.sleep(0)

    rpc.requests["codelaw/model/list"], rpc.send, rpc.state = quick, taken.append, "running"
    for number in range(3000):
        message = {"jsonrpc": "2.0", "id": number, "method": "codelaw/model/list"}
        reader.feed_data(framed(json.dumps(message).encode()))
    serving = asyncio.ensure_future(rpc.serve(reader))
    rounds = 0
    async with asyncio.timeout(150):
        while len(taken) < 3000:
            rounds += 1
            await asyncio.sleep(0)
    serving.cancel()
    assert not [one for one in taken if b"error" in one]
    assert rounds > 1000


def test_the_arguments_of_a_call_are_sent_as_they_are():
    args = {"edits": [{"old": "a", "new": ("b",)}]}
    sent = ChatEventWire.of(ChatEvent("c", "t", 1, 1.0, ToolCallEvent("k", "T", "t", "running", 1, args))).wire()
    assert sent["event"]["args"]["edits"] is args["edits"], "their size costs nothing but their spelling"


def record(count: int) -> ChatRecord:
    odd = '"\\\n\x00é😀\u2028' * 20
    messages = tuple(Message(f"m{number}", f"t{number}", "user", f"{number} {odd}") for number in range(count))
    events = tuple(ChatEvent("c", f"t{number}", number, 1.5, AnswerDelta(odd, 1)) for number in range(count))
    return ChatRecord(Chat("c", "é", "chat", "agent", "m", "layered", 1.0, 2.0), messages, events, None)


@pytest.mark.parametrize("count", [0, 3, 500])
def test_a_large_answer_is_spelt_as_a_small_one(count: int):
    answer = ChatRecordWire.of(record(count))
    assert encoded(answer).body == json.dumps(answer.wire(), separators=(",", ":")).encode()


def test_a_long_text_is_spelt_in_parts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(encoding, "TEXT_PART", 7)
    text = '"é😀\\\n' * 40
    assert json.loads(encoded(Export(text=text)).body) == {"text": text}


async def test_the_loop_goes_round_while_a_long_chat_is_spelt(monkeypatch: pytest.MonkeyPatch):
    found = record(3000)

    async def read(*_: Any, **__: Any) -> ChatRecord:
        return found

    made = reading(read)
    longest = 0
    plain = encoding.plain

    def counted(value: Any) -> str:
        nonlocal longest
        spelt = plain(value)
        longest = max(longest, len(spelt))
        return spelt

    monkeypatch.setattr(encoding, "plain", counted)
    answering = asyncio.ensure_future(made.call("codelaw/chat/read", {"chatId": "c"}))
    rounds = 0
    while not answering.done():
        rounds += 1
        await asyncio.sleep(0)
    answer = answering.result()
    assert isinstance(answer, Encoded)
    assert len(json.loads(answer.body)["messages"]) == 3000
    assert longest < len(answer.body) / 1000, "nothing long is spelt in one go"
    assert rounds > 20


async def test_the_collector_is_switched_on_again_whatever_happens():
    async def read(*_: Any, **__: Any) -> ChatRecord:
        assert not gc.isenabled()
        await asyncio.sleep(0)
        raise Refusal("chat_not_found", "no")

    made = reading(read)
    answers = [asyncio.ensure_future(made.call("codelaw/chat/read", {"chatId": "c"})) for _ in range(3)]
    await asyncio.sleep(0)
    answers[0].cancel()
    assert all(isinstance(one, BaseException) for one in await asyncio.gather(*answers, return_exceptions=True))
    assert gc.isenabled()
    gc.disable()
    try:
        with encoding.paused():
            pass
        assert not gc.isenabled(), "it was switched off by somebody else"
    finally:
        gc.enable()


def test_a_turn_that_begins_again_in_a_file_is_named_once():
    known = FilesOfChat().within("file:///a", "t1").within("file:///b", "t2", "t1")
    assert known == FilesOfChat(uris=("file:///a", "file:///b"), pending=("t1", "t2"))
