"""An endpoint's answer → vectors, and whether they can be trusted (B-5). Imports numpy when it is used."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any, cast

from codelaw.adapters.embedders.http_failures import Trouble
from codelaw.ports.embedder import Vector

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

LARGEST_DIMENSION = 16_000
"""More no database for vectors keeps."""
_ANSWER = "The embedding endpoint's answer"


def read_reply(content: bytes, texts: int, known: int | None, *, asked: int | None) -> list[Vector]:
    """The vectors of a whole answer in the order of the texts, each of length 1.

    `known` is the dimension of the vectors before, or the one that was `asked` for.

    Raises:
        Trouble: it is not such an answer.
    """
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError):
        raise Trouble(f"{_ANSWER} is not JSON. Check embedding.baseUrl.", passing=True) from None
    entries: Any = cast("dict[str, Any]", body).get("data") if isinstance(body, dict) else None
    if not isinstance(entries, list):
        raise Trouble(f"{_ANSWER} holds no embeddings. Check embedding.baseUrl and embedding.model.", lasting=True)
    listed = cast("list[Any]", entries)
    if len(listed) != texts:
        raise Trouble(f"{_ANSWER} has {len(listed)} vectors for {texts} texts.", passing=True)
    vectors: list[Vector | None] = [None] * texts
    for place, entry in enumerate(listed):
        fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        index = fields.get("index", place)
        if not isinstance(index, int) or not 0 <= index < texts or vectors[index] is not None:
            raise Trouble(f"{_ANSWER} numbers its vectors wrongly.", passing=True)
        numbers = _numbers(fields.get("embedding"))
        known = _agreed(len(numbers), known, asked)
        vectors[index] = _unit(numbers)
    return [vector for vector in vectors if vector is not None]


def _numbers(value: object) -> NDArray[float64]:
    """A vector spelled as a list of numbers, or as base64 of float32."""
    import numpy as np  # noqa: PLC0415 - heavy

    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float64)
        if isinstance(value, list):
            return np.array(cast("list[Any]", value), np.float64).reshape(-1)
    except (ValueError, TypeError, OverflowError, binascii.Error):
        pass  # told below, as for every other shape
    raise Trouble(f"{_ANSWER} holds an embedding that is none.", passing=True)


def _agreed(size: int, known: int | None, asked: int | None) -> int:
    if known is None and 0 < size <= LARGEST_DIMENSION:
        return size
    if known == size:
        return size
    if asked is not None:
        message = f"embedding.dimension is {asked}, but the endpoint's vectors have {size} numbers."
        raise Trouble(f"{message} Mend embedding.dimension, or leave it unset.", lasting=True)
    if known is None:
        raise Trouble(f"{_ANSWER} has vectors of {size} numbers.", lasting=True)
    message = f"The embedding endpoint's vectors have {size} numbers, and had {known} before: its model has changed."
    raise Trouble(f"{message} Restart codelaw when that was meant.", lasting=True)


def _unit(numbers: NDArray[float64]) -> Vector:
    import numpy as np  # noqa: PLC0415 - heavy

    length = float(np.linalg.norm(numbers))
    if not np.isfinite(length) or length < 1e-12:
        raise Trouble(f"{_ANSWER} holds a vector that is zero, or no number.", passing=True)
    return (numbers / length).astype("<f4").tobytes()
