"""Questions of others (X-5): `python benchmarks/semble.py BENCHMARKS --clones DIR [--half even|odd] [--misses]
[--no-commits]`.

BENCHMARKS is the folder `benchmarks` of semble, a search for code by others: `repos.json` pins public repositories, and
`annotations/NAME.json` holds questions with the files that answer them. Nothing of it is kept here. A clone, or its git
directory, lies at DIR/OWNER+NAME/repo or at DIR/NAME; repositories without one are left out and counted.

The score is theirs: NDCG@10 over the places in the order of the answer, where the place of a file is its first, and
every file of the answer counts alike. Of a repository the folder is read that `repos.json` names, and the last commits
up to the pinned one as the product reads them; with `--no-commits` they are not.
`--half` measures every second repository, so that constants can be chosen on one half and told on the other.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import subprocess
import sys
import tarfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import localise

sys.path[:0] = [str(Path(__file__).parents[1] / "server"), str(Path(__file__).parents[1])]

DEPTH = 10


@dataclass(frozen=True)
class Asked:
    """A question, its kind, and the paths that answer it."""

    text: str
    kind: str
    answer: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("benchmarks", type=Path)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--half", choices=("even", "odd"))
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--no-commits", action="store_true")
    arguments = parser.parse_args()
    from codelaw.ranking.code.digest import digested
    from codelaw.ranking.code.frame import framed
    from codelaw.ranking.code.hints import recorded

    known = json.loads((arguments.benchmarks / "repos.json").read_text("utf-8"))
    wanted = [
        one for at, one in enumerate(sorted(known, key=_name)) if arguments.half in (None, ("even", "odd")[at % 2])
    ]
    here = [(one, clone) for one in wanted if (clone := _clone(arguments.clones, one)) is not None]
    print("| repository | language | files | questions | NDCG@10 | index s | ms a question |\n" + "|---" * 7 + "|")
    by_kind: defaultdict[str, list[float]] = defaultdict(list)
    every: list[float] = []
    for one, clone in here:
        files = _files(clone, one["revision"], one.get("benchmark_root") or "")
        questions = _questions(arguments.benchmarks / "annotations" / f"{one['name']}.json")
        began = time.perf_counter()
        frame = framed({path: digested(path, text) for path, text in files.items()})
        log = [] if arguments.no_commits else localise.logged(clone, one["revision"])
        history = recorded([(message, paths) for message, paths in log], frozenset(frame.paths))
        built, began = time.perf_counter() - began, time.perf_counter()
        scores: list[float] = []
        for question in questions:
            found = _paths(frame, history, question.text)
            scores.append(gain(found, question.answer))
            by_kind[question.kind].append(scores[-1])
            if arguments.misses and scores[-1] < 1:
                print(f"{scores[-1]:.2f} {question.kind}: {question.text}\n   {question.answer}\n   {found}")
        each = 1000 * (time.perf_counter() - began) / len(questions)
        every += scores
        reported = f"{len(files)} | {len(questions)} | {_mean(scores):.3f} | {built:.1f} | {each:.0f}"
        print(f"| {one['name']} | {one['language']} | {reported} |", flush=True)
    print(f"| **all** | {len(here)} of {len(wanted)} | | {len(every)} | **{_mean(every):.3f}** | | |")
    for kind, scores in sorted(by_kind.items()):
        print(f"| {kind} | | | {len(scores)} | {_mean(scores):.3f} | | |")


def gain(found: list[str], answer: tuple[str, ...]) -> float:
    """NDCG of the places found, given by path, against the files of the answer."""
    ranks = {
        at for path in answer if (at := next((n for n, one in enumerate(found) if _same(one, path)), None)) is not None
    }
    best = sum(1 / math.log2(at + 2) for at in range(min(DEPTH, len(answer))))
    return sum(1 / math.log2(at + 2) for at in ranks) / best if best else 0.0


def _paths(frame: Any, history: Any, text: str) -> list[str]:
    from codelaw.ranking.code.hints import reported
    from codelaw.ranking.code.question import Hints, asked
    from codelaw.ranking.code.scoring import places

    question = asked(text)
    return [place.path for place in places(frame, question, limit=DEPTH, hints=Hints(reported(history, question)))]


def _same(one: str, other: str) -> bool:
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def _questions(path: Path) -> list[Asked]:
    found: list[Asked] = []
    for entry in json.loads(path.read_text("utf-8")):
        targets = [*entry.get("relevant", ()), *entry.get("secondary", ())]
        answer = tuple(target if isinstance(target, str) else target["path"] for target in targets)
        found.append(Asked(entry["query"], entry.get("category") or "unknown", answer))
    return found


def _clone(clones: Path, one: dict[str, Any]) -> Path | None:
    owner, name = one["url"].removesuffix(".git").split("/")[-2:]
    tries = [path for path in (clones / f"{owner}+{name}" / "repo", clones / name) if path.is_dir()]
    return next((path for path in tries if _holds(path, one["revision"])), None)


def _holds(clone: Path, revision: str) -> bool:
    words = ["git", "-C", str(clone), "cat-file", "-e", f"{revision}^{{commit}}"]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def _files(clone: Path, revision: str, root: str) -> dict[str, str]:
    """The texts that the index would hold, by path."""
    from codelaw.adapters.code import kept

    words = ["git", "-C", str(clone), "archive", "--format=tar", revision, *([root] if root else [])]
    packed = subprocess.run(words, capture_output=True, check=True).stdout
    files: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        for member in tar:
            part = tar.extractfile(member) if member.isfile() else None
            if part is None or kept.skipped_by_name(member.name) or member.size > kept.LARGEST:
                continue
            data = part.read()
            if b"\0" in data:
                continue
            text = data.decode("utf-8", "replace")
            if not kept.skipped_by_text(text):
                files[member.name] = text
    return files


def _mean(scores: list[float]) -> float:
    return sum(scores) / max(1, len(scores))


def _name(one: dict[str, Any]) -> str:
    return str(one["name"])


if __name__ == "__main__":
    main()
