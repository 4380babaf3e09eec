"""What it saves to have the vendor's cache keep the older part of a chat for an hour, by how people pause (L-6).

    pauses.py FOLDER DATA... [--model NAME] [--concat 10] [--sys 8000]

As `replay.py`, whose sessions, policy and cold starts these are; the records have no times. So of the pauses that a
cache of five minutes does not outlive, each column has another share that ends within the hour. Billed as the vendor
documents it: read is what its longest entry holds, what stands behind that up to the last breakpoint of an hour is
written for an hour, the rest for five minutes; an entry that is only read keeps the time that it was written for.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from replay import COLD, Bill, Chat, Replay, Session, Settings

from codelaw.adapters.models import catalog
from codelaw.agent.dialects.spelling import Layout, places
from codelaw.agent.model_calls.caching import CacheTtl, Pauses, lasting
from codelaw.context.shortening.economy import anchors
from codelaw.domain.models import DEFAULT_MODEL, Ttl, Usage

SHARES = (0.2, 0.5, 0.8)
"""Of all cold starts, those inside turns too: there a command ran long, or a question waited."""
OFFERED: tuple[Ttl, ...] = ("5m", "1h")
WANTED: tuple[CacheTtl, ...] = ("5m", "1h", "auto")


class Paused(Chat):
    """A chat before some of whose turns its user paused; `seen` are the pauses of this and earlier chats."""

    def __init__(self, replay: Replay, session: Session, settings: Settings, wanted: CacheTtl, share: float) -> None:
        super().__init__(replay, session, settings)
        self.wanted: CacheTtl = wanted
        self.chance = Random(f"{share} {len(session.blocks)} {len(session.requests)}")
        self.share = share
        self.seen = Pauses()
        self.ttl: Ttl = "5m"
        self.longest = 0
        """The longest pause since the last turn began: none, within the hour, or longer."""
        self.within = False
        """A pause before this request ends within the hour."""
        self.first = False
        self.stood = 0
        """Blocks in front of the first that a batch might have changed, at the request before."""
        self.hours: set[int] = set()
        """The numbers of those prefixes in `written` that are kept for an hour."""

    def prepare(self, *, first: bool, cold: bool) -> None:
        self.first, self.within = first, self.chance.random() < self.share
        self.longest = max(self.longest, 0 if not cold else 1 if self.within else 2)
        super().prepare(first=first, cold=cold)
        if first:
            seen, longest = self.seen, self.longest
            self.seen, self.longest = (
                Pauses(seen.turns + 1, seen.within + (longest == 1), seen.beyond + (longest == 2)),
                0,
            )
            self.ttl = lasting(self.wanted, OFFERED, self.bill.prices, self.seen, self.used)

    def marks(self, number: int, keys: Sequence[Any]) -> tuple[list[int], int]:
        """As the product places them, which looks for the last turn's beginning too."""
        _, past = super().marks(number, keys)
        turns = [self.session.blocks[key[0]].turn if isinstance(key[0], int) else -1 for key in keys]
        before = turns.count(-1)
        finished = [self.shown[key[0]] for key in keys[before:past]]
        near = [before + place for place in anchors(finished, self.demotions)]
        last = turns[past - 1] if past > before else -1
        changed, first = self.changed(keys), self.first
        batch = changed < min(past, len(self.before_keys))
        layout = Layout(
            settled=near[number % len(near)],
            reused=(min(self.stood, changed), changed) if batch else (),
            newest_round=next((at for at, turn in enumerate(turns) if turn == last), past),
            rounds=past,
            step=past if first else min(len(self.before_keys), len(keys)),
            end=len(keys),
        )
        self.stood = near[0]
        return [1, *places(layout, first=first, hour=self.ttl == "1h")], past

    def account(self, number: int, keys: Sequence[Any], sizes: Sequence[int], *, cold: bool) -> None:
        if cold:
            self.hours &= self.hours if self.within else set()
            self.written &= self.hours
        marks, past = self.marks(number, keys)
        hit, prefixes = self.found(keys, marks)
        new = {end: self.ttl == "1h" and end <= past for end in marks if end > hit}
        hour = max([hit, *(end for end, lasts in new.items() if lasts)])
        self.written |= {prefixes[end] for end in marks}
        self.hours |= {prefixes[end] for end, lasts in new.items() if lasts}
        usage = Usage(
            cache_read_tokens=sum(sizes[:hit]),
            cache_write_tokens=sum(sizes[hit:]),
            cache_write_1h_tokens=sum(sizes[hit:hour]),
        )
        self.paid["billed"] += self.bill.prices.cost(usage)


def cost(
    replay: Replay, sessions: Sequence[Session], settings: Settings, system: int, way: tuple[CacheTtl, float]
) -> float:
    """US dollars of all sessions, one after the other."""
    seen, paid = Pauses(), 0.0
    for session in sessions:
        chat = Paused(replay, session, settings, *way)
        chat.seen = seen
        replay.sim.simulate(session.blocks, session.requests, chat, system, inv=session.found)
        seen, paid = chat.seen, paid + chat.paid["billed"] + chat.paid["summed"]
    return paid


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds replay_cost.py and transcripts.py")
    parser.add_argument("files", nargs="+", help="recorded sessions")
    parser.add_argument("--model", default=DEFAULT_MODEL, help="whose prices count")
    parser.add_argument("--concat", type=int, default=0, help="so many sessions one after the other as turns of one")
    parser.add_argument("--sys", type=int, default=8_000, help="tokens of L1")
    asked = parser.parse_args()
    profile = catalog.profile(asked.model)
    assert profile is not None
    assert profile.prices is not None
    bill = Bill(profile.prices, COLD["real"], profile.effort if profile.binds else None)
    settings = Settings(0.8, 10, bill)
    replay = Replay(asked.folder)
    sessions = list(replay.sessions(asked.files, asked.concat))
    print(f"{len(sessions)} sessions at the prices of {asked.model}; 100 is a cache of five minutes\n")
    print(f"| pauses that end within the hour | {' | '.join(WANTED)} |\n|{'---|' * (len(WANTED) + 1)}")
    for share in SHARES:
        costs = [cost(replay, sessions, replace(settings), asked.sys, (wanted, share)) for wanted in WANTED]
        print(f"| {share} | {' | '.join(f'{100 * one / costs[0]:.1f}' for one in costs)} |", flush=True)


if __name__ == "__main__":
    main()
