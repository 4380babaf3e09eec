"""Texts by their sequences of characters, as the index of a search keeps them and is asked for them (D-2).

Pure functions. What they say is never too little: a text that holds another one has all its sequences.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from zlib import crc32

from codelaw.adapters.stores.rows.codec import legible

LONGEST = 1_000_000
"""Characters of a text that is indexed. A longer one would hold up whoever writes, and is looked through instead."""
ASKED = 24
"""Sequences of a question that the index is asked for, at most: more hardly tell more."""
SHORTEST = 2

_UNSPEAKABLE = re.compile("[\0\ud800-\udfff\ufffe\uffff]")
"""What ends a text for SQLite's tokenizer, or what it does not tell from others."""
_END = "\x01\x01"
"""Behind a text, so that its last two characters begin a sequence as well."""
_PRIVATE, _COUNT = 0xE000, 6400
"""Characters that mean nothing, and how many there are."""


def folded(text: str | bytes) -> str:
    """`text` as it is compared, without what an index does not take."""
    return _UNSPEAKABLE.sub("\ufffd", legible(text).casefold())


def indexed(text: str | bytes) -> str:
    """What SQLite's tokenizer is to cut into sequences of three."""
    return folded(text) + _END


def chat_mark(chat_id: str | bytes) -> str:
    """Three characters that stand for a chat; two chats may share them."""
    number = int.from_bytes(blake2b(legible(chat_id).encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return "".join(chr(_PRIVATE + number // _COUNT**place % _COUNT) for place in range(3))


def asked(question: str) -> list[str]:
    """The sequences of a question that has three characters or more, as many as are worth asking for."""
    text = folded(question)
    places = list(range(len(text) - 2))
    if len(places) > ASKED:
        places = [place * (len(places) - 1) // (ASKED - 1) for place in range(ASKED)]
    return list(dict.fromkeys(text[place : place + 3] for place in places))


def numbers(text: str | bytes) -> list[int]:
    """The sequences of two and of three characters as numbers with a sign, of 16 bits."""
    said = folded(text)
    pairs = {said[place : place + 2] for place in range(len(said) - 1)}
    triples = {said[place : place + 3] for place in range(len(said) - 2)}
    return sorted({number(gram) for gram in pairs | triples})


def number(gram: str) -> int:
    """A sequence as a number; several share one."""
    return (crc32(gram.encode()) & 0xFFFF) - 0x8000
