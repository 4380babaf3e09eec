"""What went wrong with a request for embeddings, and which setting mends it (B-5)."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, cast

from codelaw.adapters.models.endpoints import Misbehaved
from codelaw.domain.errors import CodelawError

SHOWN = 300
"""Characters of an endpoint's own words that are passed on."""
_TOO_LONG = (
    "context length",
    "context_length",
    "context window",
    "maximum input length",
    "input length",
    "too long",
    "too many tokens",
    "too large",
    "maximum number of tokens",
    "max_tokens",
    "token limit",
)
_BROKE = "The connection to the embedding endpoint broke"


class Trouble(CodelawError):
    """A request that failed.

    `passing`: the same request may succeed in a moment. `lasting`: it never will. `too_long`: a shorter one may.
    `retry_after`: the seconds that the endpoint asked us to wait.
    """

    def __init__(
        self,
        message: str,
        *,
        passing: bool = False,
        lasting: bool = False,
        too_long: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.passing = passing
        self.lasting = lasting
        self.too_long = too_long
        self.retry_after = retry_after


def of_error(error: Exception) -> Trouble | None:
    """What an error of the HTTP library means; None when it is a bug of ours."""
    import httpx2  # noqa: PLC0415 - loaded by now

    match error:
        case Misbehaved():
            return Trouble(str(error), lasting=True)
        case httpx2.ConnectTimeout() | httpx2.ConnectError():
            message = f"No connection to the embedding endpoint: {_cause(error)}. Check embedding.baseUrl."
            return Trouble(message, passing=True)
        case httpx2.TimeoutException():
            return Trouble("The embedding endpoint was silent for too long.", passing=True)
        case httpx2.UnsupportedProtocol() | httpx2.InvalidURL() | httpx2.LocalProtocolError():
            return Trouble(f"embedding.baseUrl is not an address: {_cause(error)}.", lasting=True)
        case httpx2.DecodingError():
            return Trouble(f"{_BROKE}: its compression could not be read.", passing=True)
        case httpx2.HTTPError() | httpx2.StreamError():
            return Trouble(f"{_BROKE}: {_cause(error)}.", passing=True)
        case _:
            return None


def of_answer(status: int, headers: Mapping[str, str], content: bytes, most: int, *, key: str = "") -> Trouble | None:
    """What an answer means that holds no embeddings; None when it may hold some. `most` bytes were the limit.

    The `key` is masked before the endpoint's words are cut: a part of it would not be known again (S-5).
    """
    if 200 <= status < 300:
        if len(content) <= most:
            return None
        return Trouble(f"The embedding endpoint's answer has more than {most} bytes.", lasting=True)
    said, code = _said(content, key)
    told = f"The embedding endpoint answered {status}{said and f': {said}'}."
    match status:
        case 401 | 403:
            return Trouble(f"{told} Check embedding.apiKey.", lasting=True)
        case 402:
            return Trouble(f"{told} Check the account, or embedding.apiKey.", lasting=True)
        case 404 | 405:
            return Trouble(f"{told} Check embedding.baseUrl and embedding.model.", lasting=True)
        case 429 if code == "insufficient_quota":
            return Trouble(f"{told} The account behind embedding.apiKey has no quota left.")
        case 408 | 409 | 425 | 429:
            return Trouble(told, passing=True, retry_after=retry_after(headers))
        case _ if status >= 500:
            return Trouble(told, passing=True, retry_after=retry_after(headers))
        case _ if status < 400:
            return Trouble(f"{told} It sends us elsewhere; set embedding.baseUrl to where it really is.", lasting=True)
        case _:
            too_long = status == 413 or any(phrase in f"{said} {code}".lower() for phrase in _TOO_LONG)
            message = f"{told} Check embedding.model and embedding.dimension."
            return Trouble(message, lasting=True, too_long=too_long)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the endpoint asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) * unit
        except ValueError:
            continue
        if seconds == seconds and abs(seconds) != float("inf"):  # noqa: PLR0124 - not a number
            return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _said(content: bytes, key: str) -> tuple[str, str]:
    """The endpoint's own message, and its code."""
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError):
        return "", ""
    if not isinstance(body, dict):
        return "", ""
    error: Any = cast("dict[str, Any]", body).get("error", cast("dict[str, Any]", body))
    if isinstance(error, dict):
        fields = cast("dict[str, Any]", error)
        message = fields.get("message") or fields.get("detail") or ""
        return _shown(message, key), str(fields.get("code") or fields.get("type") or "")[:SHOWN]
    return _shown(error, key), ""


def _shown(message: object, key: str) -> str:
    text = message if isinstance(message, str) else json.dumps(message)
    if key:
        text = text.replace(key, "[key]")
    return " ".join(text.split())[:SHOWN].rstrip(".")


def _cause(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:SHOWN].rstrip(".") if str(error) else type(error).__name__
