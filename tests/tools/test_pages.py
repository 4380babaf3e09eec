"""Pages as text, and the addresses that a message names (T-8)."""

from __future__ import annotations

import pytest

from codelaw.tools.reading.web_fetch import named, plain, spelled


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


@pytest.mark.parametrize(
    "piece",
    ["<", "<a ", "<!--", "<?", "</", "</a", "<a b='", "<script>", "<svg>", "<title>", "&", "&#9", "<svg></math>"],
)
def test_no_page_takes_longer_than_its_length_lets_expect(piece: str):
    # Time in the square of this many would be hours, in which nothing else of the server goes on.
    title, text = plain(f"<p>before</p>{piece * 100_000}")
    assert len(title) + len(text) <= 110_000 * len(piece)
    assert text.startswith("before") or title.startswith("before")


def test_a_tag_ends_where_a_browser_lets_it_end():
    page = "<p title='a > b'>one</p><p data=x>two<!-- a > b -->three<p b'>four</p><!doctype x>five<title>6</title>7"
    assert plain(page) == ("6", "one\n\ntwothree\nfour\nfive7")
    assert plain("<textarea><b>a</b></textarea><style><p>x</p></style><svg>y<svg>z</svg></svg>b") == ("", "<b>a</b>b")
    assert plain(f"&#{'9' * 5_000};&#x{'f' * 5_000};&amp;&copy 1 < 2 & 3") == ("", "\ufffd\ufffd&© 1 < 2 & 3")


def test_addresses_count_as_they_are_typed_and_without_what_follows_them():
    urls = named(["see https://A.example/x?y=1#z, and (http://b.example/path).", "no://c.example"])
    assert {"https://a.example/x?y=1", "http://b.example/path"} <= urls
    assert all("c.example" not in url for url in urls)
    assert spelled("HTTPS://A.example") == "https://a.example/"
    assert spelled("http://a.example/x") not in urls
