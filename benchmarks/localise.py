"""Which files a change needs (X-5): `python benchmarks/localise.py DATA.json … --clones DIR [--out]`.

A query is the message of a commit made after a fixed snapshot of a public repository; the answer is the set of source
files that the commit changed. The index sees the files of the snapshot, once alone and once with the last commits up to
it, as the product reads them; no model. DATA holds `{repo, snapshot, queries: [commit]}`; a clone, or its git
directory, lies at DIR/OWNER+NAME/repo, at DIR/NAME, or is DIR itself. `--out` tries other values of
every constant of the score as well, chooses them on all repositories but one, and says what this gives on the one left
out.

The baseline is BM25 over windows of 40 lines. A message of several lines is asked as a whole.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

CODE = re.compile(r"\.(py|rs|go|js|ts|tsx|c|h|cc|cpp|java|rb|lua|el)$")
ASIDE = re.compile(
    r"(^|/)(tests?|testing|docs?|examples?|benchmarks?|benches|fixtures|vendor|third_party|node_modules|ci|scripts?)/"
    r"|(^|/)(test_|conftest)|_test\.|\.test\.|\.spec\.",
    re.IGNORECASE,
)
TRAILER = re.compile(r"^(Co-authored-by|Signed-off-by|PR-URL|Reviewed-by):.*$", re.MULTILINE)
DEPTHS = (5, 10, 20)
CHOICES: dict[str, tuple[float, ...]] = {
    "NEXT": (0.3, 0.6, 1.2),
    "PATH": (0.7, 1.0, 1.4),
    "STEM": (0.0, 0.5, 1.0, 1.5),
    "SYMBOL": (0.0, 0.1, 0.3),
    "STANDING": (0.0, 0.2, 0.4),
    "USERS": (0.0, 0.1, 0.2, 0.3),
    "EXACT": (0.0, 0.5, 1.0),
    "SAID": (0.0, 0.2, 0.3, 0.4, 0.5),
}
"""Constants of `ranking/code/scoring`, and what `--out` tries."""


@dataclass(frozen=True)
class Repository:
    """The files of a snapshot by path, and questions with the files that answer them."""

    name: str
    files: dict[str, str]
    queries: list[tuple[str, list[str]]]
    commits: list[tuple[str, list[str]]]
    """The last ones up to the snapshot, newest first: message and files."""


class Windows:
    """The baseline: BM25 over windows of 40 lines, a file by its best window and a tenth of its next two."""

    def __init__(self, repository: Repository) -> None:
        files = repository.files
        self.owners: list[str] = []
        self.counts: list[Counter[str]] = []
        for path, text in files.items():
            lines = text.splitlines()
            for start in range(0, max(1, len(lines)), 30):
                words = _words("\n".join(lines[start : start + 40]))
                self.owners.append(path)
                self.counts.append(Counter(words + 3 * _words(path)))
        self.holders = Counter(word for counts in self.counts for word in counts)
        self.lengths = [counts.total() for counts in self.counts]
        self.mean = sum(self.lengths) / len(self.lengths)

    def rank(self, query: str) -> list[str]:
        scores: defaultdict[str, list[float]] = defaultdict(list)
        for path, counts, length in zip(self.owners, self.counts, self.lengths, strict=True):
            scores[path].append(sum(self._part(word, counts, length) for word in _words(query) if word in counts))
        best = {path: sum(a * b for a, b in zip(sorted(v)[::-1], (1, 0.1, 0.1))) for path, v in scores.items()}  # noqa: B905
        return sorted(best, key=lambda path: (-best[path], path))[: DEPTHS[-1]]

    def _part(self, word: str, counts: Counter[str], length: int) -> float:
        held = self.holders[word]
        rarity = math.log(1 + (len(self.counts) - held + 0.5) / (held + 0.5))
        return rarity * counts[word] * 2.2 / (counts[word] + 1.2 * (0.25 + 0.75 * length / self.mean))


class Indexed:
    """The product's ranking over the whole snapshot, without its past."""

    def __init__(self, repository: Repository) -> None:
        from codelaw.ranking.code.digest import digested
        from codelaw.ranking.code.frame import framed

        self.frame = framed({path: digested(path, text) for path, text in repository.files.items()})
        self.history = self._history(repository)

    def rank(self, query: str) -> list[str]:
        from codelaw.ranking.code.hints import reported
        from codelaw.ranking.code.question import Hints, asked
        from codelaw.ranking.code.scoring import best_files

        question = asked(query)
        return best_files(self.frame, question, DEPTHS[-1], Hints(reported(self.history, question)))

    def _history(self, _repository: Repository) -> Any:
        from codelaw.ranking.code.hints import CommitHistory

        return CommitHistory()


class WithCommits(Indexed):
    """The same with the messages of commits."""

    def _history(self, repository: Repository) -> Any:
        from codelaw.ranking.code.hints import recorded

        changes = [(message, paths) for message, paths in repository.commits]
        return recorded(changes, frozenset(self.frame.paths))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--out", action="store_true")
    arguments = parser.parse_args()
    repositories = [load(arguments.clones, json.loads(path.read_text("utf-8"))) for path in sorted(arguments.data)]
    print("| repository | files | queries | hit@1 | recall@5 | @10 | @20 | index s | ms a query |\n" + "|---" * 9 + "|")
    indexes: list[Indexed] = []
    for kind in (Windows, Indexed, WithCommits):
        sums, count = [0.0] * 4, 0
        for repository in repositories:
            began = time.perf_counter()
            index = kind(repository)
            built, began = time.perf_counter() - began, time.perf_counter()
            found = measured(index, repository)
            each = 1000 * (time.perf_counter() - began) / len(repository.queries)
            reported = f"| {len(repository.files)} | {len(repository.queries)} | {_row(found, len(repository.queries))}"
            print(f"| {repository.name} {reported} | {built:.1f} | {each:.0f} |", flush=True)
            sums = [a + b for a, b in zip(sums, found, strict=True)]
            count += len(repository.queries)
            if isinstance(index, WithCommits):
                indexes.append(index)
        print(f"| **{kind.__name__}** | | {count} | {_row(sums, count)} | | |")
    if arguments.out:
        left_out(indexes, repositories)


def measured(index: Windows | Indexed, repository: Repository) -> list[float]:
    """Sums over the queries: first file right, and the share of the answer among the first files."""
    sums = [0.0] * (1 + len(DEPTHS))
    for query, gold in repository.queries:
        found = [path in gold for path in index.rank(query)]
        sums[0] += bool(found and found[0])
        for at, depth in enumerate(DEPTHS, 1):
            sums[at] += sum(found[:depth]) / len(gold)
    return sums


def left_out(indexes: list[Indexed], repositories: list[Repository]) -> None:
    """Choose each constant on all repositories but one, and measure that one."""
    from codelaw.ranking.code import scoring

    kept = {name: getattr(scoring, name) for name in CHOICES}
    tried: dict[tuple[str, float], list[list[float]]] = {}
    for name, values in CHOICES.items():
        for value in values:
            setattr(scoring, name, value)
            tried[name, value] = [measured(*pair) for pair in zip(indexes, repositories, strict=True)]
        setattr(scoring, name, kept[name])
    total, count = [0.0] * 4, 0
    for out, repository in enumerate(repositories):
        chosen: dict[str, float] = {}
        for name, values in CHOICES.items():
            gains = {
                value: sum(sum(found) for at, found in enumerate(tried[name, value]) if at != out) for value in values
            }
            chosen[name] = max(values, key=gains.__getitem__)
            setattr(scoring, name, chosen[name])
        found = measured(indexes[out], repository)
        print(f"left out: {repository.name} | {_row(found, len(repository.queries))} | {chosen}", flush=True)
        total, count = [a + b for a, b in zip(total, found, strict=True)], count + len(repository.queries)
        for name, value in kept.items():
            setattr(scoring, name, value)
    print(f"left out: all | {_row(total, count)}")


def _row(sums: list[float], count: int) -> str:
    return " | ".join(f"{100 * one / count:.1f}" for one in sums)


def load(clones: Path, data: dict[str, Any]) -> Repository:
    name, snapshot = data["repo"], data["snapshot"]
    tries = (clones / name.replace("/", "+") / "repo", clones / name.rsplit("/", 1)[-1], clones)
    clone = next(path for path in tries if path.is_dir())
    names = _git(clone, "ls-tree", "-r", "--name-only", snapshot).splitlines()
    names = [path for path in names if CODE.search(path) and not ASIDE.search(path)]
    files = {path: _git(clone, "show", f"{snapshot}:{path}") for path in names}
    queries: list[tuple[str, list[str]]] = []
    for commit in data["queries"]:
        text = TRAILER.sub("", _git(clone, "log", "-1", "--format=%B", commit)).strip()
        changed = _git(clone, "diff-tree", "--no-commit-id", "--name-only", "-r", "--no-renames", commit)
        queries.append((text, [path for path in changed.splitlines() if path in files]))
    return Repository(name, files, queries, logged(clone, snapshot))


def logged(clone: Path, snapshot: str) -> list[tuple[str, list[str]]]:
    """The commits that the product would know."""
    from codelaw.adapters.code.commits import COMMITS
    from codelaw.adapters.repository import LOG, reported_by

    return reported_by(_git(clone, *LOG, "-n", str(COMMITS), "--end-of-options", snapshot, "--"))


def _git(clone: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(clone), *words], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def _words(text: str) -> list[str]:
    found: list[str] = []
    for word in re.findall(r"[A-Za-z_][A-Za-z0-9_]+|\d+", text):
        parts = re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+", word)
        found += [word.lower(), *(part.lower() for part in parts if len(parts) > 1)]
    return found


if __name__ == "__main__":
    main()
