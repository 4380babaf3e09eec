"""Which memories stand beside a question (B-6): `python benchmarks/relevance.py [--model FOLDER] [--show]`.

A few memories and questions in English, Chinese and Vietnamese (`relevance.toml`), among them questions to which no
memory belongs, and paraphrases. Each language has a store of its own, SQLite, and is asked as a turn asks: five
memories at most. Prints how many memories were injected though they have nothing to do with the question, at how many
of the questions, and how many of the right ones were found, the paraphrases apart; first for the ranking alone, then
with what is asked of evidence. `--model` is a folder of a sentence-transformers or model2vec model, in place of the
built-in embedder; `--show` lists what went wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

DATA = Path(__file__).with_suffix(".toml")
MARK = "~"


@dataclass
class Count:
    """What became of the questions of one language."""

    wrong: int = 0
    disturbed: int = 0
    questions: int = 0
    found: int = 0
    right: int = 0
    paraphrases_found: int = 0
    paraphrases: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, question: str, wanted: Sequence[str], shown: Sequence[str]) -> None:
        wrong = [one for one in shown if one not in wanted]
        missed = [one for one in wanted if one not in shown]
        self.questions += 1
        self.wrong += len(wrong)
        self.disturbed += bool(wrong)
        if question.startswith(MARK):
            self.paraphrases += len(wanted)
            self.paraphrases_found += len(wanted) - len(missed)
        else:
            self.right += len(wanted)
            self.found += len(wanted) - len(missed)
        self.faults += [f"+ {name:10} {question}" for name in wrong] + [f"- {name:10} {question}" for name in missed]

    def line(self, label: str) -> str:
        return (
            f"{label:16}{self.wrong:>7} at {self.disturbed:>3} of {self.questions:<4}"
            f"{self.found:>8} of {self.right:<4}{self.paraphrases_found:>8} of {self.paraphrases}"
        )


async def measure(said: dict[str, Any], embedder: Any) -> tuple[Count, Count]:
    from codelaw.adapters.stores.opening import open_stores
    from codelaw.domain.memories import Memory, Places
    from codelaw.memory.background import measured, texts
    from codelaw.memory.evidence import evident
    from codelaw.memory.recall import ranked

    here = Places("ann")
    ranking, evidence = Count(), Count()
    chance = measured(await embedder.embed(texts()))
    with tempfile.TemporaryDirectory(prefix="codelaw-relevance-") as folder:
        stores = await open_stores(None, Path(folder) / "codelaw.db")
        try:
            for place, (name, text) in enumerate(said["memories"].items()):
                (vector,) = await embedder.embed([text])
                entry = Memory(name, text, "fact", "user", "ann", 0.8, float(place))
                await stores.memories.save(entry, embedder=embedder.name, vector=vector)
            for marked, *wanted in said["questions"]:
                question = marked.removeprefix(MARK)
                (vector,) = await embedder.embed([question])
                found = await stores.memories.candidates(here, question, embedder=embedder.name, vector=vector)
                for count, entries in (
                    (ranking, found),
                    (evidence, evident(found, question, chance.floor(vector))),
                ):
                    count.add(marked, wanted, [one.memory.id for one in ranked(entries)])
        finally:
            await stores.chats.close()
    return ranking, evidence


async def run(model: Path | None, *, show: bool) -> None:
    from codelaw.adapters.embedders.hashing import HashingEmbedder
    from codelaw.adapters.embedders.local import LocalEmbedder

    embedder = HashingEmbedder() if model is None else LocalEmbedder(model)
    print(f"embedder {embedder.name}")
    print(f"{'':16}{'wrong memories':>21}{'right found':>16}{'paraphrases':>16}")
    for language, said in tomllib.loads(DATA.read_text("utf-8")).items():
        ranking, evidence = await measure(said, embedder)
        print(ranking.line(f"{language}, ranking"))
        print(evidence.line(f"{language}, evidence"))
        if show:
            print("\n".join(evidence.faults))
    await embedder.close()


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("--model", type=Path, metavar="FOLDER")
    reader.add_argument("--show", action="store_true", help="list the faults: + a wrong memory, - one that is missing")
    options = reader.parse_args()
    asyncio.run(run(options.model, show=options.show))


if __name__ == "__main__":
    main()
