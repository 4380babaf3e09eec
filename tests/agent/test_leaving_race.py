"""Two windows on one store: what another one has said in a chat counts before its text leaves (P-4, D-4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agent.conftest import Bench, open_session
from tests.agent.talking import whole

OFFLINE: dict[str, Any] = {"model": {"provider": "offline", "name": "offline"}}


async def test_what_another_window_said_offline_meanwhile_is_asked_about(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    chat = await bench.session.create()
    other = await open_session(bench, OFFLINE)
    gatherer = bench.session.recall.gatherer

    async def slow(*arguments: Any, **more: Any) -> Any:
        if not bench.vendor.messages:
            await (await other.send(chat.id, "the word is Rumpelstiltskin")).result()
        return await gatherer(*arguments, **more)

    monkeypatch.setattr(bench.session.recall, "gatherer", slow)
    bench.vendor.reset([bench.finish("ok")])
    bench.user.answer = "reject"
    result = await bench.turn("and now?", chat.id)
    await other.close()
    assert result.error is not None
    assert result.error.code == "not_confirmed"
    assert [question.risk for question in bench.user.asked] == ["send"]
    assert not [request for request in bench.vendor.messages if "Rumpelstiltskin" in whole(request.json)]
