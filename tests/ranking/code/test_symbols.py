"""What a text of code defines (X-5)."""

from __future__ import annotations

import sys

import pytest

from codelaw.ranking.code import symbols
from codelaw.ranking.code.symbols import is_document, read

SAMPLES = {
    "a.py": ('LIMIT = 1\nclass A:\n    """Why."""\n\n    def f(self):\n        pass\n', "LIMIT:0-1 A:1-6 f:4-6"),
    "a.js": ("const a = 1;\nfunction f() {}\nclass B {\n  m() {}\n}\n", "a:0-1 f:1-2 B:2-5 m:3-4"),
    "a.ts": ("interface I {}\ntype T = number;\nexport const z = 1;\n", "I:0-1 T:1-2 z:2-3"),
    "a.tsx": ("export function F() { return <a/>; }\n", "F:0-1"),
    "a.go": ("package x\nconst C = 1\ntype T struct{}\nfunc (t T) M() {}\n", "C:1-2 T:2-3 M:3-4"),
    "a.rs": ("struct S;\nimpl S {\n    fn f() {}\n}\nmacro_rules! q { () => {} }\n", "S:0-1 S:1-4 f:2-3 q:4-5"),
    "a.java": ("class A {\n  void m() {}\n}\nenum E { X }\n", "A:0-3 m:1-2 E:3-4"),
    "a.c": ("#define M 1\nstruct S { int a; };\nchar *g(int a) {\n}\n", "M:0-1 S:1-2 g:2-4"),
    "a.cpp": ("namespace n {\nclass K { void m() {} };\n}\nint K::q() {}\n", "n:0-3 K:1-2 m:1-2 K::q:3-4"),
    "a.cs": ("class A {\n  int P { get; }\n  void M() {}\n}\n", "A:0-4 P:1-2 M:2-3"),
    "a.rb": ("module M\n  class A\n    def f; end\n  end\nend\n", "M:0-5 A:1-4 f:2-3"),
    "a.php": ("<?php\nfunction f() {}\nclass A {\n  function m() {}\n}\n", "f:1-2 A:2-5 m:3-4"),
    "a.sh": ("X=1\nf() {\n  :\n}\n", "X:0-1 f:1-4"),
    "a.md": ("# One\nx\n```\n# no heading\n```\n## Two\n", "One:0-5 Two:5-7"),
    "a.rst": ("Title\n=====\ntext\n\nSub part\n--------\n", "Title:0-4 Sub part:4-7"),
}


@pytest.mark.parametrize("path", SAMPLES)
def test_what_is_defined_is_found_with_its_lines(path: str) -> None:
    text, expected = SAMPLES[path]
    found = read(path, text)
    assert " ".join(f"{one.name}:{one.start}-{one.end}" for one in found.symbols) == expected
    assert found.parsed is not is_document(path)


def test_comments_and_docstrings_are_told_apart_from_code() -> None:
    text = '"""Module."""\nx = "no comment"  # said\n'
    assert [text[start:end] for start, end in read("a.py", text).comments] == ['"""Module."""', "# said"]


LINES = """local function draw(x)
end
class Shape {
  public static function area() {
    let inner = 1
  }
}
export const LIMIT: int = 3
x == 4
"""


def test_without_a_grammar_the_beginnings_of_lines_tell_what_is_defined() -> None:
    found = read("a.lua", LINES)
    assert not found.parsed
    assert [(one.name, one.kind, one.start, one.end) for one in found.symbols] == [
        ("draw", "function", 0, 2),
        ("Shape", "class", 2, 7),
        ("area", "function", 3, 7),
        ("LIMIT", "variable", 7, 8),
    ]
    assert read("a.json", LINES) == read("noname", "f")


def test_a_grammar_that_cannot_be_loaded_is_as_good_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    symbols._reader.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    try:
        assert [one.name for one in read("a.go", "func Draw() {\n}\n").symbols] == ["Draw"]
    finally:
        symbols._reader.cache_clear()
