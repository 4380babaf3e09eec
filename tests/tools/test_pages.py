"""Pages as text, and the addresses that a message names (T-8)."""

from __future__ import annotations

import pytest

from codelaw.tools.reading.pages import named, plain, spelled


def test_a_page_is_its_title_and_what_is_shown_of_it():
    page = (
        "<html><head><title>The\n page</title><style>x{}</style></head><body><h1>Head &amp; tail</h1>"
        "<script>evil()</script><p>One  <b>two</b></p><ul><li>a<li>b</ul><noscript>no</noscript></body></html>"
    )
    title, text = plain(page)
    assert title == "The page"
    assert text.splitlines() == ["Head & tail", "", "One two", "", "- a", "- b"]


@pytest.mark.parametrize("page", ["<", "<script>", "</script></div>", "<p" * 5_000, "&#x110000; <!-- x", "<head><p>a"])
def test_a_page_that_is_none_is_read_all_the_same(page: str):
    assert plain(page)[0] == ""


def test_addresses_count_as_they_are_typed_and_without_what_follows_them():
    urls = named(["see https://A.example/x?y=1#z, and (http://b.example/path).", "no://c.example"])
    assert {"https://a.example/x?y=1", "http://b.example/path"} <= urls
    assert all("c.example" not in url for url in urls)
    assert spelled("HTTPS://A.example") == "https://a.example/"
    assert spelled("http://a.example/x") not in urls
