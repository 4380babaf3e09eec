"""How far estimates of tokens are off after one, three and ten calls of a model not seen before (W-4).

    benchmarks/estimates.py [--calls 12] [--chinese FILE]

Sessions grow by one step a call: the question, a call and its result, of code, English, Chinese, or mixtures of them.
What the vendor would bill is a stand-in, because no vendor publishes its tokenizer: 1.121 tokens for each of o200k's
and 145 for each call, which fits 4 638 requests that were really billed; those held code and English, no Chinese. So
it is done again with other vendors, whose tokenizers treat each kind of text in another way. The error is that of the
estimate for the next request before it is sent, by what was learnt from the requests before it: `own mixture` as
`codelaw context` gives it, `last mixture` as a running turn uses it, and `one factor` as it would be with one ratio
for all kinds of text. Chinese is the text of the TypeScript compiler's messages, from `editor-client/node_modules`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import client

from codelaw.adapters.tokenizer import load_counter
from codelaw.context.calibration import Calibration, Mixture, mixture
from codelaw.context.sections import message_section, text_section
from codelaw.domain.messages import Call, Message, Metadata

CHINESE = client.ROOT / "editor-client/node_modules/typescript/lib/zh-cn/diagnosticMessages.generated.json"
CODE, ENGLISH, CHINESE_TEXT = "code", "English", "Chinese"
SESSIONS: dict[str, tuple[str, ...]] = {
    "code": (CODE,),
    "English": (ENGLISH,),
    "Chinese": (CHINESE_TEXT,),
    "code and English": (CODE, ENGLISH),
    "code and Chinese": (CODE, CHINESE_TEXT),
    "all three": (CODE, ENGLISH, CHINESE_TEXT),
    "code, from the 4th call on Chinese": (CODE, CODE, CODE, *(CHINESE_TEXT,) * 20),
    "Chinese, from the 4th call on code": (CHINESE_TEXT, CHINESE_TEXT, CHINESE_TEXT, *(CODE,) * 20),
}
VENDORS: dict[str, dict[str, float]] = {
    "as billed": {CODE: 1.121, ENGLISH: 1.121, CHINESE_TEXT: 1.121},
    "dear Chinese": {CODE: 1.121, ENGLISH: 1.121, CHINESE_TEXT: 1.9},
    "dear code": {CODE: 1.4, ENGLISH: 1.05, CHINESE_TEXT: 1.25},
    "o200k itself": {CODE: 1.0, ENGLISH: 1.0, CHINESE_TEXT: 1.0},
}
PER_CALL = 145
STEP = (1_500, 9_000)
"""Characters of a result."""
SEEDS = 5

Count = Callable[[str], int]


@dataclass(frozen=True)
class Step:
    """A request before it is sent, and what the vendor says of it."""

    mix: Mixture
    billed: int


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--calls", type=int, default=12)
    asked.add_argument("--chinese", type=Path, default=CHINESE)
    given = asked.parse_args()
    count = asyncio.run(load_counter())
    texts = {
        CODE: joined(sorted((client.ROOT / "server" / "codelaw").rglob("*.py"))),
        ENGLISH: joined([client.ROOT / name for name in ("ARCHITECTURE.md", "docs/rules.md", "CONTRIBUTING.md")]),
        CHINESE_TEXT: "\n".join(json.loads(given.chinese.read_text("utf-8")).values()),
    }
    for vendor, factors in VENDORS.items():
        print(f"\n## {vendor}: {', '.join(f'{kind} {factor}' for kind, factor in factors.items())} of o200k\n")
        print("| session | one factor: after 1, 3, 10 calls | last mixture | own mixture | worst of 4 to 12, own |")
        print("|---|---|---|---|---|")
        for name, order in SESSIONS.items():
            more = {"count": count, "calls": given.calls}
            runs = [errors(list(session(order, texts, factors, seed=seed, **more))) for seed in range(SEEDS)]
            cells = [
                " · ".join(f"{spread([run[way][after] for run in runs])}" for after in (1, 3, 10)) for way in range(3)
            ]
            worst = max(abs(error) for run in runs for error in run[2][3:])
            print(f"| {name} | {' | '.join(cells)} | {worst:.1%} |", flush=True)


def errors(steps: Sequence[Step]) -> tuple[list[float], list[float], list[float]]:
    """By call, how far the estimate was off before it: with one factor, the last view's mixture, its own."""
    found: tuple[list[float], list[float], list[float]] = ([], [], [])
    known, factor = Calibration(), 1.0
    for place, step in enumerate(steps):
        ratios = (factor, known.ratio("m"), known.ratio("m", step.mix))
        for way, ratio in zip(found, ratios, strict=True):
            way.append(math.ceil(step.mix.tokens * ratio) / step.billed - 1)
        seen = step.billed / step.mix.tokens
        factor = seen if place == 0 else factor + (seen - factor) * 0.3
        if not known.foreseen("m", round(step.mix.tokens), step.billed):
            known = known.observed("m", step.mix, step.billed)
    return found


def session(
    order: Sequence[str], texts: dict[str, str], factors: dict[str, float], *, count: Count, calls: int, seed: int
) -> Iterator[Step]:
    """The requests of a session; its system prompt is English."""
    chance = random.Random(seed)
    system = texts[ENGLISH][:4_000]
    billed = count(system) * factors[ENGLISH]
    messages: list[Message] = []
    for number in range(calls):
        kind = order[number % len(order)]
        size = chance.randint(*STEP)
        start = chance.randrange(max(1, len(texts[kind]) - size))
        body = texts[kind][start : start + size]
        asked, thought = body[:200], texts[ENGLISH if kind == CODE else kind][start % 2_000 :][:240]
        call = Call(f"c{number}", "Read", {"path": f"folder/file_{number}.py", "start_line": number})
        action = f"Thought: {thought}\nAction: Read[{json.dumps(dict(call.arguments))}]"
        messages += [
            Message(f"u{number}", f"t{number}", "user", asked),
            Message(f"a{number}", f"t{number}", "assistant", action, Metadata(calls=(call,))),
            Message(f"r{number}", f"t{number}", "tool", body, Metadata(call_id=call.id)),
        ]
        billed += factors[kind] * (count(asked) + count(action) + count(body)) + PER_CALL
        sections = [text_section("L1", "core", system), message_section("L3", "history", messages)]
        yield Step(mixture(sections), round(billed))


def spread(errors: Sequence[float]) -> str:
    """The mean error, without its sign."""
    return f"{mean(map(abs, errors)):.1%}"


def joined(files: Sequence[Path]) -> str:
    return "\n".join(file.read_text("utf-8") for file in files)


if __name__ == "__main__":
    main()
