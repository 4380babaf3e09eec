"""The search without `rg`: a program of its own, so that a runaway expression can be killed (T-3).

Reads one JSON object on stdin, `{pattern, ignore_case, limit, items}`, an item being `{"path": …}` or `{"text": …}`;
writes one JSON array a line: `[item, line, text]` for each of the first hits, then `[item, count]` for each item with
hits. Standard library only: it is started by its path, without the package.
"""

from __future__ import annotations

import json
import re
import sys

MAX_TEXT = 500
"""Characters of a line that are told."""
MAX_BYTES = 50_000_000
"""So much of a file is looked through at a time."""


def main() -> None:
    request = json.load(sys.stdin)
    expression = re.compile(request["pattern"], re.MULTILINE | (re.IGNORECASE if request["ignore_case"] else 0))
    left = request["limit"]
    for index, item in enumerate(request["items"]):
        count = before = 0
        for text in (item["text"],) if "text" in item else content(item["path"]):
            for line, start, end in matching_lines(expression, text):
                count += 1
                if left > 0:
                    left -= 1
                    shown = text[start : min(end, start + 4 * MAX_TEXT)].encode("utf-8", "surrogateescape")
                    report([index, before + line, shown.decode("utf-8", "replace")])
                    sys.stdout.flush()
            before += text.count("\n")
        if count:
            report([index, count])


def content(path: str):  # noqa: ANN201 - typing is not worth its import here
    """The text of a file, in parts that end with a line unless one is too long; nothing where it is binary."""
    rest = b""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - pathlib doubles the start-up time
            while data := file.read(MAX_BYTES):
                if b"\0" in data:
                    return
                data = rest + data
                end = data.rfind(b"\n") + 1 or (len(data) if len(data) >= MAX_BYTES else 0)
                yield data[:end].decode("utf-8", "surrogateescape")
                rest = data[end:]
    except OSError:
        return
    yield rest.decode("utf-8", "surrogateescape")


def matching_lines(expression: re.Pattern[str], text: str):  # noqa: ANN201 - typing is not worth its import here
    """Number, start and end of each line that matches."""
    at, line, counted = 0, 1, 0
    while at < len(text):
        found = expression.search(text, at)
        if found is None or (found.start() == len(text) and text.endswith("\n")):
            return
        line += text.count("\n", counted, found.start())
        counted = found.start()
        start = text.rfind("\n", 0, found.start()) + 1
        end = text.find("\n", found.start())
        end = len(text) if end < 0 else end
        yield line, start, end
        at = end + 1


def report(value: list[object]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")


if __name__ == "__main__":
    main()
