"""What a path says of its file (X-5)."""

from __future__ import annotations

import pytest

from codelaw.ranking.code.digest import numbered
from codelaw.ranking.code.paths import aside, stem
from codelaw.ranking.code.question import asked


@pytest.mark.parametrize(
    ("path", "question"),
    [
        ("tests/agent/turn.py", "which tests cover the turn"),
        ("pkg/router_test.go", "the specs of the router"),
        ("src/RouterTest.java", "test"),
        ("web/list.spec.ts", "spec"),
        ("examples/hello.py", "an example of a server"),
        ("benchmarks/step.py", "benchmark of a step"),
        ("third_party/zlib/inflate.c", "vendored code"),
        ("tests/ui/wrong.stderr", "tests of the compiler"),
        ("docs/rules.md", "documentation of the rules"),
        ("pyproject.toml", "package settings"),
    ],
)
def test_what_stands_aside_can_be_asked_for(path: str, question: str) -> None:
    assert asked(question).says(aside(path))
    assert not asked("how a view is built").says(aside(path))


@pytest.mark.parametrize("path", ["src/testing_ground.py", "contest/entry.go", "latest/api.ts", "src/Greatest.java"])
def test_plain_code_does_not_stand_aside(path: str) -> None:
    assert not aside(path)


def test_a_name_is_its_words_without_the_suffix() -> None:
    assert stem("lib/ThreadPool.spec.ts") == {
        term for word in ("thread", "pool", "threadpool") for term in numbered(word)
    }
    assert stem(".gitignore")
