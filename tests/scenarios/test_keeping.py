"""Whatever happens to a chat, no thinking is refused, and all that could go back did (P-5).

`python -m tests.scenarios.keeping 1000` plays a thousand such sessions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scenarios.keeping import quick, session

SESSIONS = 20


@pytest.mark.parametrize("first", [0, SESSIONS])
async def test_sessions_by_chance(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from codelaw.agent.model_calls import recovery

    monkeypatch.setattr(recovery, "delay", recovery.delay)  # put back what `quick` replaces
    quick()
    for seed in range(first, first + SESSIONS):
        played = await session(seed, tmp_path / str(seed))
        assert played.looked
