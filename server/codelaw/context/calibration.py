"""How far estimates of tokens are off: learnt for each model from what it reports (W-4).

A tokenizer differs from the estimate in another way for prose, for code and for Chinese. So each kind of text has a
weight of its own, and what a call reports moves the weights of those kinds most that its view is made of.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import mul

from codelaw.context.sections import Section, image_tokens, message_texts
from codelaw.context.tokens import CALL_OVERHEAD, Kinds, kinds

KINDS = 4


@dataclass(frozen=True, slots=True)
class Mixture:
    """Estimated tokens by kind: prose, code, wide scripts, and what calls and pictures take besides text."""

    prose: float = 0.0
    code: float = 0.0
    wide: float = 0.0
    calls: float = 0.0

    @property
    def tokens(self) -> float:
        """All of it."""
        return self.prose + self.code + self.wide + self.calls

    @property
    def shares(self) -> tuple[float, ...]:
        """Each kind's part of the whole, which is more than nothing."""
        return tuple(part / self.tokens for part in (self.prose, self.code, self.wide, self.calls))


def mixture(sections: Sequence[Section]) -> Mixture:
    """Of the texts of sections as they are sent."""
    found: list[Kinds] = []
    calls = images = 0
    for section in sections:
        if not section.messages:
            found.append(kinds(section.content))
        for message in section.messages:
            found += map(kinds, message_texts(message))
            calls += len(message.metadata.calls)
            images += image_tokens(message)
    prose, code, wide = (sum(one[kind] for one in found) for kind in range(3))
    return Mixture(prose, code, wide, float(CALL_OVERHEAD * calls + images))


LEAST, MOST = 0.4, 3.0
"""Bounds of what a call may say of a view, and of the correction of an estimate."""
_LIGHTEST, _HEAVIEST = 0.25, 4.0
"""Bounds of a weight."""
_FIRST = (1.0, 1.0, 1.3, 1.0)
"""The weights of prose, code, wide scripts and calls before anything is known of them,"""
_UNSURE = (0.35, 0.35, 0.6, 0.2)
"""and how far they may be off, as standard deviations."""
_DRIFT = 0.01
"""How much less sure a weight becomes with each call: what is sent changes."""
_FORESEEN = 0.005
"""How far an estimate may be off for its report to teach nothing,"""
_FIRST_CALLS = 5
"""once so many have been taken in: an early one may be right by chance."""
_NOISE = 0.01
"""How far reports scatter around weights that are right."""

Row = tuple[float, ...]


def _dot(one: Iterable[float], other: Iterable[float]) -> float:
    return sum(map(mul, one, other))


@dataclass(frozen=True, slots=True)
class Weights:
    """Reported tokens over estimated ones by kind of text, and how sure each is: recursive least squares."""

    means: Row = _FIRST
    spread: tuple[Row, ...] = tuple(
        tuple(_UNSURE[row] ** 2 if row == column else 0.0 for column in range(KINDS)) for row in range(KINDS)
    )
    """The covariance of the weights."""
    calls: int = 0
    """How many have been taken in."""

    def ratio(self, shares: Row) -> float:
        """Reported over estimated tokens of a text with these shares."""
        return _dot(self.means, shares)

    def observed(self, shares: Row, seen: float) -> Weights:
        """With one more report, of `seen` times the estimate."""
        drifted = [
            [value + (_DRIFT**2 if row == column else 0.0) for column, value in enumerate(values)]
            for row, values in enumerate(self.spread)
        ]
        towards = [_dot(row, shares) for row in drifted]
        unsure = _dot(towards, shares) + _NOISE**2
        gains = [value / unsure for value in towards]
        off = seen - self.ratio(shares)
        means = tuple(
            min(_HEAVIEST, max(_LIGHTEST, mean + gain * off)) for mean, gain in zip(self.means, gains, strict=True)
        )
        spread = tuple(
            tuple(value - gain * other for value, other in zip(row, towards, strict=True))
            for row, gain in zip(drifted, gains, strict=True)
        )
        return Weights(means, spread, self.calls + 1)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of each model's tokenizer."""

    models: Mapping[str, Weights] = field(default_factory=dict[str, Weights])
    newest: Mapping[str, Mixture] = field(default_factory=dict[str, Mixture])
    """What the newest call of each model was made of."""

    def observed(self, model: str, mixture: Mixture, reported: int) -> Calibration:
        """With one more call taken in: the mixture of its view, and the tokens of input that were reported.

        Counts of zero teach nothing; a report counts as at least 0.4 and at most 3 times the estimate.
        """
        if mixture.tokens <= 0 or reported <= 0:
            return self
        seen = min(MOST, max(LEAST, reported / mixture.tokens))
        weights = self.models.get(model, Weights()).observed(mixture.shares, seen)
        return Calibration({**self.models, model: weights}, {**self.newest, model: mixture})

    def foreseen(self, model: str, tokens: int, reported: int) -> bool:
        """Whether a report is so near the corrected estimate that it need not be taken in; free, unlike a mixture."""
        known = self.models.get(model)
        if known is None or known.calls < _FIRST_CALLS:
            return False
        return abs(self.apply(model, tokens) - reported) <= _FORESEEN * reported

    def ratio(self, model: str, mixture: Mixture | None = None) -> float:
        """Reported over estimated tokens of such a mixture, by default of the newest call's.

        1 for a model not seen yet, and for nothing; at least 0.4 and at most 3.
        """
        weights, made_of = self.models.get(model), mixture or self.newest.get(model)
        if weights is None or made_of is None or made_of.tokens <= 0:
            return 1.0
        return min(MOST, max(LEAST, weights.ratio(made_of.shares)))

    def apply(self, model: str, tokens: int, mixture: Mixture | None = None) -> int:
        """An estimate, corrected."""
        return math.ceil(tokens * self.ratio(model, mixture))
