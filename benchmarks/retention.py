"""What code keeps of an archive: the names an agent needs next, the files it changed, the commands that failed (K-5).

    benchmarks/retention.py FOLDER FILE... [--results full]

FOLDER holds `compaction_retention.py` and `transcripts.py`, which define the cuts, the names needed after each
(`need_set`) and the baseline `freq`; the FILEs are transcripts in their format. Sessions that they find no cut in are
cut after half and three quarters of their requests (`step`). Tokens are o200k's. No model is asked.

Columns: `names` that stand in the text in any form, also as a part of a longer one; `whole`, as names of their own;
`only`, the names that stand nowhere but in the archive when the newest requests (`--kept`) stay in the view, of an
index that is made for that archive; `only, whole`, both. The constants of the index were chosen on these files.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import client

from codelaw.context.escaping import json_line
from codelaw.context.shortening.compressor import compress
from codelaw.context.tokens import estimate
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.templates.render import render
from codelaw.transcript.summaries.facts import facts
from codelaw.transcript.summaries.identifiers import index
from codelaw.transcript.summaries.summary import archive_text, fact_lines, sizes

BUDGETS = (700, 1500, 2000, 2700, 3400)
FACTS, MOST = 0.25, 0.6
"""Shares of a budget that the facts may take, and that changed files and failed commands may where they must."""
FEWEST = 5
"""Names needed after a cut that counts."""
WINDOWS = (16_000, 32_000, 200_000)
EXIT = re.compile(r"\s*(?:Exit code |<returncode>)(-?\d+)")
PLACE = re.compile(r"([^\s`{]+)/\{([^}]*)\}")
WRITERS = {"Edit", "MultiEdit", "Write"}
SHELLS = {"Bash", "execute_bash"}

Row = dict[str, Any]
Count = Callable[[str], int]
Names = Callable[[str], set[str]]


@dataclass(frozen=True)
class Cut:
    """A history that ends, what is needed after it, and what must not be lost of it."""

    kind: str
    rows: list[Row]
    messages: list[Message]
    need: set[str]
    summary: str | None
    stays: tuple[Message, ...] = ()
    """What the view goes on to show."""
    older: Cut | None = None
    """The same cut when its newest requests stay; needed is what they do not show."""

    @property
    def kept(self) -> list[Row]:
        """The rows with the results that our record has of them."""
        results = iter([message.content for message in self.messages if message.role == "tool"])
        return [{**row, "result_text": next(results)} if row["role"] == "tool" else row for row in self.rows]

    @property
    def changed(self) -> set[str]:
        return {
            row["args"]["file_path"]
            for row in self.rows
            if row.get("tool") in WRITERS and not row.get("is_error") and row["args"].get("file_path")
        }

    @property
    def failed(self) -> set[str]:
        return {
            " ".join(str(row["args"].get("command", "")).split())[:50]
            for row in self.rows
            if row.get("tool") in SHELLS and row.get("is_error")
        }


Method = Callable[[Cut], str]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("files", type=Path, nargs="+")
    asked.add_argument(
        "--results", choices=("history", "full"), default="history", help="as history keeps them, or all"
    )
    asked.add_argument("--steps", type=int, default=30, help="requests after a cut whose names count")
    asked.add_argument("--kept", type=int, default=10, help="newest requests that stay, for names only in the archive")
    given = asked.parse_args()
    sys.path.insert(0, str(given.folder.resolve()))
    import compaction_retention as retention  # pyright: ignore[reportMissingImports]
    import transcripts  # pyright: ignore[reportMissingImports]

    from codelaw.adapters.tokenizer import load_counter

    count = transcripts.tok = remembering(asyncio.run(load_counter()))
    for file in given.files:
        cuts = list(found(retention, transcripts, str(file), given, whole=given.results == "full"))
        for kind in dict.fromkeys(cut.kind for cut in cuts):
            report(f"{file.name}, {kind}", [cut for cut in cuts if cut.kind == kind], retention, count)


def report(title: str, cuts: Sequence[Cut], retention: Any, count: Count) -> None:
    """A table for the cuts of one kind."""
    methods: dict[str, Method] = {}
    for budget in BUDGETS:
        methods[f"facts and index, {budget}"] = lambda cut, budget=budget: ours(cut, budget, count)
    for budget in BUDGETS:
        methods[f"freq, {budget}"] = lambda cut, budget=budget: retention.freq(cut.rows, budget)
    for budget in BUDGETS:
        methods[f"freq on what history keeps, {budget}"] = lambda cut, budget=budget: retention.freq(cut.kept, budget)
    for window in WINDOWS:
        methods[f"as configured, window of {window}"] = lambda cut, window=window: configured(cut, window)
    if all(cut.summary for cut in cuts):
        methods["the agent's own summary"] = lambda cut: cut.summary or ""
    olds = [cut.older for cut in cuts if cut.older is not None]
    print(f"\n## {title}\n")
    print(
        f"{len(cuts)} cuts, {mean(len(cut.need) for cut in cuts):.0f} names needed; slowest: {slowest(cuts):.0f} ms;"
        f" {sum(len(old.need) for old in olds)} names only in the archive, of {len(olds)} cuts\n"
    )
    print("| | tokens | names | whole | only | only, whole | changed files | failed commands |")
    print("|---|---|---|---|---|---|---|---|")
    for name, method in methods.items():
        said = [method(cut) for cut in cuts]
        names, files, commands = measured(cuts, said)
        known = [whole(cut, text, retention.idents) for cut, text in zip(cuts, said, strict=True)]
        kept = mean(len(cut.need & of) / len(cut.need) for cut, of in zip(cuts, known, strict=True))
        only = archived(olds, method, retention.idents) if "own summary" not in name else ("–", "–")
        print(
            f"| {name} | {mean(map(count, said)):.0f} | {names:.1f} % | {100 * kept:.1f} % | {' | '.join(only)} |"
            f" {files:.1f} % | {commands:.1f} % |",
            flush=True,
        )


def measured(cuts: Sequence[Cut], texts: Sequence[str]) -> tuple[float, float, float]:
    """Percentages: names, changed files, failed commands."""
    wide = [text + " ".join(unfolded(text)) for text in texts]
    recall = mean(sum(name in text for name in cut.need) / len(cut.need) for cut, text in zip(cuts, texts, strict=True))
    files = [tail(path) in text for cut, text in zip(cuts, wide, strict=True) for path in cut.changed]
    commands = [opening in text for cut, text in zip(cuts, wide, strict=True) for opening in cut.failed]
    return 100 * recall, 100 * mean(files or [1]), 100 * mean(commands or [1])


def archived(cuts: Sequence[Cut], method: Method, names: Names) -> tuple[str, str]:
    """Of all names that stand only in the archives: the share in the texts, and as names of their own."""
    total = sum(len(cut.need) for cut in cuts)
    if not total:
        return "–", "–"
    texts = [method(cut) for cut in cuts]
    held = sum(name in text for cut, text in zip(cuts, texts, strict=True) for name in cut.need)
    own = sum(len(cut.need & whole(cut, text, names)) for cut, text in zip(cuts, texts, strict=True))
    return f"{100 * held / total:.1f} %", f"{100 * own / total:.1f} %"


def whole(cut: Cut, text: str, names: Names) -> set[str]:
    """The names that stand in a text as such; what is folded is a path again, as its reader knows."""
    return cut.need & names(" ".join([text, *unfolded(text)]))


def ours(cut: Cut, budget: int, count: Count) -> str:
    """All that code writes, in one budget."""
    lines = fact_lines(facts(cut.messages, {}), int(budget * FACTS), count, most=int(budget * MOST))
    shown = {"files": lines.files, "commands": lines.commands, "failures": lines.failures}
    above = render("summary_facts", **shown, index="")
    names = index(cut.messages, budget - count(above) - 8, count, known=above, kept=cut.stays)
    return render("summary_facts", **shown, index=names)


def configured(cut: Cut, window: int) -> str:
    """What a cut without a summary leaves, by our default settings and estimates."""
    return archive_text(None, cut.messages, {}, sizes(window), kept=cut.stays, count=estimate)


def slowest(cuts: Sequence[Cut]) -> float:
    """Milliseconds of the slowest document."""
    times: list[float] = []
    for cut in cuts:
        began = time.perf_counter()
        configured(cut, WINDOWS[-1])
        times.append((time.perf_counter() - began) * 1000)
    return max(times)


def found(retention: Any, transcripts: Any, file: str, given: argparse.Namespace, *, whole: bool) -> Iterator[Cut]:
    """The cuts of a file, those of sessions without any last."""
    seen: set[str] = set()
    for kind, session, before, after, summary in retention.cuts([file]):
        seen.add(session)
        need = retention.need_set(before, after, given.steps)
        if len(need) >= FEWEST:
            older = without_newest(retention, before, need, given.kept, whole=whole)
            yield Cut(kind, before, list(messages(before, whole=whole)), need, summary, older=older)
    for session, rows in transcripts.load(file).items():
        last = max(row["step"] for row in rows)
        for part in (0.5, 0.75) if session not in seen else ():
            place = next(place for place, row in enumerate(rows) if row["step"] >= last * part)
            before = rows[:place]
            need = retention.need_set(before, rows[place:], given.steps)
            if len(need) >= FEWEST:
                older = without_newest(retention, before, need, given.kept, whole=whole)
                yield Cut("step", before, list(messages(before, whole=whole)), need, None, older=older)


def without_newest(retention: Any, rows: list[Row], need: set[str], kept: int, *, whole: bool) -> Cut | None:
    """The cut with its newest requests kept; None when nothing else is needed, or nothing would be archived."""
    steps = sorted({row["step"] for row in rows})
    if len(steps) <= kept:
        return None
    place = next(place for place, row in enumerate(rows) if row["step"] >= steps[-kept])
    shown: set[str] = set()
    for row in rows[place:]:
        shown |= retention.idents(retention.text(row))
    only = need - shown
    if not only or not place:
        return None
    stays = tuple(messages(rows[place:], whole=whole))
    return Cut("older", rows[:place], list(messages(rows[:place], whole=whole)), only, None, stays)


def messages(rows: Sequence[Row], *, whole: bool) -> Iterator[Message]:
    """The rows as our record would hold them; summaries are not part of what is archived."""
    place = 0
    while place < len(rows):
        row, turn = rows[place], f"t{rows[place]['turn']}"
        if row["role"] == "tool":
            step = place
            while place < len(rows) and rows[place]["role"] == "tool" and rows[place]["step"] == row["step"]:
                place += 1
            yield from step_messages(turn, step, rows[step:place], whole=whole)
            continue
        if row["role"] == "user":
            yield Message(f"u{place}", turn, "user", row.get("text", ""))
        elif row["role"] == "assistant":
            said = row.get("thought", "")
            yield Message(f"a{place}", turn, "assistant", said, Metadata(answer=said))
        place += 1


def step_messages(turn: str, number: int, rows: Sequence[Row], *, whole: bool) -> Iterator[Message]:
    calls = tuple(call(row, f"c{number}_{at}") for at, row in enumerate(rows))
    thought = "\n".join(filter(None, (row.get("thought") for row in rows)))
    actions = "\n".join(f"Action: {one.tool}[{json.dumps(dict(one.arguments))}]" for one in calls)
    yield Message(f"a{number}", turn, "assistant", f"Thought: {thought}\n{actions}", Metadata(calls=calls))
    for one, row in zip(calls, rows, strict=True):
        envelope = result(one, row)
        kept = {**envelope, "ref": one.id} if whole else compress(one.tool, envelope, one.id)
        said = Metadata(tool_name=one.tool, call_id=one.id, ref=one.id)
        yield Message(f"result_{one.id}", turn, "tool", json_line(kept), said)


def call(row: Row, id_: str) -> Call:
    """The call in our words."""
    arguments = dict(row.get("args") or {})
    if "file_path" in arguments:
        arguments = {"path": arguments.pop("file_path"), **arguments}
    return Call(id_, "Bash" if row["tool"] in SHELLS else row["tool"], arguments)


def result(one: Call, row: Row) -> dict[str, Any]:
    """The envelope that our tool would have given for the same outcome."""
    text, failed, args = row.get("result_text", ""), bool(row.get("is_error")), one.arguments
    if one.tool == "Bash":
        said = EXIT.match(text)
        code = int(said[1]) if said else 0
        data: dict[str, Any] = {"command": args.get("command"), "exit_code": code, "stdout": text, "stderr": ""}
        if failed and said:
            error = {"code": "EXECUTION_ERROR", "message": f"The command ended with exit code {code}."}
            return {"status": "error", "data": data, "error": error}
    elif one.tool == "Grep":
        data = {"pattern": args.get("pattern"), "path": args.get("path"), "matches": text.split("\n")}
    elif one.tool == "Glob":
        data = {"pattern": args.get("pattern"), "files": text.split("\n")}
    elif one.tool in WRITERS:
        old, new = str(args.get("old_string", "")), str(args.get("new_string", args.get("content", "")))
        diff = "\n".join([*(f"-{line}" for line in old.split("\n")), *(f"+{line}" for line in new.split("\n"))])
        data = {"path": args.get("path"), "applied": True, "diff": diff}
        if one.tool == "Write":
            data["operation"] = "overwritten" if "updated" in text else "created"
    elif one.tool == "TodoWrite":
        data = {"recap": text}
    else:
        data = {"path": args.get("path"), "content": text}
    if failed:
        return {"status": "error", "data": {}, "error": {"code": "INVALID_PARAM", "message": text[:600]}}
    return {"status": "success", "data": data}


def unfolded(text: str) -> Iterator[str]:
    """The whole paths of `a/{b/c d/e}`."""
    for above, inside in PLACE.findall(text):
        yield from (f" {above}/{leaf}" for leaf in inside.split())


def tail(path: str) -> str:
    """The last two parts, by which the baseline knows a path."""
    return "/".join(path.split("/")[-2:])


def remembering(count: Count) -> Count:
    """A counter that counts short texts once."""
    known: dict[str, int] = {}

    def counted(text: str) -> int:
        if len(text) > 200:
            return count(text)
        if text not in known:
            known[text] = count(text)
        return known[text]

    return counted


if __name__ == "__main__":
    assert client.ROOT
    main()
