"""The way to the right file (X-5): `python benchmarks/explore.py DATA.json … --clones DIR [--questions N]`.

A scripted explorer wants a file that a change needs, by the data of `benchmarks/localise.py`: it knows the first line
of the commit's message, uses the real tools on the snapshot, reads 60 lines around what it finds, best first, and has
arrived when it reads a file of the answer. It does so with `search_code`, and with Grep alone, for which it takes the
words that the offline model would search for, rarest first, and reads the files with most matches first. After 12 calls
it gives up. The whole offline model is asked as well, with and without `search_code`: it has arrived when its answer
names a file that the change needs. Told are the share that arrive, and calls and tokens (W-4) of the results as a model
is shown them: of all questions, those that do not arrive with what was spent on them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import localise

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

MOST_CALLS = 12
LINES = 60
WAYS = ("search_code", "Grep", "offline, search_code", "offline, Grep")


@dataclass
class Spent:
    """What one way cost."""

    calls: int = 0
    tokens: int = 0
    arrived: bool = False


class Explorer:
    """Walks over one snapshot."""

    def __init__(self, desk: Any, answer: list[str]) -> None:
        self.desk = desk
        self.answer = answer
        self.spent = Spent()
        self.shown = ""
        """The last result, as a model is shown it."""
        self._read: set[str] = set()

    async def with_index(self, question: str) -> Spent:
        found = await self._call("search_code", query=question)
        for place in found.get("places", ()):
            if await self._look(place["file"], place["line"]):
                break
        return self.spent

    async def with_grep(self, question: str) -> Spent:
        for pattern in _patterns(question):
            if self._ended:
                break
            found = await self._call("Grep", pattern=pattern, case_sensitive=False)
            matches = found.get("matches", ())
            counts = Counter(match["file"] for match in matches)
            first = {match["file"]: match["line"] for match in reversed(matches)}
            for path, _ in counts.most_common(3):
                if await self._look(path, first[path]):
                    break
        return self.spent

    @property
    def _ended(self) -> bool:
        return self.spent.arrived or self.spent.calls >= MOST_CALLS

    async def _look(self, path: str, line: int) -> bool:
        """Read there, unless that was read already; gives whether the way has ended."""
        if not self._ended and path not in self._read:
            self._read.add(path)
            await self._call("Read", path=path, start_line=max(1, line - LINES // 3), limit=LINES)
            self.spent.arrived |= path in self.answer
        return self._ended

    async def _call(self, name: str, **arguments: object) -> dict[str, Any]:
        from codelaw.context.escaping import json_line
        from codelaw.context.observations.text import observation_text
        from codelaw.context.tokens import estimate

        result = await self.desk(name, **arguments)
        self.spent.calls += 1
        self.shown = observation_text(name, json_line(result.observation()))
        self.spent.tokens += estimate(self.shown)
        return dict(result.data)


class Offline(Explorer):
    """The offline model: it is asked where a change belongs, and makes its own way."""

    async def ask(self, question: str, *, indexed: bool) -> Spent:
        from codelaw.adapters.models.offline import OfflineModel
        from codelaw.agent.dialects import grammar, scanning
        from codelaw.domain.models import ApiMessage, ModelRequest, TextBlock
        from codelaw.tools.toolbox import default_toolbox

        manual = TextBlock(default_toolbox(code=indexed).manual())
        messages = [ApiMessage("user", (TextBlock(f"Where does this belong: {question}"),))]
        while True:
            request = ModelRequest("offline", (manual,), tuple(messages), 1_000, ())
            text = (await OfflineModel().reply(request, lambda _: None)).text
            action = scanning.find(text)
            if action is None or action.name == "Finish":
                self.spent.arrived = any(f"`{path}:" in text for path in self.answer)
                return self.spent
            await self._call(action.name, **grammar.arguments_at(text, action.inside)[0])
            result = (TextBlock(f"[tool] {self.shown}"), TextBlock("[0/1]"))
            messages += [ApiMessage("assistant", (TextBlock(text),)), ApiMessage("user", result)]


def _patterns(question: str) -> Iterator[str]:
    from codelaw.adapters.models.offline_reading import searches, terms

    for pattern, _ in searches(terms(question)):
        yield pattern


async def explored(repository: localise.Repository, most: int) -> dict[str, list[Spent]]:
    from codelaw.adapters.code.index import WorkspaceIndex
    from codelaw.tools.toolbox import default_toolbox
    from tests.fakes.desk import folder, make_desk

    reported: dict[str, list[Spent]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as kept:
        desk = make_desk(folder(Path(root)))
        for path, text in repository.files.items():
            desk.put(path, text)
        index = WorkspaceIndex(Path(kept))
        desk.environment = replace(desk.environment, code=index)
        desk.toolbox = default_toolbox(code=True)
        for message, answer in repository.queries[:: max(1, len(repository.queries) // most)][:most]:
            question = message.split("\n", 1)[0]
            reported["search_code"].append(await Explorer(desk, answer).with_index(question))
            reported["Grep"].append(await Explorer(desk, answer).with_grep(question))
            reported["offline, search_code"].append(await Offline(desk, answer).ask(question, indexed=True))
            reported["offline, Grep"].append(await Offline(desk, answer).ask(question, indexed=False))
        await index.close()
    return reported


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--questions", type=int, default=120, help="of each repository, at most")
    arguments = parser.parse_args()
    every: dict[str, list[Spent]] = {way: [] for way in WAYS}
    print("| repository | with | questions | arrived | calls | tokens |\n" + "|---" * 6 + "|")
    for path in sorted(arguments.data):
        repository = localise.load(arguments.clones, json.loads(path.read_text("utf-8")))
        for way, ways in asyncio.run(explored(repository, arguments.questions)).items():
            print(f"| {repository.name} | {way} {_row(ways)}", flush=True)
            every[way] += ways
    for way, ways in every.items():
        print(f"| **all** | {way} {_row(ways)}")


def _row(ways: list[Spent]) -> str:
    share = statistics.mean(100 * one.arrived for one in ways)
    calls, tokens = (statistics.mean(part) for part in zip(*((one.calls, one.tokens) for one in ways), strict=True))
    return f"| {len(ways)} | {share:.1f} % | {calls:.1f} | {tokens:,.0f} |"


if __name__ == "__main__":
    main()
