"""Questions as people ask them (X-5, P-2): `python benchmarks/questions.py [--clones DIR] [--bare] [--show]`.

`questions.tsv` holds questions about this checkout and about public repositories at a commit, with the files that
answer them (`*` stands for the rest of a path); DIR holds clones of those, or their git directories, as for
`localise.py`. Counted is how often one of these files is among the first three that `search_code` names, and among the
first three places that the offline model cites. Of the parts, `asked` and `tuned` were looked at while the ranking was
changed, `held` was not. `--bare` does without the grammars, `--show` prints what came first where that is wrong. The
index leaves such a table out, else it would find the questions in it.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import fnmatch
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "server"), str(ROOT)]

FIRST = 3
_CITED = re.compile(r"`([^`\n]+?):(\d+)`")


@dataclass(frozen=True)
class Asked:
    """A question, and the files that answer it."""

    part: str
    repository: str
    question: str
    places: tuple[str, ...]

    def answered(self, paths: Sequence[str]) -> bool:
        return any(fnmatch.fnmatchcase(path, place) for path in paths for place in self.places)


def questions() -> list[Asked]:
    with (Path(__file__).with_suffix(".tsv")).open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [Asked(row["part"], row["repository"], row["question"], tuple(row["places"].split())) for row in rows]


class Reader:
    """Asks the index and the offline model about one folder, with the real tools."""

    def __init__(self, root: Path, kept: Path) -> None:
        import os

        from codelaw.adapters.code.commits import Commits
        from codelaw.adapters.code.index import WorkspaceIndex
        from codelaw.tools.toolbox import default_toolbox
        from tests.fakes.desk import folder, make_desk

        self.index = WorkspaceIndex(kept, Commits(dict(os.environ)))
        self.desk = make_desk(folder(root))
        self.desk.environment = replace(self.desk.environment, code=self.index)
        self.desk.toolbox = default_toolbox(code=True)

    async def ready(self) -> None:
        """Wait until every file and the last commits are known: a search answers from what there is."""
        while (state := self.index.state()).status not in {"ready", "memory"} or state.pending:
            await self.desk("search_code", query="index", limit=1)
        await self.index.commits.ready()

    async def found(self, question: str) -> list[str]:
        """The places that the index names first, as `path:line: text`."""
        result = await self.desk("search_code", query=question, limit=FIRST)
        return [f"{place['file']}:{place['line']}: {_first(place['lines'])}" for place in result.data["places"]]

    async def cited(self, question: str) -> tuple[list[str], str]:
        """The first places that the offline model cites, as `path:line`, and all that it says."""
        from codelaw.adapters.models.offline import OfflineModel
        from codelaw.agent.dialects import grammar, scanning
        from codelaw.context.escaping import json_line
        from codelaw.context.observations.text import observation_text
        from codelaw.domain.models import ApiMessage, ModelRequest, TextBlock

        manual = TextBlock(self.desk.toolbox.manual())
        messages = [ApiMessage("user", (TextBlock(question),))]
        while True:
            request = ModelRequest("offline", (manual,), tuple(messages), 1_000, ())
            text = (await OfflineModel().reply(request, lambda _: None)).text
            action = scanning.find(text)
            if action is None or action.name == "Finish":
                places = dict.fromkeys(f"{path}:{line}" for path, line in _CITED.findall(text))
                return list(places)[:FIRST], text
            arguments: dict[str, Any] = grammar.arguments_at(text, action.inside)[0]
            shown = observation_text(action.name, json_line((await self.desk(action.name, **arguments)).observation()))
            result = (TextBlock(f"[tool] {shown}"), TextBlock("[0/1]"))
            messages += [ApiMessage("assistant", (TextBlock(text),)), ApiMessage("user", result)]


def _first(lines: Sequence[str]) -> str:
    return next((line.split("\t", 1)[-1].strip() for line in lines if line.strip()), "")


def path_of(place: str) -> str:
    return re.split(r":\d+", place, maxsplit=1)[0]


async def measured(root: Path, asked: Sequence[Asked], *, show: bool) -> Counter[tuple[str, str]]:
    """How many are answered, by part and by who was asked."""
    right: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as kept:
        reader = Reader(root, Path(kept))
        await reader.ready()
        for one in asked:
            ways = {"search": await reader.found(one.question), "chat": (await reader.cited(one.question))[0]}
            for way, places in ways.items():
                good = one.answered([path_of(place) for place in places])
                right[one.part, way] += good
                if show and not good:
                    print(f"  {one.part} {way}: {one.question}", *places, sep="\n      ")
        await reader.index.close()
    return right


def unpacked(repository: str, clones: Path, into: Path) -> Path:
    name, _, commit = repository.partition("@")
    tries = (clones / name.replace("/", "+") / "repo", clones / name.rsplit("/", 1)[-1])
    clone = next(path for path in tries if path.is_dir())
    packed = subprocess.run(["git", "-C", str(clone), "archive", commit], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(into, filter="data")
    return into


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--clones", type=Path)
    parser.add_argument("--bare", action="store_true", help="without the grammars")
    parser.add_argument("--show", action="store_true", help="what came first where that is wrong")
    parser.add_argument("--parts", nargs="+", default=["asked", "tuned", "held"])
    arguments = parser.parse_args()
    if arguments.bare:
        sys.modules["tree_sitter"] = None  # pyright: ignore[reportArgumentType]
    by_repository: defaultdict[str, list[Asked]] = defaultdict(list)
    for one in questions():
        if one.part not in arguments.parts:
            continue
        by_repository[one.repository].append(one)
    right: Counter[tuple[str, str]] = Counter()
    many: Counter[str] = Counter()
    for repository, asked in by_repository.items():
        clones: Path | None = arguments.clones
        if "/" in repository and clones is None:
            continue
        print(repository, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            root = unpacked(repository, clones, Path(folder)) if "/" in repository and clones else ROOT
            right += asyncio.run(measured(root, asked, show=arguments.show))
        many += Counter(one.part for one in asked)
    print("| questions | | `search_code` | offline model |\n|---|---|---|---|")
    for part, count in many.items():
        print(f"| {part} | {count} | {right[part, 'search']} | {right[part, 'chat']} |")


if __name__ == "__main__":
    main()
