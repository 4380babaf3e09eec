"""Command lines by chance against real shells: nothing runs that was allowed for another reason (S-1)."""

from __future__ import annotations

import os

import pytest

from tests.permissions import shell_lines

LINES = 20_000 if os.environ.get("CODELAW_TEST_THOROUGH") else 800


@pytest.mark.needs("bash")
@pytest.mark.needs("dash")
@pytest.mark.parametrize("seed", [1, 2])
def test_nothing_runs_that_was_allowed_for_another_reason(seed: int):
    outcome = shell_lines.tried(seed, LINES)
    assert outcome.failures == []
    assert outcome.run > LINES / 100
    assert outcome.programs > outcome.run / 2


@pytest.mark.needs("bash")
@pytest.mark.needs("dash")
def test_a_program_that_no_rule_allows_would_be_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shell_lines, "_allowed", lambda line, _rules, **_more: line == "a $(e); b y > f")
    monkeypatch.setattr(shell_lines, "lines", lambda _seed, _count: iter(["a $(e); b y > f"]))
    failures = "\n".join(shell_lines.tried(1, 1).failures)
    for shell in shell_lines.SHELLS:
        assert f"{shell}: 'a $(e); b y > f' ran ['e'], which no rule allows" in failures
        assert f"{shell}: 'a $(e); b y > f' ran ['e'], which is denied" in failures
        assert f"{shell}: 'a $(e); b y > f' ran ['b', 'y'], which no rule allows" in failures
        assert f"{shell}: 'a $(e); b y > f' wrote a file" in failures
