"""Which messages answer a question: BM25 over words, cosine over vectors, days, and what stands around (B-4, B-5).

numpy is imported with this module: import it late. The constants were chosen on one part of two public sets, short
dialogues (LoCoMo) and long messages about code (BEAM), and checked on the other part; `benchmarks/recall.py` has both.

- BM25: Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.
- Weights spread to neighbours term by term, before they saturate, so that a question whose words fall into two
  neighbouring messages finds both (positional language models, Lv & Zhai, SIGIR 2009). How far is measured in
  characters: in short dialogue it reaches some messages, in long texts hardly the next passage.
- Words and vectors are fused as standard scores; fusing by rank lost recall.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from codelaw.ranking.dates import NamedDay, asks_when, named
from codelaw.ranking.words import number, question_terms

Floats = npt.NDArray[np.floating[Any]]

K1, B = 0.9, 0.4
"""How soon a repeated word stops counting, and how much long passages are marked down."""
REACH_CHARS, SPREAD, NEIGHBOURS = 500.0, 0.6, 6
"""A neighbour's share of a word falls by e in so many characters, from this share on, over at most so many passages."""
SATURATION = 2.0
"""When a word in the neighbourhood stops counting."""
SESSION_SECONDS = 3 * 3600.0
"""Turns that begin further apart belong to different conversations."""
REST = 0.3
"""What a long message's other passages add to its best, as a share of their mean."""
DENSE_WEIGHT = 1.0
DAY_WEIGHT = 4.0
"""In standard scores, for a message of the very day that the question names."""
TIME_WEIGHT = 0.5
"""In standard scores, for a message that speaks of time when the question asks for one."""
ROLE_SHARE = {"user": 1.0, "summary": 1.0, "assistant": 0.6, "tool": 0.6}
"""People ask about what they said; what a model or a tool said is longer, and shares more words by chance."""
_SAME = 0.5
"""Nearness of a message said on the day, or in the month, that the question names."""
LENGTH_PENALTY = 0.1
"""A message of n passages has n chances to match: its score is divided by n to this power."""


@dataclass(frozen=True, slots=True)
class RankedSource:
    """A message as it is ranked."""

    id: str
    role: str
    at: float
    """Begin of its turn, in seconds since the epoch."""
    tells_time: bool


@dataclass(frozen=True, slots=True)
class RankedMessage:
    """A message and how well it fits."""

    id: str
    score: float
    similarity: float | None


@dataclass(frozen=True)
class MessageFrame:
    """The passages of a chat, those of one message side by side, in the order of the chat. Never changed."""

    messages: Sequence[RankedSource]
    """Each has at least one passage."""
    owner: npt.NDArray[np.int64]
    """The message of each passage, ascending."""
    chars: npt.NDArray[np.int64]
    words: npt.NDArray[np.uint32]
    """The terms of all passages, one after the other."""
    lengths: npt.NDArray[np.int64]
    """How many terms each passage has."""
    vectors: npt.NDArray[np.float32] | None = None
    """A row for each passage; zeros where there is none yet."""

    @classmethod
    def empty(cls) -> MessageFrame:
        none = np.array([], np.int64)
        return cls((), none, none, np.array([], np.uint32), none)

    def extended(
        self, messages: Sequence[RankedSource], counts: Sequence[int], chars: Sequence[int], words: Sequence[bytes]
    ) -> MessageFrame:
        """With messages behind the last, without vectors.

        Args:
            messages: What is added.
            counts: How many passages each of them has.
            chars: Of each of these passages.
            words: Likewise, the terms as `words.packed` gives them.
        """
        first = len(self.messages)
        return MessageFrame(
            [*self.messages, *messages],
            np.concatenate([self.owner, np.repeat(np.arange(first, first + len(messages)), counts)]),
            np.concatenate([self.chars, np.array(chars, np.int64)]),
            np.concatenate([self.words, np.frombuffer(b"".join(words), "<u4")]),
            np.concatenate([self.lengths, np.array([*map(len, words)], np.int64) // 4]),
        )

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """The first passage of each message."""
        return np.searchsorted(self.owner, np.arange(len(self.messages)))

    @cached_property
    def parts(self) -> Floats:
        """How many passages each message has."""
        return np.bincount(self.owner, minlength=len(self.messages)).astype(float)

    @cached_property
    def ends(self) -> npt.NDArray[np.int64]:
        """Behind the last term of each passage."""
        return np.cumsum(self.lengths)

    @cached_property
    def norm(self) -> Floats:
        """The denominator's share of BM25 that depends on a passage's length."""
        return K1 * (1 - B + B * self.lengths / max(1.0, float(self.lengths.mean())))

    @cached_property
    def shares(self) -> list[Floats]:
        """For each distance d: the share that passages i and i + d have in each other's words."""
        middles = np.cumsum(self.chars) - self.chars / 2
        times = np.array([said.at for said in self.messages])
        with np.errstate(invalid="ignore"):  # a damaged file may hold any number
            gaps = np.abs(np.diff(times, prepend=times[:1])) > SESSION_SECONDS
        sessions = np.cumsum(gaps)[self.owner]
        shares: list[Floats] = []
        for distance in range(1, min(NEIGHBOURS, len(self.owner) - 1) + 1):
            share = SPREAD * np.exp((middles[:-distance] - middles[distance:]) / REACH_CHARS)
            share[sessions[distance:] != sessions[:-distance]] = 0.0
            shares.append(share)
        return shares

    @cached_property
    def prior(self) -> Floats:
        """What each message's score is multiplied by."""
        return np.array([ROLE_SHARE.get(said.role, 0.5) for said in self.messages]) * self.parts**-LENGTH_PENALTY

    @cached_property
    def times(self) -> Floats:
        """1 for each message that speaks of time, else 0."""
        return np.array([said.tells_time for said in self.messages], np.float64)

    @cached_property
    def days(self) -> list[date | None]:
        """The day of each message, here."""
        return [_day(said.at) for said in self.messages]


def rank(
    frame: MessageFrame, question: str, vector: npt.NDArray[np.float32] | None = None, today: date | None = None
) -> Iterator[RankedMessage]:
    """The messages of a frame, best first; without a vector only those that share a word or a day with the question.

    Args:
        frame: What is ranked.
        question: Any text.
        vector: The question's, of length 1 and as long as those of the frame.
        today: What `yesterday` is counted from.
    """
    if not frame.messages:
        return
    lexical = _best(frame, _lexical(frame, question_terms(question)))
    found = lexical > 0
    scores = _standard(lexical)
    similarity = None
    if vector is not None and frame.vectors is not None and frame.vectors.shape[1] == len(vector):
        similarity, dense, known = _dense(frame, frame.vectors, vector)
        scores = scores + DENSE_WEIGHT * _standard(dense, known)
        similarity = np.where(known, similarity, np.nan)
        found |= known
    scores, near = _with_time(frame, scores, question, today)
    found |= near
    scores = (scores - scores.min()) * frame.prior
    for place in map(int, np.argsort(-scores, kind="stable")):
        if found[place]:
            near_by = None if similarity is None or np.isnan(similarity[place]) else float(similarity[place])
            yield RankedMessage(frame.messages[place].id, float(scores[place]), near_by)


def _lexical(frame: MessageFrame, terms: Sequence[str]) -> Floats:
    """BM25 of each passage; words are shared with neighbours."""
    total = np.zeros(len(frame.lengths))
    passages = len(frame.lengths)
    for term in terms:
        places = np.searchsorted(frame.ends, np.flatnonzero(frame.words == number(term)), side="right")
        if not len(places):
            continue
        counts = np.bincount(places, minlength=passages).astype(float)
        holders = int(np.count_nonzero(counts))
        rarity = np.log1p((passages - holders + 0.5) / (holders + 0.5))
        weights = _spread(frame, counts * (K1 + 1) / (counts + frame.norm))
        total += rarity * weights * (1 + SATURATION) / (weights + SATURATION)
    return total


def _spread(frame: MessageFrame, weights: Floats) -> Floats:
    spread = weights.copy()
    for distance, share in enumerate(frame.shares, 1):
        spread[distance:] += weights[:-distance] * share
        spread[:-distance] += weights[distance:] * share
    return spread


def _best(frame: MessageFrame, passages: Floats) -> Floats:
    """Of each message: its best passage, with a share of the mean of all."""
    best = np.maximum.reduceat(passages, frame.starts)
    return best + REST * np.add.reduceat(passages, frame.starts) / frame.parts


def _dense(
    frame: MessageFrame, vectors: npt.NDArray[np.float32], vector: npt.NDArray[np.float32]
) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Of each message: the cosine of its best passage, with a share of the mean of all, and whether it has any."""
    cosines = (vectors @ vector).astype(float)
    there = vectors.any(axis=1) & np.isfinite(cosines)
    best = np.maximum.reduceat(np.where(there, cosines, -2.0), frame.starts)
    counts = np.add.reduceat(there.astype(float), frame.starts)
    sums = np.add.reduceat(np.where(there, cosines, 0.0), frame.starts)
    return best, best + REST * sums / np.maximum(counts, 1.0), counts > 0


def _standard(scores: Floats, known: npt.NDArray[np.bool_] | None = None) -> Floats:
    """Standard scores; 0 for what is not known."""
    if known is None:
        known = np.ones(len(scores), bool)
    if not known.any():
        return np.zeros(len(scores))
    some = scores[known]
    return np.where(known, (scores - some.mean()) / (some.std() + 1e-9), 0.0)


def _with_time(
    frame: MessageFrame, scores: Floats, question: str, today: date | None
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Scores that count time in, and which messages the day that the question names picks out, whatever they say."""
    near = np.zeros(len(scores))
    if wanted := named(question, today):
        near = np.array([_nearness(wanted, day) for day in frame.days])
        scores = scores + DAY_WEIGHT * near
    if asks_when(question):
        scores = scores + TIME_WEIGHT * frame.times
    same = near >= _SAME
    return scores, same if 2 * np.count_nonzero(same) <= len(same) else np.zeros(len(same), bool)


def _nearness(wanted: Sequence[NamedDay], day: date | None) -> float:
    return 0.0 if day is None else max(stretch.nearness(day) for stretch in wanted)


@lru_cache(maxsize=20_000)
def _day(at: float) -> date | None:
    try:
        return datetime.fromtimestamp(at, UTC).astimezone().date()
    except (OverflowError, OSError, ValueError):
        return None
