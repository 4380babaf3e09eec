"""`codelaw models` against the real server (W-5, P-6)."""

from __future__ import annotations

import json

from tests.cli.test_commands import codelaw


def test_models_are_listed_with_what_they_take_and_cost(tmp_path):
    reported = codelaw("models", workspace=tmp_path, CODELAW_MODEL__BASE_URL="http://127.0.0.1:9")
    assert reported.returncode == 0, reported.stderr
    lines = reported.stdout.splitlines()
    assert lines[0].split() == [
        "*",
        "claude-sonnet-5-5",
        "anthropic",
        *["200000", "of", "1000000", "tokens,", "replies", "of", "128000"],
    ]
    place = next(place for place, line in enumerate(lines) if line.split()[0] == "claude-haiku-5-5")
    assert lines[place + 1].strip() == (
        "$0.1 in, $0.5 out, $0.01 read from the cache · above 100000 tokens ×5 in, ×5 out"
        " · effort low, medium (default), high, xhigh, max"
    )


def test_those_of_one_provider_are_listed_one_a_line(tmp_path):
    reported = codelaw("models", "--json", "--provider", "offline", workspace=tmp_path)
    (row,) = map(json.loads, reported.stdout.splitlines())
    assert (row["name"], row["current"], row["source"], "effort" in row) == ("offline", True, "profile", False)
