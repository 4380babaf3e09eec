"""Mentions and their reminder (M-1, M-3)."""

from __future__ import annotations

import pytest

from codelaw.context.mentions import candidates, reminder, spell
from codelaw.domain.events import Mention


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look at @src/utils/auth.ts please", ["src/utils/auth.ts"]),
        ("@a.py", ["a.py"]),
        ("see @a.py.", ["a.py"]),
        ("see @a.py, @b.py; and @a.py again", ["a.py", "b.py"]),
        ("(@a.py)", ["a.py"]),
        ("mail me@example.com", []),
        ("x9@a.py", []),
        ("x.@a.py x-@b.py x_@c.py", []),
        ("_@a.py", []),
        ("é@a.py", ["a.py"]),
        ("请阅读@a.py", ["a.py"]),
        ("请阅读@a.py。然后@src/b.ts，再说", ["a.py", "src/b.ts"]),
        ("ファイル@a.pyを読んで", ["a.py"]),
        ('ファイル@"a b.py"を', ["a b.py"]),
        ('请看@"文档/说明.md"的内容', ["文档/说明.md"]),
        ("파일@a.py을 보세요", ["a.py"]),
        ("９@a.py", ["a.py"]),
        ("联系 someone@example.com。", []),
        ("a@b.com@c.com", []),
        ("@. @- @.. @/", []),
        ("@/etc/passwd", []),
        ("@../secret @a/../../b", []),
        ("@a/../b.py", ["b.py"]),
        ("@./a.py and @a.py", ["a.py"]),
        ('@"path with spaces/naïve.md" ok', ["path with spaces/naïve.md"]),
        ('@"../up"', []),
        ("@src/", ["src"]),
        ("import {x} from '@angular/core'", ["angular/core"]),
        ("@2024", ["2024"]),
        ("", []),
        ("@", []),
    ],
)
def test_candidates(text: str, found: list[str]):
    assert candidates(text) == found


def files(*paths: str) -> list[Mention]:
    return [Mention(path, "file") for path in paths]


def test_one_file_is_exactly_the_template():
    assert reminder(files("src/utils/auth.ts")) == (
        "<system-reminder>\n"
        "The user mentioned @src/utils/auth.ts.\n"
        "You MUST read this file with the Read tool before answering.\n"
        "</system-reminder>"
    )


def test_several_files_are_named_in_order_and_the_rest_is_counted():
    assert reminder(files("a", "b")) == (
        "<system-reminder>\n"
        "The user mentioned @a, @b.\n"
        "You MUST read these files one by one, in this order, with the Read tool before answering.\n"
        "</system-reminder>"
    )
    assert "@a, @b, @c, @d, @e (and 2 more…).\n" in reminder(files(*"abcdefg"))
    assert "@f" not in reminder(files(*"abcdefg"))


def test_folders_are_to_be_listed():
    assert reminder([Mention("src", "folder")]) == (
        "<system-reminder>\nThe user mentioned @src.\n"
        "You MUST list this folder with the LS tool before answering.\n</system-reminder>"
    )
    mixed = reminder([Mention("a.py", "file"), Mention("src", "folder")])
    assert "You MUST read this file with the Read tool before answering.\nYou MUST list the folder with" in mixed


def test_nothing_resolved_leaves_no_reminder():
    assert reminder([Mention("angular/core", "unresolved")]) == ""


def test_a_path_the_plain_form_cannot_hold_is_quoted():
    assert spell("src/a.py") == "@src/a.py"
    assert spell("a b.py") == '@"a b.py"'
    assert candidates(spell("größe/a b.")) == ["größe/a b."]
