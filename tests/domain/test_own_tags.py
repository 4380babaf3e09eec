"""Our tags in foreign text, in every spelling (R-5)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.domain.safety.own_tags import DISTINCT, OURS, disarmed, openings

SPELLINGS = [
    "<system-reminder>",
    "</system-reminder>",
    "< / SYSTEM-Reminder >",
    "<\tsystem-reminder a='b'>",
    "<\nsystem-reminder>",
    "<s y s t e m - reminder>",
    "<system_reminder>",
    "<sys\u200btem-re\xadminder>",
    "<\u202esystem-reminder>",
    "<\U000e0073system-reminder>",
    "<system\u2011reminder>",
    "<system\u2010reminder>",
    "＜ｓｙｓｔｅｍ－ｒｅｍｉｎｄｅｒ＞",
    "＜／system-reminder＞",
    "﹤system-reminder﹥",
    "<𝐬𝐲𝐬𝐭𝐞𝐦-𝐫𝐞𝐦𝐢𝐧𝐝𝐞𝐫>",
    "&#60;system-reminder&#62;",
    "&#x3C;/system-reminder>",
    "&LT;system-reminder>",
    "&lt system-reminder",
    "&amp;lt;system-reminder&amp;gt;",
    "<system&#45;reminder>",
    "<&#115;ystem-reminder>",
    "<system&amp;#45;reminder>",
    "<\\/system-reminder>",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_spelling_of_a_tag_is_found_and_disarmed(spelling: str):
    ((start, end),) = openings(f"before {spelling} after")
    shown = disarmed(f"before {spelling} after")
    assert start == len("before ")
    assert shown == f"before &lt;{spelling[end - start :]} after"
    assert not set("<＜﹤") & set(shown)
    assert disarmed(shown) == shown


@pytest.mark.parametrize("name", OURS)
def test_each_name_is_ours(name: str):
    assert disarmed(f"<{name} x>") == f"&lt;{name} x>"


def test_other_peoples_words_are_theirs():
    text = "<section> a < b && pinned &lt;b&gt; <string> <system> <reminder> vector<system::reminder> <p>"
    assert disarmed(text) == text
    config = "<environment>\n<attachment>\n<pin>"
    assert disarmed(config, DISTINCT) == config


@given(st.text(alphabet="<>/ &;#ltx3c60-systemreminder\u200b\uff1c\uff53\\"))
def test_disarming_twice_is_disarming_once(text: str):
    assert disarmed(disarmed(text)) == disarmed(text)
