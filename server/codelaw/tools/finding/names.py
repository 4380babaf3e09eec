"""Which tool a name may have meant that no tool has."""

from __future__ import annotations

from collections.abc import Iterable

COUNT = 3
_LONG = 100
"""Characters of a name that are compared."""
_LIKE = 0.3
"""Share of three-letter sequences that two names have in common at least."""


def nearest(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """At most `COUNT` of `names`, the one that is most like `name` first; none that is not like it."""
    asked = _pieces(name)
    if not asked:
        return ()
    scored: list[tuple[float, str]] = []
    for other in names:
        known = _pieces(other)
        # By the smaller set, so that a name without its server's in front is found.
        both = len(asked & known) / max(1, min(len(asked), len(known)))
        if both >= _LIKE:
            scored.append((-both - len(asked & known) / len(asked | known), other))
    return tuple(other for _, other in sorted(scored)[:COUNT])


def _pieces(name: str) -> set[str]:
    """All sequences of three letters and digits, whatever stands between them."""
    plain = "".join(filter(str.isalnum, name[:_LONG].casefold()))
    return {plain[at : at + 3] for at in range(len(plain) - 2)}
