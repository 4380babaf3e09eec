"""Questions about this checkout lead to a place that answers them and says something (X-5, P-2).

They are the ones of `benchmarks/questions.tsv` that the ranking was changed for.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ASK = """
import asyncio, json, sys, tempfile
from pathlib import Path
if sys.argv[1] == "bare":
    sys.modules["tree_sitter"] = None
sys.path.insert(0, "benchmarks")
import questions

async def main():
    told = []
    with tempfile.TemporaryDirectory() as kept:
        reader = questions.Reader(Path.cwd(), Path(kept))
        await reader.ready()
        for one in questions.questions():
            if one.part == "asked":
                told.append([one.question, one.places, await reader.found(one.question), *await reader.cited(one.question)])
        await reader.index.close()
    print(json.dumps(told))

asyncio.run(main())
"""


@pytest.mark.parametrize("grammars", ["with", "bare"])
def test_the_right_place_is_among_the_first_three(grammars: str) -> None:
    if subprocess.run(["git", "log", "-1"], cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("this checkout has no commits, whose messages speak for files")
    done = subprocess.run([sys.executable, "-c", ASK, grammars], cwd=ROOT, capture_output=True, text=True, check=True)
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from questions import Asked, path_of  # pyright: ignore[reportMissingImports]
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    wrong: list[str] = []
    for question, places, found, cited, _ in json.loads(done.stdout):
        asked = Asked("asked", "codelaw", question, tuple(places))
        for way, named in (("search", found), ("chat", cited)):
            if not asked.answered([path_of(place) for place in named]):
                wrong.append(f"{way}: {question} {named}")
        for place in cited:
            path, line = place.rsplit(":", 1)
            text = (ROOT / path).read_text("utf-8").splitlines()[int(line) - 1]
            assert re.search(r"[^\W\d_]{2}", text), f"{question} {place} {text!r}"
    assert wrong == []
