"""What an endpoint's answer means: vectors that can be trusted, or what went wrong and which setting mends it (B-5)."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast

from codelaw.adapters.models.endpoints import Misbehaved
from codelaw.domain.errors import CodelawError

if TYPE_CHECKING:
    from codelaw.ports.memories import Vector

LARGEST_DIMENSION = 16_000
"""More no database for vectors keeps."""
SHOWN = 300
"""Characters of an endpoint's own words that are passed on."""
_TOO_LONG = (
    *("context length", "context_length", "context window", "input length", "too long", "too large"),
    *("too many tokens", "maximum number of tokens", "max_tokens", "token limit"),
)
_ANSWER = "The embedding endpoint's answer"
_ADVICE = {
    **dict.fromkeys((401, 403), "Check embedding.apiKey."),
    402: "Check the account, or embedding.apiKey.",
    **dict.fromkeys((404, 405), "Check embedding.baseUrl and embedding.model."),
}
"""By status, what a person can do about it."""
_PASSING = frozenset({408, 409, 425, 429})


class Trouble(CodelawError):
    """A request that failed.

    `passing`: the same request may succeed in a moment. `lasting`: it never will. `too_long`: a shorter one may.
    `retry_after`: the seconds that the endpoint asked us to wait.
    """

    passing = lasting = too_long = False
    retry_after: float | None = None

    def __init__(self, message: str, **known: Any) -> None:
        super().__init__(message)
        self.message = message
        vars(self).update(known)


def of_error(error: Exception) -> Trouble | None:
    """What an error of the HTTP library means; None when it is a bug of ours."""
    import httpx2  # noqa: PLC0415 - loaded by now

    cause = f"{type(error).__name__}: {error}".removesuffix(": ")[:SHOWN].rstrip(".")
    match error:
        case Misbehaved():
            return Trouble(str(error), lasting=True)
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            message = f"No connection to the embedding endpoint: {cause}. Check embedding.baseUrl."
        case httpx2.TimeoutException():
            message = "The embedding endpoint was silent for too long."
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL() | httpx2.LocalProtocolError():
            return Trouble(f"embedding.baseUrl is not an address: {cause}.", lasting=True)
        case httpx2.HTTPError() | httpx2.StreamError():
            message = f"The connection to the embedding endpoint broke: {cause}."
        case _:
            return None
    return Trouble(message, passing=True)


def of_answer(status: int, headers: Mapping[str, str], content: bytes, most: int, *, key: str = "") -> Trouble | None:
    """What an answer means that holds no embeddings; None when it may hold some. `most` bytes were the limit.

    The `key` is masked before the endpoint's words are cut: a part of it would not be known again (S-5).
    """
    if 200 <= status < 300:
        too_large = len(content) > most
        return Trouble(f"{_ANSWER} has more than {most} bytes.", lasting=True) if too_large else None
    said, code = _said(content, key)
    message = f"The embedding endpoint answered {status}{said and f': {said}'}."
    if status in _ADVICE:
        return Trouble(f"{message} {_ADVICE[status]}", lasting=True)
    if status == 429 and code == "insufficient_quota":
        return Trouble(f"{message} The account behind embedding.apiKey has no quota left.")
    if status >= 500 or status in _PASSING:
        return Trouble(message, passing=True, retry_after=_retry_after(headers))
    if status < 400:
        return Trouble(f"{message} It sends us elsewhere; set embedding.baseUrl to where it really is.", lasting=True)
    too_long = status == 413 or any(phrase in f"{said} {code}".lower() for phrase in _TOO_LONG)
    return Trouble(f"{message} Check embedding.model and embedding.dimension.", lasting=True, too_long=too_long)


def read_reply(content: bytes, texts: int, known: int | None, *, asked: int | None) -> list[Vector]:
    """The vectors of a whole answer in the order of the texts, each of length 1.

    `known` is the dimension of the vectors before, or the one that was `asked` for.

    Raises:
        Trouble: it is not such an answer.
    """
    body = _json(content)
    if body is None:
        raise Trouble(f"{_ANSWER} is not JSON. Check embedding.baseUrl.", passing=True)
    listed: Any = _object(body).get("data")
    if not isinstance(listed, list):
        raise Trouble(f"{_ANSWER} holds no embeddings. Check embedding.baseUrl and embedding.model.", lasting=True)
    entries = cast("list[Any]", listed)
    if len(entries) != texts:
        raise Trouble(f"{_ANSWER} has {len(entries)} vectors for {texts} texts.", passing=True)
    vectors: dict[int, Vector] = {}
    for place, entry in enumerate(entries):
        fields = _object(entry)
        index = fields.get("index", place)
        if not isinstance(index, int) or not 0 <= index < texts or index in vectors:
            raise Trouble(f"{_ANSWER} numbers its vectors wrongly.", passing=True)
        vectors[index] = _unit(fields.get("embedding"))
        known = _agreed(len(vectors[index]) // 4, known, asked)
    return [vectors[index] for index in range(texts)]


def _unit(value: Any) -> Vector:
    """A vector of length 1, from a list of numbers or base64 of float32."""
    import numpy as np  # noqa: PLC0415 - heavy

    try:
        whole = base64.b64decode(value, validate=True) if isinstance(value, str) else None
        numbers = np.array(value, np.float64).reshape(-1) if whole is None else np.frombuffer(whole, "<f4").astype("f8")
        if not isinstance(value, str | list):
            raise TypeError  # noqa: TRY301 - told below, as for every other shape
    except (ValueError, TypeError, OverflowError):
        raise Trouble(f"{_ANSWER} holds an embedding that is none.", passing=True) from None
    length = float(np.linalg.norm(numbers))
    if len(numbers) and (not np.isfinite(length) or length < 1e-12):
        raise Trouble(f"{_ANSWER} holds a vector that is zero, or no number.", passing=True)
    return (numbers / (length or 1.0)).astype("<f4").tobytes()


def _agreed(size: int, known: int | None, asked: int | None) -> int:
    if known == size or (known is None and 0 < size <= LARGEST_DIMENSION):
        return size
    message = f"{_ANSWER} has vectors of {size} numbers."
    if asked is not None:
        message = f"embedding.dimension is {asked}, but the endpoint's vectors have {size} numbers."
        message += " Mend embedding.dimension, or leave it unset."
    elif known is not None:
        message = (
            f"The embedding endpoint's vectors have {size} numbers, and had {known} before: its model has changed."
        )
        message += " Restart codelaw when that was meant."
    raise Trouble(message, lasting=True)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if abs(seconds) < float("inf"):
            return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _said(content: bytes, key: str) -> tuple[str, str]:
    """The endpoint's own message, and its code."""
    body = _json(content)
    error: Any = _object(body).get("error", body)
    fields = _object(error)
    code = str(fields.get("code") or fields.get("type") or "")[:SHOWN]
    words: Any = fields.get("message") or fields.get("detail") or "" if fields or not error else error
    text = words if isinstance(words, str) else json.dumps(words)
    text = text.replace(key, "[key]") if key else text
    return " ".join(text.split())[:SHOWN].rstrip("."), code


def _object(value: Any) -> dict[str, Any]:
    """A JSON object; an empty one for what is none."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _json(content: bytes) -> Any:
    """None where it is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
