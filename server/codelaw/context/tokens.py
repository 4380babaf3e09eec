"""How many tokens: estimates, kept within bounds, and what the window leaves room for (W-3, W-4, W-7)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from codelaw.domain.models import ModelProfile

_Key = TypeVar("_Key", str, tuple[str, ...])
_Found = TypeVar("_Found")


class Memo(Generic[_Key, _Found]):
    """By a text or some what was found of it; forgets all when the texts it holds grow past `limit` characters."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = 0
        self._known: dict[_Key, _Found] = {}

    def get(self, key: _Key, make: Callable[[_Key], _Found]) -> _Found:
        """What was found of it before, or what `make` finds now."""
        known = self._known.get(key)
        if known is None:
            if self._held > self._limit:
                self._known, self._held = {}, 0
            known = self._known[key] = make(key)
            self._held += len(key) if isinstance(key, str) else sum(map(len, key))
        return known


CALL_OVERHEAD = 111
"""Tokens a tool call costs besides its text."""
DEFAULT_WINDOW = 64_000
DEFAULT_MAX_OUTPUT = 32_000
"""Of a model that can write so much; what it thinks is counted in."""
UNKNOWN_MAX_OUTPUT = 16_384
LEAST_OUTPUT = 256
"""Tokens that an answer is always left, unless the user's own limit is lower: less is not an answer (W-7)."""
FAR_OFF = 8
"""Times our estimate at which a vendor's count of a prompt makes no sense; estimates are off by a few (W-6)."""
SMALLEST_WINDOW = 16_000
SMALL_WINDOW = 32_000

WindowSource = Literal["models.<name>.contextWindow", "model.contextWindow", "profile", "default"]

_NARROW = 2.92
_WIDE = 1.8
_DENSE = 1.3
_DIGIT = 2.0
_MANY_DIGITS = 0.2
# Scripts whose characters are tokens of their own, or nearly: from Devanagari up, punctuation and box drawing aside.
_WIDE_CHARACTER = re.compile("[\u0900-\u1cff\u2600-\u27bf\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef\U00010000-\U0010ffff]")
# Base64, hashes, keys: nothing a tokenizer has words for.
_DENSE_RUN = re.compile(r"[A-Za-z0-9+/=_-]{48,}")
_MARKS = b"(){}[]<>=_;\"'/\\"
"""What code is full of."""
_FEW_MARKS, _MANY_MARKS = 0.03, 0.09
"""Marks in a character of prose and of code; between them a text is partly both."""
_MEMO_FROM = 64
_MEMO_LIMIT = 4_000_000

Kinds = tuple[float, float, float]
"""Estimated tokens of prose, of code, and of wide scripts."""


def estimate(text: str) -> int:
    """Tokens of `text`, by its parts: plain text, wide scripts, runs without words (W-4)."""
    return _count(text) if len(text) < _MEMO_FROM else _estimates.get(text, _count)


def kinds(text: str) -> Kinds:
    """The estimate of `text` by kinds; code is told by its marks."""
    return _kinds(text) if len(text) < _MEMO_FROM else _mixtures.get(text, _kinds)


def trigger_estimate(text: str) -> int:
    """Tokens of a user's input as the compaction trigger counts them (W-2)."""
    return len(text) // 3


def _count(text: str) -> int:
    if not text:
        return 0
    dense = sum(map(len, filter(_wordless, _DENSE_RUN.findall(text)))) if len(text) >= 48 else 0
    wide = 0 if text.isascii() else len(_WIDE_CHARACTER.findall(text))
    plain = len(text) - dense - wide
    digits = sum(map(text.count, "0123456789")) - dense // 4
    if digits <= plain * _MANY_DIGITS:
        return math.ceil(plain / _NARROW + wide / _WIDE + dense / _DENSE)
    # Tables of numbers: few digits make a token, where prose and code have names of many letters.
    return math.ceil((plain - digits) / _NARROW + digits / _DIGIT + wide / _WIDE + dense / _DENSE)


def _kinds(text: str) -> Kinds:
    if not text:
        return 0.0, 0.0, 0.0
    characters = 0 if text.isascii() else len(_WIDE_CHARACTER.findall(text))
    wide = characters / _WIDE
    spelt = text.encode("utf-8", "surrogatepass")
    marks = (len(spelt) - len(spelt.translate(None, _MARKS))) / max(1, len(text) - characters)
    code = min(1.0, max(0.0, (marks - _FEW_MARKS) / (_MANY_MARKS - _FEW_MARKS)))
    rest = max(0.0, estimate(text) - wide)
    return rest * (1 - code), rest * code, wide


_estimates = Memo[str, int](_MEMO_LIMIT)
_mixtures = Memo[str, Kinds](_MEMO_LIMIT)


def _wordless(run: str) -> bool:
    """Whether a long run is noise, not a long path, a snake_case name or a ruler: digits amid letters of both cases."""
    return len(set(run)) > 12 and any(map(str.isdigit, run)) and "_" not in run


@dataclass(frozen=True, slots=True)
class Window:
    """A context window in tokens, and where its size comes from."""

    tokens: int
    source: WindowSource
    capped: bool = False
    """`context.maxWindow` lowered it."""


def resolve_window(
    *,
    per_model: float | None = None,
    general: float | None = None,
    profile: ModelProfile | None = None,
    cap: float | None = None,
) -> Window:
    """The window by W-3: `models.<name>.contextWindow`, `model.contextWindow`, the profile, 64 000.

    `cap` (`context.maxWindow`) only lowers it. What is zero, negative or NaN is as if not set.
    """
    candidates: tuple[tuple[float | None, WindowSource], ...] = (
        (per_model, "models.<name>.contextWindow"),
        (general, "model.contextWindow"),
        (None if profile is None else profile.context_window, "profile"),
    )
    found = (Window(int(value), source) for value, source in candidates if value is not None and _usable(value))
    window = next(found, Window(DEFAULT_WINDOW, "default"))
    if cap is not None and _usable(cap) and int(cap) < window.tokens:
        return Window(int(cap), window.source, capped=True)
    return window


def most_output(window: int, *, max_output: int | None = None, profile: ModelProfile | None = None) -> int:
    """Tokens of one reply at most (W-7); `max_output` is `model.maxOutputTokens`.

    Of a model that nobody knows no more is asked than is kept free.
    """
    if max_output is not None and max_output > 0:
        return max_output
    if profile is None:
        return max(1, min(UNKNOWN_MAX_OUTPUT, window // 10))
    return min(profile.max_output, DEFAULT_MAX_OUTPUT)


def output_reserve(window: int, *, max_output: int | None = None, profile: ModelProfile | None = None) -> int:
    """Tokens kept free for the answer (W-7)."""
    return max(1, min(most_output(window, max_output=max_output, profile=profile), window // 10))


def max_tokens(window: int, most: int, estimated_input: int) -> int:
    """The `max_tokens` to send (W-7); enough for an answer in any case: the vendor says what is too much."""
    return max(1, min(most, max(LEAST_OUTPUT, window - estimated_input)))


def far_off(estimated: int, size: int | None, limit: int | None) -> bool:
    """Whether what a vendor says of a prompt that it refused cannot be, for one of about `estimated` tokens (W-6)."""
    reported = limit if size is None else size
    return reported is not None and reported > FAR_OFF * max(1, estimated)


def guard(window: int) -> Literal["block", "warn", "ok"]:
    """Whether a turn may start in a window of that size (W-3)."""
    if window < SMALLEST_WINDOW:
        return "block"
    return "warn" if window < SMALL_WINDOW else "ok"


def _usable(value: float) -> bool:
    return math.isfinite(value) and value >= 1
