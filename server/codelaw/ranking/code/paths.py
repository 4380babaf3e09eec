"""What a file's path says of it: the words of its name, and whether it stands aside (X-5).

A question about code is seldom answered by tests, examples, recorded output or documents, which hold the same words;
so these stand a little lower, unless the question names what they are.
"""

from __future__ import annotations

import re
from functools import cache

from codelaw.ranking.code.digest import numbered, words
from codelaw.ranking.code.symbols import is_document, suffix_of

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "test tests testing spec specs unittest fixture fixtures mock mocks",
        re.compile(
            r"(^|/)(tests?|testing|__tests__|specs?|fixtures?|testdata|__?mocks__|mocks?|test_\w+|\w+_tests?)/"
            r"|(^|/)(test_|conftest\.)[^/]*$|[_.-](tests?|specs?)\.\w+$|[a-z]Tests?\.\w+$"
        ),
    ),
    (
        "example examples demo demos sample samples tutorial",
        re.compile(r"(^|/)(examples?|demos?|samples?)/"),
    ),
    (
        "benchmark benchmarks bench perf performance",
        re.compile(r"(^|/)(benchmarks?|bench|benches)/|(^|/)bench_[^/]*$|[_.-]bench(mark)?\.\w+$"),
    ),
    ("vendor vendored", re.compile(r"(^|/)(vendor|third_party)/")),
    (
        "changelog changes history news release",
        re.compile(r"(^|/)(changelog|changes|history|news|releases?|release[-_]notes)(\.\w+)?$", re.IGNORECASE),
    ),
    ("snapshot output", re.compile(r"\.(stderr|stdout|out|snap)$")),
)
_TOLD = re.compile(r"(^|/)(docs?|documentation|guides?|manuals?|wiki|website|content)/|(^|/)[A-Z][A-Z0-9_-]+(\.\w+)?$")
"""Documents for readers of the project; others are texts that it works with."""
_TEXT = "text prompt template message"
_DOCUMENT = "doc docs documentation document readme guide manual changelog markdown rst"
_DATA = frozenset({"json", "toml", "yaml", "yml", "xml", "cfg", "ini", "resx", "csproj", "bazel", "cmake", "lock"})
_SETTINGS = "config configuration settings build package dependency ci workflow manifest"


@cache
def _named(kind: str) -> frozenset[int]:
    return frozenset(term for word in words(kind) for term in numbered(word))


def documents() -> frozenset[int]:
    """The terms that ask for documents."""
    return _named(_DOCUMENT)


def aside(path: str) -> frozenset[int]:
    """The terms that ask for the kind of file that stands aside; none where the file is plain code."""
    for kind, pattern in _KINDS:
        if pattern.search(path):
            return _named(kind)
    if is_document(path):
        return documents() if _TOLD.search(path) else documents() | _named(_TEXT)
    return _named(_SETTINGS) if suffix_of(path) in _DATA else frozenset()


def stem(path: str) -> frozenset[int]:
    """The terms of a file's name without its suffix."""
    name = path.rsplit("/", 1)[-1]
    return frozenset(term for word in words(name.split(".", 1)[0] or name) for term in numbered(word))


def inside(path: str, folder: str) -> bool:
    """Whether a path, as shown, is this file or lies in this folder; everything lies in `.`."""
    folder = folder.rstrip("/")
    return folder in {"", "."} or path == folder or path.startswith(f"{folder}/")
