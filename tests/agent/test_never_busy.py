"""Whatever goes wrong in a turn ends it, and the chat can be used at once (R-10)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from codelaw.agent.chat import turns as chat_module
from codelaw.agent.model_calls.redacting_model import RedactingModel
from codelaw.domain.models import Usage
from tests.agent.conftest import Bench
from tests.loopback.script import VendorReply


async def goes_on(bench: Bench, chat_id: str) -> None:
    """The chat takes another message, and so does the next server."""
    bench.vendor.play(bench.finish("still here"))
    result = await bench.turn("and now?", chat_id)
    assert (result.stop_reason, result.answer) == ("finished", "still here"), result.error
    await bench.reopen()
    bench.vendor.play(bench.finish("here again"))
    assert (await bench.turn("and now?", chat_id)).answer == "here again"


@pytest.mark.parametrize("number", [10**3999, -5, "12"], ids=lambda n: str(n)[:9])
async def test_no_number_of_tokens_keeps_a_chat_busy(bench: Bench, number: Any) -> None:
    usage = {"input_tokens": number, "cache_read_input_tokens": number, "output_tokens": number}
    bench.vendor.play(bench.finish("fine", usage=usage))
    result = await bench.turn("hello")
    assert (result.stop_reason, result.answer) == ("finished", "fine"), result.error
    # The vendor's first report says one, which can be.
    assert result.usage in {Usage(), Usage(output_tokens=1)}
    reported = [notice.code for notice in result.notices].count("usage_doubted")
    assert reported == (number is not None)
    json.dumps(result.usage.total_tokens)
    await goes_on(bench, result.chat_id)


@pytest.mark.parametrize("error", [ValueError("x" * 10_000), MemoryError(), TimeoutError()])
async def test_whatever_an_adapter_raises_ends_the_turn(
    bench: Bench, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.vendor.play(bench.finish("first"))
    first = await bench.turn("hello")
    (line,) = bench.session.resources.chats.models._made.values()
    assert isinstance(line, RedactingModel)

    async def raises(*_: Any) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(line.model, "reply", raises)
        result = await bench.turn("hello", first.chat_id)
        assert (result.stop_reason, result.error and result.error.code) == ("failed", "internal_error")
    await goes_on(bench, first.chat_id)


@pytest.mark.parametrize("place", ["last_words", "TurnLoop"])
async def test_whatever_fails_around_a_turn_ends_it(bench: Bench, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.vendor.play(bench.finish("first"))
    first = await bench.turn("hello")
    real, left = getattr(chat_module, place), 1

    def fails(*arguments: Any, **more: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            raise OverflowError
        return real(*arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr(chat_module, place, fails)
        bench.vendor.play(bench.finish("second"))
        result = await bench.turn("hello", first.chat_id)
        assert (result.stop_reason, result.error and result.error.code) == ("failed", "internal_error")
    await goes_on(bench, first.chat_id)


@pytest.mark.parametrize("place", ["TurnRecord", "named"])
async def test_whatever_fails_where_a_turn_begins_leaves_the_chat_free(
    bench: Bench, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.vendor.play(bench.finish("first"))
    first = await bench.turn("hello")
    reported = len(bench.events)

    def fails(*_: Any, **more: Any) -> Any:
        raise OverflowError

    with monkeypatch.context() as patched:
        patched.setattr(chat_module, place, fails)
        with pytest.raises(OverflowError):
            await bench.turn("never", first.chat_id)
    await goes_on(bench, first.chat_id)
    news = [event.event.kind for event in bench.events[reported:]]
    assert news.count("turn_started") == news.count("turn_ended"), "who saw it begin sees it end"
    record = (await bench.session.read(first.chat_id)).messages
    assert [one.content for one in record if one.role == "user"][1] == "never"


async def test_an_end_that_the_store_will_never_take_is_written_plainly(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.vendor.play(bench.finish("first"))
    first = await bench.turn("hello")
    stores = bench.session._chats._stores
    assert stores is not None
    real = stores.chats.end_turn

    async def refuses(turn: Any, last: Any) -> None:
        if turn.last_usage is not None:
            raise OverflowError("int too large to convert to SQLite INTEGER")
        await real(turn, last)

    with monkeypatch.context() as patched:
        patched.setattr(stores.chats, "end_turn", refuses)
        bench.vendor.play(bench.finish("second"))
        result = await bench.turn("hello", first.chat_id)
        assert (result.stop_reason, result.error and result.error.code) == ("failed", "internal_error")
        bench.vendor.play(VendorReply(status=400, error_message="no"))
        assert (await bench.turn("hello", first.chat_id)).stop_reason == "failed"
    await goes_on(bench, first.chat_id)
