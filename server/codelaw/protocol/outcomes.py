"""A compaction's outcome in words for people, the same in every client of ours.

It reads the report as it is on the wire and needs no types, so that the terminal may use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DID_NOTHING = {
    "rounds_not_enough": "Nothing to compact: every round is recent enough to stay",
    "below_low_water": "Nothing to compact: everything fits below the low-water mark",
    "summary_failed": "No summary could be made; the history stays as it was",
    "summary_timed_out": "The summary took too long; the history stays as it was",
    "cancelled": "The compaction was cancelled; the history stays as it was",
    "paused": "Automatic compaction has paused after failing repeatedly; compacting by hand resumes it",
}
FAILED = frozenset({"summary_failed", "summary_timed_out", "paused"})
"""Reasons that someone should look at."""


def outcome(report: Mapping[str, Any]) -> str:
    """The report's own message, word for word, or else its figures as a sentence (K-6, K-10)."""
    return report["message"] or f"{figures(report)}."


def figures(report: Mapping[str, Any]) -> str:
    """Rounds, tokens and seconds in one line, or why nothing was done; without a full stop."""
    archived, thinned = report["roundsArchived"], report["thinned"]
    if not (report["compacted"] or thinned):
        return _DID_NOTHING.get(report["reason"], "Nothing was compacted")
    parts: list[str] = []
    if archived:
        without = "" if report["summary"] == "model" else " without a summary"
        parts += [f"{_some(archived, 'round')} archived{without}", f"{report['roundsKept']} kept"]
    if thinned:
        parts.append(f"{_some(thinned, 'old result')} thinned")
    parts.append(f"{_short(report['tokensBefore'])} → {_short(report['tokensAfter'])} tokens")
    seconds = report["seconds"]
    parts.append(f"{seconds:.0f} s" if seconds >= 1 else f"{round(seconds, 1):g} s")
    return f"Compacted: {', '.join(parts)}"


def _some(count: int, name: str) -> str:
    return f"{count} {name}{'' if count == 1 else 's'}"


def _short(tokens: int) -> str:
    """`850`, `1.2k`, `161k`, `1.1M`."""
    for size, sign in ((1_000_000, "M"), (1_000, "k")):
        if tokens >= size * 0.9995:
            value = tokens / size
            return (f"{value:.1f}".removesuffix(".0") if value < 9.95 else f"{value:.0f}") + sign
    return str(tokens)
