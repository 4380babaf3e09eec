"""The transcript: what was said in finished turns, append-only, and the cuts that its view makes (K-3).

Its rounds are what finished turns leave in the history (K-2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from codelaw.domain.checkpoints import Aside, Checkpoint, Demotion, ThreadSummary
from codelaw.domain.messages import Fragment, Message


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """A turn's messages: the user's, the steps with their results, the final one. Never parted."""

    turn_id: str
    messages: tuple[Message, ...]


def own(messages: Iterable[Message]) -> tuple[Message, ...]:
    """What the chat's own turns said: without the steps of their children, which no view of the history shows (X-4)."""
    return tuple(message for message in messages if message.metadata.parent is None)


def rounds(messages: Sequence[Message]) -> tuple[Round, ...]:
    """The rounds of a record, in order; summaries belong to none."""
    spoken = (message for message in messages if message.role != "summary")
    return tuple(Round(turn_id, tuple(group)) for turn_id, group in groupby(spoken, lambda message: message.turn_id))


def due(used: int, asked: int, *, window: int, threshold: float, messages: int, min_messages: int) -> bool:
    """The trigger: the tokens of the latest real answer and of the input reach the threshold (W-2).

    `asked` is the input's length over three; `messages` are those that were said before it.
    """
    # Rounded, since 0.55 × 100 000 is a little more than 55 000 in binary fractions.
    return messages >= min_messages and used + asked >= round(threshold * window, 6)


def newest_fitting(sizes: Sequence[float], room: float, least: int = 1) -> int:
    """How many of the newest of these sizes fit into `room` together; `least` of them in any case."""
    fit, used = 0, 0.0
    for size in reversed(sizes):
        used += size
        if used > room and fit >= least:
            break
        fit += 1
    return fit


@dataclass(frozen=True, slots=True)
class Cut:
    """The rounds on either side of a boundary; the older ones are archived."""

    archived: tuple[Round, ...]
    kept: tuple[Round, ...]


def cut(rounds: Sequence[Round], *, keep: int, room: float, sizes: Mapping[str, int]) -> Cut:
    """Keep the newest `keep` rounds, and more while all that is kept fits into `room` tokens (K-2).

    `sizes` gives the tokens of each turn; one that is not in it shows nothing. A `room` of 0 keeps exactly `keep`
    rounds; a `keep` of 1 keeps what fits, when the window is in danger (K-8).
    """
    place = len(rounds) - newest_fitting([sizes.get(round_.turn_id, 0) for round_ in rounds], room, keep)
    return Cut(tuple(rounds[:place]), tuple(rounds[place:]))


@dataclass(frozen=True, slots=True, eq=False)
class Transcript:
    """A value: every change gives another one, and the record in it is only ever longer."""

    messages: tuple[Message, ...] = ()
    """The finished rounds, whole, in order; no summaries."""
    checkpoints: tuple[Checkpoint, ...] = ()
    """Oldest first, the undone ones left out."""
    demotions: frozenset[Demotion] = frozenset()
    """Those made for economy; the others belong to their checkpoint."""
    started: Mapping[str, float] = field(default_factory=dict[str, float])
    """When each turn began, in seconds since the epoch."""
    withdrawn: frozenset[str] = frozenset()
    """The turns that were taken out of the view (E-2)."""
    thread: ThreadSummary | None = None
    """The rolling summary, for the strategies that show one (B-3)."""
    reported: Mapping[str, str] = field(default_factory=dict[str, str])
    """Contents of results as their turns showed them, by ref; of those in `whole` as many as are known (C-6)."""

    asides: tuple[Aside, ...] = ()
    """What was shown behind messages, in the order in which it was first shown (L-3)."""

    def ended(
        self, messages: Sequence[Message], turn_id: str, started: float, asides: Sequence[Aside] = ()
    ) -> Transcript:
        """With one more finished round."""
        said, begun = (*self.messages, *messages), {**self.started, turn_id: started}
        return replace(self, messages=said, started=begun, asides=(*self.asides, *asides))

    def reshaped(self, checkpoint: Checkpoint | None, demotions: Sequence[Demotion]) -> Transcript:
        """With a checkpoint, demotions, or both."""
        cuts = self.checkpoints if checkpoint is None else (*self.checkpoints, checkpoint)
        after = replace(self, checkpoints=cuts, demotions=self.demotions | frozenset(demotions))
        return after.recalling(self.reported)

    def recalling(self, reported: Mapping[str, str]) -> Transcript:
        """With these contents of results, as far as the view shows them."""
        return replace(self, reported={ref: reported[ref] for ref in self.whole if ref in reported})

    def restored(self, checkpoint_id: str | None = None) -> Transcript | None:
        """Without that checkpoint (the newest) and those made after it; None when there is no such checkpoint."""
        places = [place for place, cut in enumerate(self.checkpoints) if checkpoint_id in {None, cut.id}]
        return replace(self, checkpoints=self.checkpoints[: places[-1]]) if places else None

    def without(self, turn_id: str) -> Transcript:
        """With that turn left out of the view, and out of sight what a rolling summary says of it."""
        thread, turns = self.thread, self.turns
        if thread is not None and turns.get(turn_id, len(turns)) <= turns.get(thread.covers, -1):
            thread = None
        return replace(self, withdrawn=self.withdrawn | {turn_id}, thread=thread)

    def summarised(self, thread: ThreadSummary) -> Transcript:
        """With that rolling summary in the place of the one before."""
        return replace(self, thread=thread)

    @property
    def cut(self) -> int:
        """How many messages at the beginning are archived.

        A checkpoint whose first kept round is not in the record archives nothing: too much is shown, not too little.
        """
        kept = {cut.first_kept for cut in self.checkpoints}
        return max((place for place, message in self._starts() if message.turn_id in kept), default=0)

    @property
    def summaries(self) -> tuple[Message, ...]:
        """The summaries of what is archived, oldest first (K-1)."""
        known = {message.turn_id for _, message in self._starts()}
        return tuple(cut.summary for cut in self.checkpoints if cut.summary is not None and cut.first_kept in known)

    @property
    def demoted(self) -> frozenset[Demotion]:
        """All that the view shows as one line."""
        return self.demotions.union(*(cut.demotions for cut in self.checkpoints))

    @property
    def shown(self) -> tuple[Message, ...]:
        """The messages that are neither archived nor withdrawn."""
        return self._standing(self.messages[self.cut :])

    @property
    def unwithdrawn(self) -> tuple[Message, ...]:
        """The messages that are not withdrawn, the archived ones among them."""
        return self._standing(self.messages)

    @property
    def whole(self) -> Mapping[str, str]:
        """The results that the view shows as their turns did, no batch having shortened them: ids by ref (C-6)."""
        shortened = {one.message_id for one in self.demoted if one.part != "arguments"}
        return {
            facts.ref: message.id
            for message in self.shown
            if (facts := message.metadata).whole
            and facts.ref is not None
            and message.id not in shortened
            and not facts.damaged
        }

    @property
    def beside(self) -> Mapping[str, Sequence[Fragment]]:
        """What the view shows behind messages, by their ids: it goes when its message is shortened (L-3)."""
        gone = {one.message_id for one in self.demoted if one.part != "arguments"}
        stands: dict[str, list[Fragment]] = {}
        for aside in self.asides:
            if aside.message_id not in gone:
                stands.setdefault(aside.message_id, []).append(Fragment(aside.name, aside.text))
        return stands

    @property
    def kept(self) -> tuple[Round, ...]:
        """The rounds that are neither archived nor withdrawn."""
        return rounds(self.shown)

    @property
    def newest_turn(self) -> str:
        """The turn that ended last; empty before the first."""
        return self.messages[-1].turn_id if self.messages else ""

    @property
    def turns(self) -> Mapping[str, int]:
        """The place of every turn in the record."""
        return {turn: place for place, turn in enumerate(dict.fromkeys(one.turn_id for one in self.messages))}

    def _standing(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return tuple(one for one in messages if one.turn_id not in self.withdrawn) if self.withdrawn else messages

    def _starts(self) -> list[tuple[int, Message]]:
        """The first message of every round, with its place."""
        return [
            (place, message)
            for place, message in enumerate(self.messages)
            if place == 0 or self.messages[place - 1].turn_id != message.turn_id
        ]
