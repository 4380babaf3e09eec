"""Whether the right tool is found (X-11): `python benchmarks/tools.py SOURCE [--keep FILE] [--show]`.

125 tasks in the words of a user (`tools.toml`), and 4 000 tools of public MCP servers to find them among. Prints the
share of tasks whose right tool is among the first five: by `find_tools`, by BM25 over names and descriptions, and by
BM25 over all that is known of a tool. Every second task is `held`: no constant was chosen on it. Besides, how long the
index takes to be made, and a search. Last the same for the steps of LiveMCPBench's tasks, in the words of those who
wrote them, each with the tool that they name beside it; a part of these pairs does not belong together, so that the
figures are for comparison only.

SOURCE is a folder with clones of docker/mcp-registry, github/github-mcp-server, pathintegral-institute/mcpm.sh,
icip-cas/LiveMCPBench and TheAgentArk/Toucan, each under the name of its repository, or a file that `--keep` has made
of them. The words in them belong to the authors of the servers, so that none are stored here. `--show` lists the tasks
that missed, of the half that is not held.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

from codelaw.ranking.catalogue import Catalogue  # noqa: E402 - the path comes first
from codelaw.tools.finding.find_tools import BEST, entry  # noqa: E402 - as above

TASKS = Path(__file__).with_suffix(".toml")
TOOLS = 4_000

Search = Callable[[str], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Listed:
    """A tool as a server lists it."""

    server: str
    name: str
    description: str
    schema: Mapping[str, Any]

    @property
    def id(self) -> str:
        return f"{self.server}/{self.name}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=Path)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    tools = read(args.source) if args.source.is_file() else distinct(gathered(args.source))[:TOOLS]
    if args.keep is not None:
        args.keep.write_text("".join(json.dumps(asdict(tool), ensure_ascii=False) + "\n" for tool in tools))
    tasks = tomllib.loads(TASKS.read_text())["task"]
    known = {tool.id for tool in tools}
    lost = [task["asks"] for task in tasks if not known & set(task["right"])]
    print(f"{len(tools)} tools of {len({tool.server for tool in tools})} servers, {len(tasks)} tasks")
    if lost:
        print(f"without a right tool in this source: {lost}")
    started = time.perf_counter()
    entries = [entry(tool.server, tool.name, tool.description, tool.schema) for tool in tools]
    catalogue = Catalogue(entries)
    made = time.perf_counter() - started
    ways: dict[str, Search] = {
        "find_tools": lambda question: catalogue.best(question, BEST),
        "BM25, names and descriptions": plain([f"{tool.name} {tool.description}" for tool in tools]),
        "BM25, all fields": plain([" ".join(asdict(one).values()) for one in entries]),
    }
    for name, search in ways.items():
        started = time.perf_counter()
        ranks = [rank(tools, search(task["asks"]), task["right"]) for task in tasks]
        took = (time.perf_counter() - started) / len(tasks) * 1_000
        seen, held, everything = reported(ranks[::2]), reported(ranks[1::2]), reported(ranks)
        print(f"{name:30} seen {seen}   held {held}   all {everything}   {took:.1f} ms")
        if args.show and name == "find_tools":
            for task, found in list(zip(tasks, ranks, strict=True))[::2]:
                if found is None:
                    print(f"    {task['asks']}  {task['right'][0]}  {[tools[at].id for at in search(task['asks'])]}")
    print(f"index made in {made * 1_000:.0f} ms")
    pairs = list(steps(args.source, tools))
    for name, search in ways.items() if pairs else ():
        ranks = [rank(tools, search(asked), right) for asked, right in pairs]
        print(f"{name:30} steps of LiveMCPBench {reported(ranks)}")


def rank(tools: Sequence[Listed], found: Sequence[int], right: Sequence[str]) -> int | None:
    """The place of the first right tool, from 1."""
    return next((at for at, place in enumerate(found, 1) if tools[place].id in right), None)


def reported(ranks: Sequence[int | None]) -> str:
    """How many are among the first five and first."""
    hits = sum(one is not None for one in ranks)
    return f"{100 * hits / len(ranks):5.1f} % ({hits}/{len(ranks)}), first {sum(one == 1 for one in ranks)}"


def plain(texts: Sequence[str], k1: float = 1.2, b: float = 0.75) -> Search:
    """BM25 as textbooks have it."""
    words = [re.findall(r"[a-z0-9]+", text.lower()) for text in texts]
    counts = [Counter(one) for one in words]
    mean = sum(map(len, words)) / max(1, len(words))
    holders = Counter(word for one in counts for word in one)

    def search(question: str) -> Sequence[int]:
        asked = {word: 0.0 for word in re.findall(r"[a-z0-9]+", question.lower()) if word in holders}
        for word in asked:
            asked[word] = math.log1p((len(texts) - holders[word] + 0.5) / (holders[word] + 0.5))
        scores = [
            sum(
                rarity * one[word] * (k1 + 1) / (one[word] + k1 * (1 - b + b * one.total() / mean))
                for word, rarity in asked.items()
                if word in one
            )
            for one in counts
        ]
        return sorted(range(len(texts)), key=lambda place: -scores[place])[:BEST]

    return search


def steps(folder: Path, tools: Sequence[Listed]) -> Iterator[tuple[str, Sequence[str]]]:
    """Steps of tasks that name as many tools as steps, and the ids of the tools that do them."""
    known: dict[str, list[str]] = {}
    for tool in tools:
        known.setdefault(tool.name, []).append(tool.id)
    seen: set[tuple[str, str]] = set()
    for path in folder.glob("LiveMCPBench/annotated_data/all_annotations.json"):
        for task in json.loads(path.read_text()):
            reported = task["Annotator Metadata"]
            asked, named = (
                [re.sub(r"^\s*\d+[.)]\s*", "", line).strip() for line in reported[part].splitlines() if line.strip()]
                for part in ("Steps", "Tools")
            )
            for pair in zip(asked, named, strict=True) if len(asked) == len(named) else ():
                right = known.get(pair[1].rsplit("/", 1)[-1].strip(" `"))
                if right is not None and pair not in seen:
                    seen.add(pair)
                    yield pair[0], right


def read(path: Path) -> list[Listed]:
    return [Listed(**json.loads(line)) for line in path.read_text().splitlines()]


def distinct(tools: Iterable[Listed]) -> list[Listed]:
    """Each tool once: no two of one name on a server, nor of one name and description anywhere."""
    ids: set[str] = set()
    said: set[tuple[str, str]] = set()
    kept: list[Listed] = []
    for tool in tools:
        key = re.sub(r"\W", "", tool.name.lower()), re.sub(r"\W", "", tool.description.lower())[:120]
        if tool.id not in ids and key not in said:
            kept.append(tool)
        ids.add(tool.id)
        said.add(key)
    return kept


def gathered(folder: Path) -> Iterator[Listed]:
    """The tools of all sources, the most used of the largest source last."""
    for path in sorted(folder.glob("mcp-registry/servers/*/tools.json")):
        for tool in json.loads(path.read_text()):
            said = {one["name"]: {"description": one.get("desc") or ""} for one in tool.get("arguments") or []}
            yield from _listed(path.parent.name, tool, {"properties": said})
    for path in sorted(folder.glob("github-mcp-server/pkg/github/__toolsnaps__/*.snap")):
        tool = json.loads(path.read_text())
        yield from _listed("github", tool, tool.get("inputSchema"))
    for path in sorted(folder.glob("mcpm.sh/mcp-registry/servers/*.json")):
        server = json.loads(path.read_text())
        for tool in server.get("tools") or []:
            yield from _listed(server["name"], tool, tool.get("inputSchema"))
    for path in folder.glob("LiveMCPBench/tools/LiveMCPTool/tools.json"):
        for listed in json.loads(path.read_text()):
            for server, offer in (listed.get("tools") or {}).items():
                for tool in offer.get("tools") or []:
                    yield from _listed(server, tool, tool.get("inputSchema"))
    yield from _used(folder / "Toucan")


def _used(folder: Path) -> Iterator[Listed]:
    servers = [json.loads(path.read_text())["metadata"] for path in folder.glob("mcp_servers/*.json")]
    for server in sorted(servers, key=lambda one: (one.get("rank_by_usage") or 99_999, one["server_name"])):
        for tool in (server.get("remote_server_response") or {}).get("tools") or []:
            yield from _listed(server["server_name"], tool, tool.get("input_schema"))


def _listed(server: str, tool: Mapping[str, Any], schema: Any) -> Iterator[Listed]:
    name = tool.get("name")
    if isinstance(name, str) and name:
        server = re.sub(r"[^A-Za-z0-9_-]+", "-", server).strip("-")
        yield Listed(server, name, tool.get("description") or "", schema if isinstance(schema, dict) else {})


if __name__ == "__main__":
    main()
