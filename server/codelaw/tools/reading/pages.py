"""A page of the web as plain text, and the addresses that a text names. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser
from urllib.parse import urlsplit, urlunsplit

LONGEST_URL = 2_000
MOST_URLS = 1_000
_URL = re.compile(r"https?://[^\s<>\"'`\\^{}|\x00-\x20\x7f]{1,2000}", re.IGNORECASE)
_BEHIND = ".,;:!?)]}’”»、。，；：！？）】」』"
"""What may follow an address in a sentence, and does not belong to it."""
_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "head"})
_BREAKS = frozenset(
    {"p", "div", "br", "li", "ul", "ol", "tr", "table", "section", "article", "header", "footer", "main", "nav", "pre"}
    | {"h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "dt", "dd", "hr", "aside", "form", "figure"}
)


def spelled(url: str) -> str:
    """An address in the one spelling that is compared: without a fragment, its scheme and host in lower case."""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return url
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), parts.path or "/", parts.query, ""))


def named(texts: Iterable[str]) -> frozenset[str]:
    """The addresses that texts name, as `spelled` spells them; one in a sentence with and without what follows it."""
    found: set[str] = set()
    for text in texts:
        for match in _URL.finditer(text):
            found |= {spelled(match[0]), spelled(match[0].rstrip(_BEHIND))}
            if len(found) >= MOST_URLS:
                return frozenset(found)
    return frozenset(found)


def plain(page: str) -> tuple[str, str]:
    """The title of a page in HTML, and its text without marks, scripts and what is not shown."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.pieces).split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return " ".join("".join(reader.title).split()), text


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.title: list[str] = []
        self._hidden: list[str] = []
        """Open elements whose text is not shown."""
        self._titled = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        if tag == "title":
            self._titled = not self.title
        elif tag == "body":
            self._hidden.clear()  # a head that nobody has closed
        elif tag in _UNSEEN:
            self._hidden.append(tag)
        elif tag in _BREAKS and not self._hidden:
            self.pieces.append("\n- " if tag == "li" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._titled = False
        elif tag in self._hidden:
            while self._hidden and self._hidden.pop() != tag:
                pass
        elif tag in _BREAKS and not self._hidden:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if self._titled:
            self.title.append(data)
        elif not self._hidden:
            self.pieces.append(data)
