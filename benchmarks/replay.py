"""What real sessions would have cost under our context policy, against sending everything (C-5, C-6, K-2, K-8).

    replay.py FOLDER DATA... [--model NAME] [--cold real] [--concat 10 --sys 0] [--threshold 0.4 --keep-rounds 2]

FOLDER holds the simulator, `replay_cost.py` and `transcripts.py`; DATA are recorded sessions. No model is called: the
recorded calls and results are replayed as they were, and our own code decides what each request would show, at the
prices of the model NAME. Cold starts, and the shares of edited lines and of used names that are still visible are the
simulator's. A Read of a path whose last result was shortened is charged once more, with a request of its own.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Self

from recorded import Rows, kind_of, messages_of, readable, texts

from codelaw.adapters.models import catalog
from codelaw.adapters.tokenizer import counter
from codelaw.context.shortening import economy, scratchpad
from codelaw.context.shortening.demotion import demoted
from codelaw.context.shortening.economy import TYPICAL, Terms, anchors, plan, thin
from codelaw.context.shortening.scratchpad import shrink_scratchpad
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.messages import Message
from codelaw.domain.models import Effort, Prices, Usage
from codelaw.settings.providers import ModelGroup

WINDOW = 200_000
RESERVE = 16_384
"""Tokens kept for the answer."""
LOW_WATER = 0.4
LOOKBACK = 20
"""Blocks before a breakpoint among which the vendor looks for an entry that was written earlier."""
GROWTH = 10
"""The part of the window by which the view grows before it is compacted again (K-8)."""
SCALE, PER_CALL = 1.12, 145.0
"""Tokens of the vendor over o200k's, and what a call and its result cost besides, as the simulator has them."""
SUMMARY = 3_050
"""Tokens of a summary, the median of real ones."""
ASKED = 120
"""Tokens of a request for a Read, as the simulator has them."""
FULL, GONE = 0, 3
"""States of the simulator: as it was said, and archived."""


class Form(int):
    """A state that the simulator takes for `compressed`, and that its cache can tell from the other such states."""

    name: str

    def __new__(cls, name: str) -> Self:
        form = super().__new__(cls, 1)
        form.name = name
        return form

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, Form) else int(self) == other

    def __hash__(self) -> int:
        return 1


CUT, LINE, RELIEVED = Form("as history has it"), Form("one line"), Form("shortened in its turn")


@dataclass(slots=True)
class Session:
    """A recorded session: blocks of the simulator, and our messages of each block."""

    blocks: list[Any]
    requests: list[Any]
    found: Any
    messages: dict[bool, tuple[list[Message], list[Message]]]
    """As the history has them and as the running turn does, with results as text (True) and as JSON."""


Cold = Callable[[int, bool], bool]
"""Whether the cache has expired before a request: by its number in the session, and whether it begins a turn."""
COLD: dict[str, Cold] = {
    "none": lambda _number, _first: False,
    "turns": lambda number, first: number > 0 and first,
    "real": lambda number, first: number > 0 and number * 2654435761 % 1000 < (219 if first else 13),
}


@dataclass(frozen=True, slots=True)
class Bill:
    """What requests cost, and when the vendor's cache has forgotten them."""

    prices: Prices
    cold: Cold
    effort: Effort | None = None
    """As `Terms` has it."""

    def request(self, tokens: int, read: int) -> float:
        """A request of so many tokens, `read` of them from the cache and the others written to it."""
        return self.prices.cost(Usage(cache_read_tokens=read, cache_write_tokens=tokens - read))


@dataclass(frozen=True, slots=True)
class Settings:
    threshold: float
    keep_rounds: int
    bill: Bill
    economy: bool = True
    as_text: bool = True
    """`context.observations` is `text` (C-7)."""


class Replay:
    """The simulator, and our messages made of its rows."""

    def __init__(self, folder: Path) -> None:
        sys.path.insert(0, str(folder))
        self.sim = _module(folder / "replay_cost.py")
        if self.sim.T.TOKNAME.startswith("chars"):
            self.sim.T.tok, self.sim.T.TOKNAME = counter(), "o200k_base"
        self._seen: dict[Any, tuple[int, set[str], set[str]]] = {}
        economy.message_tokens = scratchpad.message_tokens = self.size  # all is measured as the simulator does

    def sessions(self, files: Iterable[str], concat: int) -> Iterator[Session]:
        loaded: dict[str, Rows] = {}
        for file in files:
            loaded.update(self.sim.T.load(file))
        for rows in (self.sim.concat(loaded, concat) if concat else loaded).values():
            blocks, requests = self.sim.build_session(rows, None, SCALE, PER_CALL)
            messages = {as_text: messages_of(rows, as_text=as_text) for as_text in (True, False)}
            for _, full in messages.values():
                assert [(block.kind, block.step) for block in blocks] == [(kind_of(m), m.metadata.step) for m in full]
            yield Session(blocks, requests, self.sim.invert(blocks), messages)

    def size(self, message: Message) -> int:
        """Tokens of a message in the simulator's measure, whichever form it has."""
        return self.seen(message)[0]

    def seen(self, message: Message) -> tuple[int, set[str], set[str]]:
        """A form of a message: its tokens, and the names and lines that can be read in it."""
        key = message.id, message.content, message.metadata.as_text, tuple(map(id, message.metadata.calls))
        if key not in self._seen:
            parts = texts(message)
            said = message.role == "assistant"
            calls = len(message.metadata.calls) if said else message.role == "tool"
            tokens = self.sim.T.tok("".join(parts) if said else readable(message))
            visible = "\n".join(parts)
            size = int(tokens * SCALE + PER_CALL * 0.5 * calls + 0.5)
            self._seen[key] = size, self.sim.idents(visible), self.sim.linekeys(visible)
        return self._seen[key]


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


class Everything:
    """A chat of which nothing is ever left out, and what its requests cost."""

    def __init__(self, replay: Replay, session: Session, bill: Bill) -> None:
        self.replay, self.session, self.bill = replay, session, bill
        self.count = self.turn = 0
        """Blocks that the next request may show, and the turn that makes it."""
        self.before_keys: list[Any] = []
        """The blocks of the request before."""
        self.paid = defaultdict[str, float](float)
        """`ideal`, `billed` and `again`: with a cache of every prefix, of those at breakpoints, and by Reads anew."""

    def reset(self, state: Any) -> None:
        """The simulator begins with all blocks in full."""
        self.state = state

    def before(self, state: Any, number: int, new_turn: bool) -> None:  # noqa: FBT001 - the simulator's call
        """A request is to be made."""
        self.count, self.turn = state.reqs[number][:2]
        cold = self.bill.cold(number, new_turn)
        self.prepare(first=new_turn, cold=cold)
        keys, sizes = self.shown_blocks()
        read = 0 if cold else sum(sizes[: self.changed(keys)])
        self.paid["ideal"] += self.bill.request(sum(sizes), read)
        self.paid["read"] += read
        self.account(number, keys, sizes, cold=cold)
        self.before_keys = keys

    def prepare(self, *, first: bool, cold: bool) -> None:
        """All stays as it is."""

    def account(self, number: int, keys: Sequence[Any], sizes: Sequence[int], *, cold: bool) -> None:
        """Nothing is lost, so that nothing is read again."""

    def shown_blocks(self) -> tuple[list[Any], list[int]]:
        """What the request shows, as the cache tells one from another, and the tokens of each."""
        state = self.state
        keys: list[Any] = ["sys", ("sum", state.nsum)] if state.summary else ["sys"]
        sizes = [state.sysT, state.summary] if state.summary else [state.sysT]
        for place in range(self.count):
            if (form := state.state[place]) != GONE:
                keys.append((place, form))
                sizes.append(self.now(place))
        return keys, sizes

    def now(self, place: int) -> int:
        """Tokens of a block in the form it has."""
        block = self.session.blocks[place]
        return block.tok if self.state.state[place] == FULL else block.ctok

    def changed(self, keys: Sequence[Any]) -> int:
        """How many blocks are as they were in the request before."""
        pairs = enumerate(zip(keys, self.before_keys, strict=False))
        return next((at for at, (one, other) in pairs if one != other), min(len(keys), len(self.before_keys)))


class Chat(Everything):
    """A chat of ours, as the simulator asks: what would the next request show?"""

    def __init__(self, replay: Replay, session: Session, settings: Settings) -> None:
        super().__init__(replay, session, settings.bill)
        self.settings = settings
        self.demotions: set[Demotion] = set()
        self.kept, self.full = session.messages[settings.as_text]
        self.record = {message.id: message for message in self.kept}
        self.shown = list(self.full)
        self.used = 0
        """Tokens of the last request (W-1)."""
        self.least = -WINDOW
        """Tokens when the last compaction ended, or fewer since (K-8)."""
        self.prefixes: dict[tuple[int, Any], int] = {}
        """Numbers of the prefixes that were sent: by that of the prefix without its last block, and that block."""
        self.written: set[int] = set()
        """Those that the vendor's cache holds."""
        self.settled = 0
        """Blocks in front of the first that a batch may still change."""
        self.reads: dict[str, int] = {}
        """The block of the newest result of Read, by path."""

    def prepare(self, *, first: bool, cold: bool) -> None:
        if first:
            self.begin(cold=cold)
        self.step()
        self.used = self.tokens

    def account(self, number: int, keys: Sequence[Any], sizes: Sequence[int], *, cold: bool) -> None:
        if cold:
            self.written.clear()
        marks, _ = self.marks(number, keys)
        hit, prefixes = self.found(keys, marks)
        self.written |= {prefixes[end] for end in marks}
        self.paid["billed"] += self.bill.request(sum(sizes), sum(sizes[:hit]))
        self.read_again(sum(sizes))

    def read_again(self, tokens: int) -> None:
        """Charge the Reads that the request asks for of paths whose last result is not shown in full any more."""
        step = self.session.blocks[self.count].step
        for place in range(self.count, len(self.session.blocks)):
            block = self.session.blocks[place]
            if block.step != step:
                break
            if block.tool != "Read" or not block.path:
                continue
            if (last := self.reads.get(block.path)) is not None and self.lost(last):
                anew = Usage(cache_read_tokens=tokens, cache_write_tokens=block.tok, output_tokens=ASKED)
                self.paid["again"] += self.bill.prices.cost(anew)
                self.paid["reads"] += 1
            self.reads[block.path] = place

    def lost(self, place: int) -> bool:
        """Whether lines of a result are not shown any more."""
        state, block = self.state.state[place], self.session.blocks[place]
        return state == GONE or (state != FULL and not block.lines <= block.clines)

    def marks(self, number: int, keys: Sequence[Any]) -> tuple[list[int], int]:
        """Where our four breakpoints stand (L-6), and where the finished turns end."""
        places = [key[0] for key in keys if isinstance(key[0], int)]
        before = len(keys) - len(places)
        finished = [self.shown[place] for place in places if self.session.blocks[place].turn < self.turn]
        past = before + len(finished)
        near = [before + place for place in anchors(finished, self.demotions)]
        marks = [1, near[number % len(near)], past, len(keys)]
        changed = self.changed(keys)
        if changed < min(past, len(self.before_keys)):  # the request after a batch
            marks = [1, min(self.settled, changed), changed, len(keys)]
        self.settled = near[0]
        return marks, past

    def found(self, keys: Sequence[Any], marks: Sequence[int]) -> tuple[int, list[int]]:
        """How many blocks the cache gives back, which is read at breakpoints only; and each prefix's number."""
        hit, prefixes = 0, [0]
        for key in keys:
            prefixes.append(self.prefixes.setdefault((prefixes[-1], key), len(self.prefixes) + 1))
        for end in marks:
            found = (at for at in range(end, max(0, end - LOOKBACK), -1) if prefixes[at] in self.written)
            hit = max(hit, next(found, 0))
        return hit, prefixes

    @property
    def tokens(self) -> int:
        """Of the whole view."""
        return self.state.toks(self.count)

    def places(self, *, running: bool) -> list[int]:
        """The blocks of the finished turns, or of the running one, that are still shown."""
        return [
            place
            for place in range(self.count)
            if self.state.state[place] != GONE
            and (self.session.blocks[place].turn >= self.turn) is running
            and self.session.blocks[place].kind != "system"
        ]

    # ---------------------------------------------------------------------------------------------- a turn's beginning

    def begin(self, *, cold: bool) -> None:
        """The user has spoken: the last turn joins the history (C-2), which is kept in shape."""
        past = self.places(running=False)
        for place in past if not self.settings.economy else ():
            if self.session.blocks[place].kind == "obs" and self.state.state[place] not in (CUT, LINE):
                self.show(place, self.kept[place], CUT)
        question = sum(self.session.blocks[place].tok for place in self.places(running=True))
        self.least = min(self.least, self.tokens)
        grown = self.tokens - self.least >= WINDOW // GROWTH
        if self.used + question // 3 >= self.settings.threshold * WINDOW and grown:
            self.compact(None)
        elif self.settings.economy:
            self.demote(self.plan([self.shown[place] for place in past], cold=cold))

    def plan(self, history: Sequence[Message], *, cold: bool) -> tuple[Demotion, ...]:
        return plan(
            history,
            self.demotions,
            self.record,
            tokens=self.tokens,
            terms=Terms(WINDOW, self.bill.prices, cold=cold, effort=self.bill.effort),
        )

    def compact(self, goal: int | None) -> None:
        """Demote, archive, thin (K-2, K-8); with a `goal` also fewer rounds than ought to stay."""
        low, past = int(LOW_WATER * WINDOW), self.places(running=False)
        if self.settings.economy:
            self.demote(self.plan([self.shown[place] for place in past], cold=True))
        turns = sorted({self.session.blocks[place].turn for place in past})
        keep = self.settings.keep_rounds
        if len(turns) > keep or goal is not None:
            if self.tokens <= low:
                return
            self.archive(past, turns, keep, low)
        self.thin(low)
        if goal is not None and self.tokens > goal - WINDOW // GROWTH:
            self.archive(past, turns, 1, low)
        self.least = self.tokens

    def archive(self, past: Sequence[int], turns: Sequence[int], keep: int, room: int) -> None:
        """All but the newest `keep` turns, and more while they fit."""
        sizes = Counter[int]()
        for place in past:
            if self.state.state[place] != GONE:
                sizes[self.session.blocks[place].turn] += self.now(place)
        before = self.tokens
        first = max(0, len(turns) - keep)
        used = before - sum(sizes.values()) + SUMMARY + sum(sizes[turn] for turn in turns[first:])
        while first > 0 and (used := used + sizes[turns[first - 1]]) <= room:
            first -= 1
        gone = [
            place
            for place in past
            if self.state.state[place] != GONE and self.session.blocks[place].turn in set(turns[:first])
        ]
        if gone:
            self.state.summarise(gone, self.state.summary + SUMMARY, before)
            self.paid["summed"] += self.bill.prices.cost(Usage(cache_read_tokens=before, output_tokens=SUMMARY))

    def thin(self, mark: int) -> None:
        over = self.tokens - mark
        if over > 0:
            left = [self.shown[place] for place in self.places(running=False)]
            self.demote(thin(left, self.demotions, to_free=over))

    # --------------------------------------------------------------------------------------------------- every request

    def step(self) -> None:
        """Before a request: a batch of finished rounds (C-6), and the window: rounds first, the turn last (C-5)."""
        running = self.places(running=True)
        shown, record = [self.shown[place] for place in running], [self.kept[place] for place in running]
        if self.tokens >= self.settings.threshold * WINDOW and self.tokens - self.least >= WINDOW // GROWTH:
            self.compact(None)
        if self.tokens > WINDOW - RESERVE:
            self.compact(WINDOW - RESERVE)
        if self.tokens > WINDOW - RESERVE:
            shown = [self.shown[place] for place in running]
            after = shrink_scratchpad(shown, record, to_free=int(self.tokens - LOW_WATER * WINDOW))
            for place, old, new in zip(running, shown, after, strict=True):
                if new is not old:
                    self.show(place, new, CUT if new is self.kept[place] else RELIEVED)

    # --------------------------------------------------------------------------------------------- changes of the view

    def show(self, place: int, message: Message, form: Form) -> None:
        """Show a block in another form from now on."""
        block = self.session.blocks[place]
        self.shown[place] = message
        self.state.state[place] = form
        block.ctok, block.cids, block.clines = self.replay.seen(message)

    def demote(self, chosen: Iterable[Demotion]) -> None:
        """Show these as one line; it stays so."""
        new = frozenset(chosen) - self.demotions
        if not new:
            return
        self.demotions |= new
        lines = {what.message_id for what in self.demotions if what.part != "cut"}
        places = [place for place in range(self.count) if self.state.state[place] != GONE]
        whole = [self.full[place] for place in places]
        for place, message, shorter in zip(places, whole, demoted(whole, self.demotions, self.record), strict=True):
            form = LINE if message.id in lines else CUT
            if shorter not in (message, self.shown[place]) and (form is LINE or self.state.state[place] == FULL):
                self.show(place, shorter, form)


# ------------------------------------------------------------------------------------------------------------- figures


def measured(
    replay: Replay, sessions: Sequence[Session], system: int, bill: Bill, settings: Settings | None
) -> Counter:
    """The sums over all sessions: the simulator's, and what was paid."""
    total = Counter()
    peak = 0
    for session in sessions:
        policy = Everything(replay, session, bill) if settings is None else Chat(replay, session, settings)
        result = replay.sim.simulate(session.blocks, session.requests, policy, system, inv=session.found)
        peak = max(peak, result.pop("peak"))
        total.update(result)
        total.update(policy.paid)
    total["peak"] = peak
    for part in ("ideal", "billed"):
        total[part] += total["summed"] if total[part] else 0
    total["adj"] = total["ideal"] + total["again"]
    return total


HEADS = (
    "",
    "cost",
    "as billed",
    "with re-reads",
    "re-reads",
    "tokens",
    "edit",
    "ref",
    "hits",
    "mean k",
    "peak k",
    "too long",
    "summaries",
)


def figures(name: str, of: Counter, base: Counter) -> list[str]:
    """A row under `HEADS`; shares are per cent, of sending everything where they are of cost and tokens."""

    def share(part: str, whole: float) -> str:
        return f"{100 * of[part] / whole:.1f}" if whole else "–"

    sent = of["cr"] + of["cw"]
    shares = [share("ideal", base["ideal"]), share("billed", base["ideal"]) if of["billed"] else "–"]
    shares += [share("adj", base["ideal"]), str(int(of["reads"])), share("total", base["total"])]
    visible = [share("es", of["en"]), share("rs", of["rn"])]
    sizes = [f"{sent / of['reqs'] / 1e3:.0f}", f"{of['peak'] / 1e3:.0f}"]
    return [name, *shares, *visible, share("read", sent), *sizes, str(of["over"]), str(of["comps"])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds replay_cost.py and transcripts.py")
    parser.add_argument("files", nargs="+", help="recorded sessions")
    parser.add_argument("--model", default=ModelGroup().name, help="whose prices count")
    parser.add_argument("--cold", choices=list(COLD), default="none", help="when the cache is forgotten")
    parser.add_argument("--concat", type=int, default=0, help="so many sessions one after the other as turns of one")
    parser.add_argument("--sys", type=int, default=8_000, help="tokens of L1")
    parser.add_argument("--threshold", type=float, default=0.8, help="part of the window that makes compaction due")
    parser.add_argument("--keep-rounds", type=int, default=10, help="rounds that stay")
    asked = parser.parse_args()
    replay = Replay(asked.folder)
    sessions = list(replay.sessions(asked.files, asked.concat))
    policies: dict[str, Settings | None] = {"everything": None}
    profile = catalog.profile(asked.model)
    prices = profile.prices if profile is not None and profile.prices is not None else TYPICAL
    bill = Bill(prices, COLD[asked.cold], profile.effort if profile is not None and profile.binds else None)
    ours = Settings(asked.threshold, asked.keep_rounds, bill)
    policies |= {"ours": ours, "ours, results as JSON": replace(ours, as_text=False)}
    policies["without economy"] = replace(ours, economy=False)
    sums = {name: measured(replay, sessions, asked.sys, bill, of) for name, of in policies.items()}
    base = sums["everything"]
    counted = f"{len(sessions)} sessions, {base['reqs']} requests, tokens by {replay.sim.T.TOKNAME}"
    print(f"{counted}, cold: {asked.cold}, prices of {asked.model}\n")
    print(f"| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}")
    for name, of in sums.items():
        print(f"| {' | '.join(figures(name, of, base))} |")


if __name__ == "__main__":
    main()
