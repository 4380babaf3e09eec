"""Edits that miss (T-5): `python benchmarks/edits.py [--repository DIR]... [--edits N] [--show N]`.

Edits are hunks of a repository's history, spread evenly over it, each with as little context as makes its text stand
once in the file. Each is sent as a model might send it by mistake: with line numbers, tabs for spaces, other line
breaks, blanks at line ends, look-alike characters, escaped, with other indentation, or with a line left out or
changed. What counts is the answer to the first attempt: the file as the commit has it (mended), another text (wrong:
the goal is none), or an error that shows the nearest text. The goal is 60 % mended of what misses. Without DIR the
history is that of this checkout. `--show` prints what went wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "server")]

from codelaw.domain.errors import ToolFailure  # noqa: E402
from codelaw.tools.changing.diffs import changes, difference  # noqa: E402
from codelaw.tools.changing.matching import Replacement, replaced  # noqa: E402

MAX_FILE = 300_000
MAX_LINES = 60
CONTEXT = 4
SEED = 20


@dataclass(frozen=True, slots=True)
class Sample:
    """One edit of a file, and what the file becomes."""

    name: str
    text: str
    line: int
    old: str
    new: str

    @property
    def truth(self) -> str:
        return self.text.replace(self.old, self.new, 1)


Sent = tuple[str, str]
"""`old_string` and `new_string` as a model sends them."""


def line_numbers(sample: Sample, chance: random.Random) -> Sent:
    form = chance.choice(["{:>5}\t", "{}\t", "{:>6}\u2192", "{}: ", "{:>4} | "])
    old, new = (
        "\n".join(form.format(number) + line for number, line in enumerate(text.split("\n"), sample.line))
        for text in (sample.old, sample.new)
    )
    return old, new if chance.random() < 0.5 else sample.new


def tabs(sample: Sample, _: random.Random) -> Sent:
    if len(set(re.findall(r"^([ \t])", f"{sample.old}\n{sample.new}", re.MULTILINE))) > 1:
        return sample.old, sample.new  # once they are all the same nobody can tell which was which

    def swapped(text: str) -> str:
        if "\t" in sample.old:
            return re.sub(r"^\t+", lambda lead: "    " * len(lead[0]), text, flags=re.MULTILINE)
        return re.sub(r"^(?:    )+", lambda lead: "\t" * (len(lead[0]) // 4), text, flags=re.MULTILINE)

    return swapped(sample.old), swapped(sample.new)


def line_breaks(sample: Sample, _: random.Random) -> Sent:
    return sample.old.replace("\n", "\r\n"), sample.new.replace("\n", "\r\n")


def line_ends(sample: Sample, chance: random.Random) -> Sent:
    more = chance.choice([" ", "  ", "    "])
    some = chance.random() < 0.5
    old, new = (
        "\n".join(line if some and not line.strip() else line + more for line in text.split("\n"))
        for text in (sample.old, sample.new)
    )
    return old, new


def look_alikes(sample: Sample, chance: random.Random) -> Sent:
    quotes = {'"': "\u201c", "'": "\u2019", "-": "\u2013"}
    spaces = {" ": "\u00a0", "...": "\u2026", "-": "\u2011"}
    table = chance.choice([quotes, spaces])

    def worse(text: str) -> str:
        for plain, other in table.items():
            text = text.replace(plain, other)
        return text

    return worse(sample.old), worse(sample.new)


def escaped(sample: Sample, chance: random.Random) -> Sent:
    def worse(text: str) -> str:
        return json.dumps(text, ensure_ascii=False)[1:-1]

    def entities(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    way = entities if chance.random() < 0.2 and re.search("[<>&]", sample.old) else worse
    return way(sample.old), way(sample.new)


def indentation(sample: Sample, chance: random.Random) -> Sent:
    lines = [line for line in (*sample.old.split("\n"), *sample.new.split("\n")) if line.strip()]
    least = min(len(line) - len(line.lstrip()) for line in lines)
    lead = lines[0][:least]
    if least and all(line.startswith(lead) for line in lines) and chance.random() < 0.5:
        old, new = (
            "\n".join(line.removeprefix(lead) if line.strip() else line for line in text.split("\n"))
            for text in (sample.old, sample.new)
        )
        return old, new
    more = chance.choice(["  ", "    ", "        "])
    old, new = (
        "\n".join(more + line if line.strip() else line for line in text.split("\n"))
        for text in (sample.old, sample.new)
    )
    return old, new


def another_line(sample: Sample, chance: random.Random) -> Sent:
    lines = sample.old.split("\n")
    at = chance.randrange(len(lines))
    if 0 < at < len(lines) - 1 and chance.random() < 0.5:
        del lines[at]
    elif found := list(re.finditer(r"\w+", lines[at])):
        word = chance.choice(found)
        lines[at] = f"{lines[at][: word.start()]}another{lines[at][word.end() :]}"
    return "\n".join(lines), sample.new


WAYS: tuple[Callable[[Sample, random.Random], Sent], ...] = (
    line_numbers,
    tabs,
    line_breaks,
    line_ends,
    look_alikes,
    escaped,
    indentation,
    another_line,
)


def history(repository: Path) -> list[tuple[str, str, str]]:
    """Old blob, new blob and name of every file that a commit has changed."""
    command = ["git", "-C", str(repository), "log", "--no-merges", "--raw", "--no-renames", "--no-abbrev"]
    out = subprocess.run([*command, "--diff-filter=M", "--format="], check=True, capture_output=True).stdout
    rows = (line.split("\t", 1) for line in out.decode("utf-8", "replace").splitlines() if line.startswith(":"))
    return [(row[0].split()[2], row[0].split()[3], row[1]) for row in rows]


class Blobs:
    """Texts of a repository."""

    def __init__(self, repository: Path) -> None:
        command = ["git", "-C", str(repository), "cat-file", "--batch"]
        self._git = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def text(self, blob: str) -> str | None:
        assert self._git.stdin is not None
        assert self._git.stdout is not None
        self._git.stdin.write(f"{blob}\n".encode())
        self._git.stdin.flush()
        head = self._git.stdout.readline().split()
        if len(head) != 3:
            return None
        body = self._git.stdout.read(int(head[2]))
        self._git.stdout.read(1)
        try:
            return body.decode("utf-8") if head[1] == b"blob" and len(body) <= MAX_FILE and b"\0" not in body else None
        except UnicodeDecodeError:
            return None

    def close(self) -> None:
        assert self._git.stdin is not None
        self._git.stdin.close()
        self._git.wait()


def samples(repository: Path, wanted: int, chance: random.Random) -> list[Sample]:
    """Edits of the history, at most one of each change of a file."""
    rows = history(repository)
    chance.shuffle(rows)
    blobs = Blobs(repository)
    found: list[Sample] = []
    try:
        for before, after, name in rows:
            if len(found) == wanted:
                break
            old, new = blobs.text(before), blobs.text(after)
            hunks = [] if old is None or new is None else list(edits(name, old, new))
            if hunks:
                found.append(chance.choice(hunks))
    finally:
        blobs.close()
    return found


def edits(name: str, before: str, after: str) -> Iterator[Sample]:
    text = before.replace("\r\n", "\n")
    old, new = text.split("\n"), after.replace("\r\n", "\n").split("\n")
    codes = changes(old, new)
    for at, (_, i1, i2, j1, j2) in enumerate(codes):
        room_before = i1 - (codes[at - 1][2] if at else 0)
        room_after = (codes[at + 1][1] if at + 1 < len(codes) else len(old)) - i2
        for context in range(CONTEXT):
            head, tail = min(context, room_before), min(context, room_after)
            sent = "\n".join(old[i1 - head : i2 + tail]), "\n".join(new[j1 - head : j2 + tail])
            if max(i2 - i1, j2 - j1) > MAX_LINES or not sent[0].strip() or sent[0] == sent[1]:
                continue
            if text.count(sent[0]) == 1:
                yield Sample(name, text, i1 - head + 1, *sent)
                break


@dataclass(slots=True)
class Tally:
    """What became of the edits of one kind."""

    as_sent: int = 0
    mended: int = 0
    refused: int = 0
    wrong: int = 0

    @property
    def missed(self) -> int:
        return self.mended + self.refused + self.wrong

    def row(self, name: str) -> str:
        share = f"{self.mended / self.missed:.1%}" if self.missed else "-"
        return f"{name:<14}{self.as_sent:>9}{self.missed:>9}{self.mended:>9}{share:>9}{self.refused:>9}{self.wrong:>7}"


def tried(sample: Sample, sent: Sent, tally: Tally) -> tuple[str, float]:
    """What the first answer was; wrong texts and how long it took."""
    exact = sample.text.count(sent[0].replace("\r\n", "\n")) == 1
    begun = time.perf_counter()
    try:
        done = replaced(sample.text, [Replacement(*sent)])
    except ToolFailure as refused:
        tally.refused += 1
        return refused.message, time.perf_counter() - begun
    took = time.perf_counter() - begun
    if exact:
        tally.as_sent += 1
        return "", took
    if done.text == sample.truth:
        tally.mended += 1
        return "", took
    tally.wrong += 1
    return f"WRONG {' '.join(done.mended)}\n{difference(sample.truth, done.text, sample.name).text}", took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", type=Path, action="append", help="a git repository; may be given again")
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--show", type=int, default=0, help="how many wrong and refused edits to print, of each kind")
    given = parser.parse_args()
    chance = random.Random(SEED)
    repositories: Sequence[Path] = given.repository or [ROOT]
    share = -(-given.edits // len(repositories))
    found = [sample for repository in repositories for sample in samples(repository, share, chance)][: given.edits]
    print(f"{len(found)} edits of {', '.join(repository.name for repository in repositories)}")
    print(f"{'':<14}{'as sent':>9}{'missed':>9}{'mended':>9}{'':>9}{'refused':>9}{'wrong':>7}")
    whole, times, shown = Tally(), list[float](), Counter[str]()
    for way in WAYS:
        tally = Tally()
        for sample in found:
            sent = way(sample, chance)
            if sent[0] == sample.old or sent[0].replace("\r\n", "\n") == sent[1].replace("\r\n", "\n"):
                continue
            said, took = tried(sample, sent, tally)
            times.append(took * 1000)
            kind = f"{way.__name__} {said[:5]}"
            if said and shown[kind] < given.show:
                shown[kind] += 1
                print(f"--- {way.__name__} of {sample.name}\nold {sent[0]!r}\nnew {sent[1]!r}\n{said[:1500]}\n")
        print(tally.row(way.__name__.replace("_", " ")))
        for name in ("as_sent", "mended", "refused", "wrong"):
            setattr(whole, name, getattr(whole, name) + getattr(tally, name))
    print(whole.row("all"))
    print(f"ms per edit: median {statistics.median(times):.2f}, most {max(times):.1f}")


if __name__ == "__main__":
    main()
