"""Grep with `rg` and without gives the same (T-3, F-1)."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codelaw.adapters.workspace.search import find_rg
from tests.fakes.desk import Desk, folder, make_desk

needs_rg = pytest.mark.needs("rg")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow machine is no failure."""
    monkeypatch.setattr("codelaw.tools.reading.listing.GREP_SECONDS", 150.0)
    monkeypatch.setattr("codelaw.tools.reading.listing.GLOB_SECONDS", 150.0)


@pytest.fixture(params=["rg", "python"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Desk:
    if request.param == "rg" and find_rg() is None:
        pytest.skip("rg is not on PATH")
    return make_desk(folder(tmp_path / "work"), rg=find_rg if request.param == "rg" else lambda: None)


@pytest.fixture
def both(tmp_path: Path) -> tuple[Desk, Desk]:
    place = folder(tmp_path / "work")
    one, other = make_desk(place), make_desk(place, rg=lambda: None)
    other.workspace._documents = one.documents
    return one, other


def places(result: Any) -> list[tuple[str, int]]:
    assert result.error is None, result.error
    return [(hit["file"], hit["line"]) for hit in result.data["matches"]]


async def same(both: tuple[Desk, Desk], **arguments: Any) -> list[tuple[str, int]]:
    with_rg, without = await both[0]("Grep", **arguments), await both[1]("Grep", **arguments)
    assert "fallback" not in with_rg.data
    given_data = dict(without.data)
    assert given_data.pop("fallback") is True
    assert given_data == with_rg.data
    assert without.status == with_rg.status
    return places(with_rg)


async def test_hits_have_file_line_and_text(either: Desk):
    either.put("src/a.py", "import os\n\ndef needle():\n    pass\n")
    result = await either("Grep", pattern=r"def \w+\(")
    assert result.status == "success"
    assert (result.data["pattern"], result.data["total"], result.data["files"]) == (r"def \w+\(", 1, 1)
    assert result.data["matches"] == [{"file": "src/a.py", "line": 3, "text": "def needle():"}]


async def test_newest_files_come_first_and_the_rest_is_counted(either: Desk):
    for age in range(30):
        os.utime(either.put(f"f{age:02}.txt", "x\n" * 10), (1000 - age, 1000 - age))
    result = await either("Grep", pattern="x", limit=15)
    assert (result.status, result.data["total"], result.data["files"]) == ("partial", 300, 30)
    assert result.data["reason"] == "limit of 15 matches"
    assert places(result) == [("f00.txt", n) for n in range(1, 11)] + [("f01.txt", n) for n in range(1, 6)]


async def test_case_and_glob(either: Desk):
    either.put("src/a.py", "Needle\n")
    either.put("src/b.ts", "Needle\n")
    either.put("c.py", "needle\n")
    assert places(await either("Grep", pattern="Needle", glob="*.py")) == [("src/a.py", 1)]
    assert {file for file, _ in places(await either("Grep", pattern="NEEDLE", case_sensitive=False))} == {
        "src/a.py",
        "src/b.ts",
        "c.py",
    }
    for glob in ("src/**/*.{py,ts}", "src/*"):
        assert {file for file, _ in places(await either("Grep", pattern="N", glob=glob))} == {"src/a.py", "src/b.ts"}
    assert places(await either("Grep", pattern="(?i)NEEDLE", path="c.py")) == [("c.py", 1)]
    assert places(await either("Grep", pattern="Needle", path="src", glob="*.ts")) == [("src/b.ts", 1)]


async def test_open_buffers_are_searched_instead_of_the_disk(either: Desk):
    path = either.put("a.py", "on disk\n")
    either.put("b.py", "on disk\n")
    either.documents.open(path, "typed\nunsaved needle\r\nlast")
    either.documents.open("untitled:U", "needle")
    either.documents.open(either.root / "fresh.py", "needle\n")
    either.documents.open(either.root.parent / "outside.py", "needle\n")
    found = await either("Grep", pattern="needle$")
    assert set(places(found)) == {("a.py", 2), ("untitled:U", 1), ("fresh.py", 1)}
    assert set(found.data["buffers"]) == {"a.py", "untitled:U", "fresh.py"}
    assert {hit["text"] for hit in found.data["matches"]} == {"unsaved needle", "needle"}
    assert places(await either("Grep", pattern="on disk")) == [("b.py", 1)]
    assert places(await either("Grep", pattern="needle", path="a.py")) == [("a.py", 2)]


async def test_ignored_hidden_and_binary_files_are_left_out(either: Desk):
    (either.root / ".git/info").mkdir(parents=True)
    either.put(".git/info/exclude", "excluded.txt\n")
    either.put(".git/needle", "needle\n")
    either.put(".gitignore", "*.log\n!keep.log\n/build/\n")
    either.put("pkg/.gitignore", "!again.log\nlocal.txt\n")
    for name in (
        "a.txt",
        "gone.log",
        "keep.log",
        "build/x.txt",
        "sub/build/y.txt",
        "excluded.txt",
        ".hidden/z",
        ".env",
        "pkg/again.log",
        "pkg/local.txt",
        "local.txt",
    ):
        either.put(name, "needle\n")
    either.put("binary", b"needle\n\0")
    either.put("late-binary", b"needle\n" + b"x" * 100_000 + b"\0needle\n")
    (either.root / "link.txt").symlink_to("a.txt")
    assert {file for file, _ in places(await either("Grep", pattern="needle"))} == {
        "a.txt",
        "keep.log",
        "sub/build/y.txt",
        "pkg/again.log",
        "local.txt",
    }
    assert places(await either("Grep", pattern="needle", path="build")) == [("build/x.txt", 1)]
    assert places(await either("Grep", pattern="needle", path=".env")) == [(".env", 1)]
    assert places(await either("Grep", pattern="needle", path="binary")) == []


async def test_rules_above_the_start_hold_with_and_without_a_repository(either: Desk):
    either.put(".gitignore", "*.log\nsub/only.txt\n")
    for name in ("sub/a.log", "sub/b.txt", "sub/only.txt"):
        either.put(name, "needle\n")
    (either.root.parent / ".gitignore").write_text("*.txt\n")
    # Outside a repository no ignore file above the workspace folder counts; inside one it does.
    assert places(await either("Grep", pattern="needle", path="sub")) == [("sub/b.txt", 1)]
    assert (await either("Glob", pattern="sub/*")).data["files"] == ["sub/b.txt"]
    (either.root.parent / ".git").mkdir()
    assert places(await either("Grep", pattern="needle", path="sub")) == []
    assert (await either("Glob", pattern="sub/*")).data["files"] == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?=x)", r"(?!x)", r"(?<=x)y", r"(?<!x)y", r"(a)\1", r"(?P<n>a)(?P=n)", r"a++", r"a*+", r"a{2}+", r"(?>a)",
        r"\Afoo", r"foo\Z", r"foo\z", r"a\nb", r"\p{L}", r"[[:alpha:]]", r"(?x)a b", r"(?s:a)", r"(?-i:a)", r"\Qa\E",
        r"\<a\>", r"(?#c)", r"\012", r"*a", r"a**", r"(a", r"a)", r"[a", r"[z-a]", "a\\", r"[^\S]", r"a{1001}", r"^*",
        r"(?(1)a|b)", "a\nb", r"\e", r"a{2,1}",
    ],
)  # fmt: skip
async def test_what_is_not_common_is_refused_by_name(either: Desk, pattern: str):
    either.put("a", "aaa\n")
    result = await either("Grep", pattern=pattern)
    assert result.error is not None
    assert result.error.code == "INVALID_PARAM"
    assert "pattern = " in result.error.message


@pytest.mark.needs("rg")
async def test_a_runaway_expression_is_killed(both: tuple[Desk, Desk], monkeypatch: pytest.MonkeyPatch):
    both[0].put("a", "a" * 60 + "b\n")
    assert (await both[0]("Grep", pattern="(a|aa)+c")).data["total"] == 0
    monkeypatch.setattr("codelaw.tools.reading.listing.GREP_SECONDS", 0.5)
    result = await both[1]("Grep", pattern="(a|aa)+c")
    assert result.error is not None
    assert result.error.code == "TIMEOUT"


PATTERNS = [
    r"foo", r"FOO", r"^foo", r"foo$", r"^$", r"^foo$", r".", r"f.o", r"^.{3}$", r"\bfoo\b", r"\Bo", r"foo|bar$",
    r"(foo|bar)+", r"(?:f)(?P<x>o){2}", r"[a-c]+x?", r"[^a-z]", r"^[^a-z]+$", r"\d+", r"\D", r"\w+$", r"\W$", r"\s$",
    r"^\s+\S", r"[\s\S]", r"[\w.]+@", r"\S+\s\S+$", r"interface{}", r"a{2,}", r"a{2}?", r"\x66oo", r"é", r"\bété\b",
    r"[é-ü]", r"中文", r"\w+文", r"\.", r"a\+b", r"\[x\]", r"[]x]", r"[\]x]", r"[a\-z]", r"[-x]", r"[x-]", r"[&&~~-]",
    r"[a[b]", r"\t", r"x\s*$", r"", r"a*", r"(a|)", r"()", r"\u0066", r"[\x00-\x1f]", r"[\x00-\U]", r"(?i)éTé", r"#",
    r"\#", r" ", r"\ ", r"/", r"\/", r"^\W", r"ﬁ", r"²", r"\w²", r"[\D]x", r"[^\d\s]+",
]  # fmt: skip

CONTENT = {
    "unix.txt": "foo\nbar\n\nfoo bar\n  foo\nFOO\n f-o \naab abc xx\n12 34\na.b@c\ninterface{}\n#\n/\n",
    "windows.txt": "foo\r\nbar\r\n\r\nfoo bar \r\n\tx  \r\nlast",
    "bom.txt": b"\xef\xbb\xbffoo\nbar\n",
    "latin.txt": b"caf\xe9 foo\n\xe9\n\xff\xfe\nfoo",
    "unicode.txt": "été\nÉTÉ\n中文 文\nx²\n\u00a0foo\u2028bar\n\u3000\nüé\n",
    "odd.txt": "[x]\n]\n-\n&~\na+b\n\x01\x0bx\n\x1cfoo\nfoo\rbar\r\n\r\na\\b\n",
    "empty.txt": "",
    "one-break.txt": "\n",
    "no-break.txt": "aaa",
    "long.txt": "x" * 9000 + "foo\n" + "foo" + "y" * 9000 + "\n",
    "utf16.txt": "foo\n".encode("utf-16"),
}


@needs_rg
@pytest.mark.parametrize("pattern", [p for p in PATTERNS if p and "U]" not in p])
@pytest.mark.parametrize("case_sensitive", [True, False])
async def test_both_engines_agree(both: tuple[Desk, Desk], pattern: str, case_sensitive: bool):
    for name, text in CONTENT.items():
        os.utime(both[0].put(name, text), (1000, 1000))
    both[0].documents.open("untitled:U", CONTENT["windows.txt"] + "\nété\n")
    await same(both, pattern=pattern, case_sensitive=case_sensitive)


ATOMS = [
    "a",
    "b",
    "é",
    ".",
    r"\w",
    r"\d",
    r"\s",
    r"\S",
    r"\W",
    "[ab]",
    "[^a]",
    r"[^\s]",
    "(a|b)",
    "(?:ab)",
    " ",
    "-",
    "1",
    r"\.",
]


@needs_rg
async def test_both_engines_agree_on_made_up_patterns(both: tuple[Desk, Desk]):
    chance = random.Random(7)
    lines = ["".join(chance.choice("aabé1 .-_\t") for _ in range(chance.randrange(9))) for _ in range(400)]
    for index in range(4):
        text = ("\r\n" if index % 2 else "\n").join(lines[index * 100 : index * 100 + 100])
        os.utime(both[0].put(f"{index}.txt", text), (1000, 1000))
    found = 0
    for _ in range(60):
        parts = [
            chance.choice(ATOMS) + chance.choice(["", "", "", "*", "+", "?", "{2}", "{1,2}", "+?"])
            for _ in range(chance.randrange(1, 5))
        ]
        parts = [chance.choice(["", "", "", r"\b", r"\B"]) + part for part in parts]
        pattern = chance.choice(["", "^"]) + "".join(parts) + chance.choice(["", "$"])
        found += len(await same(both, pattern=pattern))
    assert found > 500


# `rg` 13 does not see that a name is hidden when it also ends with a dot.
NAMES = st.text("ab.-", min_size=1, max_size=3).filter(lambda name: name[-1] != "." and name[0] != "-")
RULES = st.lists(
    st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["", "", "!"]),
            st.sampled_from(["", "", "/", "**/", "a/", "a/**/"]),
            st.sampled_from(["a", "b", "*.b", "?", "[ab]", "a*", "*", "ab", ".a"]),
            st.sampled_from(["", "", "/", "/**", "/b"]),
        ),
    ),
    max_size=4,
)


@needs_rg
@settings(max_examples=25, deadline=None)
@given(
    tree=st.lists(st.lists(NAMES, min_size=1, max_size=3), min_size=1, max_size=8),
    rules=st.dictionaries(st.sampled_from([".gitignore", "a/.gitignore", ".git/info/exclude"]), RULES, max_size=3),
    repository=st.booleans(),
)
def test_both_walks_agree_on_ignore_files(
    tmp_path_factory: pytest.TempPathFactory, tree: list[list[str]], rules: dict[str, list[str]], repository: bool
):

    place = folder(tmp_path_factory.mktemp("tree") / "work")
    desks = make_desk(place), make_desk(place, rg=lambda: None)
    for name, lines in rules.items():
        if repository or not name.startswith(".git/"):
            desks[0].put(name, "\n".join(lines))
    if repository:
        (place.root / ".git").mkdir(exist_ok=True)
    for parts in tree:
        try:
            os.utime(desks[0].put("/".join(parts), "needle\n"), (1000, 1000))
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            continue
    asyncio.run(same(desks, pattern="needle"))


async def test_a_cancelled_search_leaves_no_process(both: tuple[Desk, Desk]):
    both[0].put("a", "a" * 60 + "b\n")

    def children() -> set[str]:
        return {*Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}

    before = await asyncio.to_thread(children)
    task = asyncio.create_task(both[1]("Grep", pattern="(a|aa)+c"))
    while await asyncio.to_thread(children) <= before:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(children) <= before


async def test_an_rg_too_old_for_us_is_done_without(tmp_path: Path):
    old = tmp_path / "rg"
    old.write_text("#!/bin/sh\necho 'error: Found argument --no-require-git' >&2; exit 2\n")
    old.chmod(0o755)
    desk = make_desk(folder(tmp_path / "work"), rg=lambda: str(old))
    desk.put("a", "needle\n")
    assert places(await desk("Grep", pattern="needle")) == [("a", 1)]
