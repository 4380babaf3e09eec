"""Keys taken out of texts, with a visible mark in their place (S-5).

Two kinds. **Known values**, such as the configured key of the model, are secret wherever they stand. **Shapes**, such
as what begins with `sk-ant-`, may be a test's fixture that is to be edited: they count only where a text is not source
code, as in what a command printed. Both take time in proportion to the text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, cast
from urllib.parse import quote

SHORTEST = 8
"""Characters of a known value; shorter ones stand in too many words."""
LONGEST = 8192
"""Characters of a known value."""
_MARK = re.compile(r"\[redacted: [^\[\]\n]{1,80}\]")
_SEALED = "\uf8ff"
"""On both sides of a seal; a character of nobody's."""
_SEAL = re.compile(f"{_SEALED}[^{_SEALED}\n]{{1,200}} [0-9a-f]{{4}}{_SEALED}")
_TOLD = 4
"""Hexadecimal digits of a seal: enough to tell a changed key, too few to guess one."""
_STARTS = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrt]))"
"""Not in the middle of a run of such characters, so that each run is looked at once."""
_PEM = "-----{} [A-Z0-9 ]{{0,40}}PRIVATE KEY-----"
_SHAPES: tuple[tuple[str, str], ...] = (
    ("anthropic key", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    ("openai key", r"sk-(?:(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})"),
    ("github token", r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"),
    ("gitlab token", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("aws key", r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("slack token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("google key", r"AIza[A-Za-z0-9_-]{35}"),
    ("stripe key", r"[sr]k_live_[A-Za-z0-9]{16,}"),
    ("registry token", r"npm_[A-Za-z0-9]{36}|pypi-AgEI[A-Za-z0-9_-]{40,}"),
    ("web token", r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        "private key",
        rf"{_PEM.format('BEGIN')}(?:[^-]|-(?!----)){{20,20000}}{_PEM.format('END')}",
    ),
)
_SHAPED = re.compile("|".join(f"(?P<s{at}>{_STARTS}(?:{shape}))" for at, (_, shape) in enumerate(_SHAPES)))
_BEGINNINGS = (
    *("sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA", "xox", "AIza", "k_live_"),
    *("npm_", "pypi-", "eyJ", "-----BEGIN "),
)
"""One of them stands in every text that holds a shape; looking for them is cheap."""
_WORDS = re.compile(r"[a-z]+(?:[-_. ]+[a-z]+)*")
_NUMBERS = re.compile(r"[\d.:/ _+TZ-]+")
_PATH = re.compile(r"~?/[^+=]*")
_SECRET = re.compile(
    r"API_?KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE_KEY|_KEY$|^KEY$|COOKIE|^PGPASS", re.IGNORECASE
)
_ABOUT = re.compile(
    r"_(?:FILE|PATH|DIR|ID|URL|URI|HOST|PORT|NAME|TYPE|USER|SOCK|TTL|LIMIT|COUNT|SIZE|EXPIR\w*|HELPER|PROVIDERS?"
    r"|SCOPES?)$",
    re.IGNORECASE,
)
"""Variables that say something about a secret, and hold none."""
_SENTENCE = re.compile(r"[A-Za-z]+(?:[-_. /]+[A-Za-z]+)*")


def mark(label: str) -> str:
    """What stands where something was taken out."""
    return f"[redacted: {label}]"


def shape_of(value: str) -> str | None:
    """What kind of key a value is, by its shape alone."""
    found = _SHAPED.fullmatch(value)
    return None if found is None or found.lastgroup is None else _SHAPES[int(found.lastgroup[1:])][0]


def tells_a_secret(name: str) -> bool:
    """Whether a variable is named like one that holds a secret."""
    return _SECRET.search(name) is not None and _ABOUT.search(name) is None


def said(value: str) -> bool:
    """Whether a value is words alone, which anybody may have in mind."""
    return _SENTENCE.fullmatch(value) is not None


def secret_in(name: str, value: str) -> str:
    """What of the value of a variable or header is the secret, by its name; empty where it has none in its own words.

    What stands behind a scheme such as Bearer is the key.
    """
    word = value.rpartition(" ")[2]
    secret = tells_a_secret(name.replace("-", "_")) or name.casefold() == "authorization"
    return word if secret and not said(word) and "${" not in word else ""


def telling(value: str) -> bool:
    """Whether a value is one that stands in a text for no other reason than that the key is there."""
    if not SHORTEST <= len(value) <= LONGEST:
        return False
    return not any(kind.fullmatch(value) for kind in (_WORDS, _NUMBERS, _PATH))


class Redaction:
    """What is taken out of texts: known values with their labels, and on request shapes."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._labels: dict[str, str] = {}
        self._pattern = _nothing()
        self._longest = 0
        self._firsts = frozenset[str]()
        if known:
            self.learn(known)

    def learn(self, known: Mapping[str, str]) -> None:
        """Know more values, by their labels. Those that say nothing are left out; those known before stay known."""
        for value, label in known.items():
            if telling(value):
                for spelling in _spellings(value):
                    self._labels.setdefault(spelling, shape_of(value) or label)
        spellings = sorted(self._labels, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, spellings))) if spellings else _nothing()
        self._longest = max(map(len, spellings), default=0)
        self._firsts = frozenset(spelling[0] for spelling in spellings)

    @property
    def edition(self) -> int:
        """Rises when more is known than before."""
        return len(self._labels)

    def holds(self, text: str) -> bool:
        """Whether a known value stands in a text."""
        return any(value in text for value in self._labels)

    def text(self, text: str, *, shapes: bool = False) -> str:
        """The text without known values, and without what has the shape of a key where `shapes` are asked for."""
        if self.holds(text):
            text = self._pattern.sub(lambda found: mark(self._labels[found[0]]), text)
        if shapes and any(beginning in text for beginning in _BEGINNINGS):
            text = _SHAPED.sub(lambda found: mark(_SHAPES[int((found.lastgroup or "s0")[1:])][0]), text)
        return text

    def value(self, value: Any, *, shapes: bool = False) -> Any:
        """JSON and domain values with every text in them redacted; the same object where nothing had to go.

        Values that are nested beyond all measure come back as they are: nobody can write them, either.
        """
        try:
            return self._walked(value, shapes=shapes)
        except RecursionError:
            return value

    def _walked(self, value: Any, *, shapes: bool) -> Any:
        if isinstance(value, str):
            return self.text(value, shapes=shapes)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value)
            done = {self.text(key): self._walked(item, shapes=shapes) for key, item in items.items()}
            return cast("Any", value) if done == items else done
        if isinstance(value, list | tuple):
            listed = [self._walked(item, shapes=shapes) for item in cast("list[Any]", value)]
            if listed == list(cast("list[Any]", value)):
                return cast("Any", value)
            return tuple(listed) if isinstance(value, tuple) else listed
        changed: dict[str, Any] = {}
        for name in _fields(cast("type[Any]", type(value))):
            part = getattr(value, name)
            done = self._walked(part, shapes=shapes)
            if done is not part:
                changed[name] = done
        return replace(value, **changed) if changed else value

    def sealed(self, text: str) -> str:
        """The text with a seal for every known value, by which `opened` finds it again."""
        if not self.holds(text):
            return text
        return self._pattern.sub(lambda found: self._seal(found[0]), text)

    def opened(self, text: str) -> str | None:
        """What was sealed; None where a value is not known any more."""
        if _SEALED not in text:
            return text
        values = {self._seal(value): value for value in self._labels}
        seals = set(_SEAL.findall(text))
        return None if seals - values.keys() else _SEAL.sub(lambda found: values[found[0]], text)

    def _seal(self, value: str) -> str:
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{_SEALED}{self._labels[value]} {digest[:_TOLD]}{_SEALED}"

    def marks(self, value: Any) -> set[str]:
        """The marks in JSON values that may be ours: a mark of something that is known, or of a shape."""
        ours = {mark(label) for label in (*self._labels.values(), *(label for label, _ in _SHAPES))}
        return {*_MARK.findall(json.dumps(value, ensure_ascii=False, default=str))} & ours

    def stream(self) -> RedactedStream:
        """A reader of a text that arrives in pieces."""
        return RedactedStream(self)

    def ready(self, text: str) -> tuple[str, str]:
        """What can be shown of a text that goes on: redacted, and the end that may be the beginning of a key."""
        shown: list[str] = []
        at = 0
        while True:
            found = self._pattern.search(text, at)
            held = self._opening(text, at)
            if found is None or found.start() >= held:
                shown.append(text[at:held])
                return "".join(shown), text[held:]
            shown += (text[at : found.start()], mark(self._labels[found[0]]))
            at = found.end()

    def _opening(self, text: str, at: int) -> int:
        """Where the first beginning of a known value stands that the text ends with; its length where there is none."""
        for start in range(max(at, len(text) - self._longest + 1), len(text)):
            if text[start] in self._firsts:
                tail = text[start:]
                if any(len(tail) < len(value) and value.startswith(tail) for value in self._labels):
                    return start
        return len(text)


class RedactedStream:
    """Redacts what arrives in pieces: what is given joins to what `Redaction.text` gives for the whole.

    No more is held back than the longest end that may still become a known value.
    """

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._held = ""

    def feed(self, piece: str) -> str:
        """More of the text; gives what can be shown now."""
        shown, self._held = self._redaction.ready(self._held + piece)
        return shown

    def end(self) -> str:
        """Nothing more comes: gives what was held back."""
        held, self._held = self._held, ""
        return self._redaction.text(held)


@cache
def _fields(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a dataclass that it is made of; none of any other type."""
    return tuple(field.name for field in fields(kind) if field.init) if is_dataclass(kind) else ()


def _nothing() -> re.Pattern[str]:
    return re.compile(r"(?!)")


def _spellings(value: str) -> set[str]:
    """A value as it stands in a text, in JSON, and in an address; of several lines each that tells."""
    lines = [line.strip() for line in value.splitlines()]
    values = [value] if len(lines) < 2 else [line for line in lines if len(line) >= 16 and not line.startswith("---")]
    found: set[str] = set()
    for one in values:
        found |= {one, json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1], quote(one, safe="")}
    return {spelling for spelling in found if telling(spelling)}
