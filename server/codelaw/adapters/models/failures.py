"""What went wrong with a call of a model over HTTP, sorted by kind, and what soon would (P-1)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import cast

from codelaw.adapters.models.endpoints import AT_ONCE, LONGEST_ASKED, dig
from codelaw.domain.models import FailureKind

SHORTEST_HOLD = 0.5
"""Seconds that are worth a wait."""
LONGEST_HOLD = 60.0
"""Seconds; whoever would have to wait longer asks, and hears what the vendor says."""
_LIMITS = {
    "anthropic-ratelimit-requests-{}": False,
    "anthropic-ratelimit-tokens-{}": True,
    "anthropic-ratelimit-input-tokens-{}": True,
    "anthropic-ratelimit-output-tokens-{}": False,
    "x-ratelimit-{}-requests": False,
    "x-ratelimit-{}-tokens": True,
}
"""What vendors limit, by the names of their headers, and whether a request needs as much of it as it has input."""
_SPAN = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:([\d.]+)s)?")
SHOWN = 800
"""Characters of an endpoint's own words."""
_BY_TYPE: dict[str, FailureKind] = {
    "overloaded_error": "overload",
    "rate_limit_error": "rate_limit",
    "authentication_error": "auth",
    "permission_error": "auth",
    "billing_error": "spending",
    "request_too_large": "overflow",
    "invalid_request_error": "invalid",
    "not_found_error": "unknown_model",
    "timeout_error": "server",
    "api_error": "server",
    "server_error": "server",
    "rate_limit_exceeded": "rate_limit",
    "insufficient_quota": "spending",
    "context_length_exceeded": "overflow",
    "model_not_found": "unknown_model",
    "invalid_prompt": "invalid",
    "bio_policy": "refused",
    "misalignment_policy_violation": "refused",
}
"""By the type of an error or its code."""
_BY_STATUS: dict[int, FailureKind] = {
    401: "auth",
    402: "spending",
    403: "auth",
    408: "server",
    409: "server",
    413: "overflow",
    429: "rate_limit",
    529: "overload",
}
_TOLD: dict[FailureKind, str] = {
    "rate_limit": "{place} takes no more requests just now",
    "overload": "{place} is overloaded",
    "server": "{place} failed",
    "overflow": "{place} takes less than was sent",
    "invalid": "{place} refused the request",
    "refused": "{place} refused to answer",
    "items": "{place} did not take the model's earlier thinking",
    "auth": "{place} did not accept the key",
    "spending": "The credit or the spending limit of the account at {place} is used up",
    "unknown_model": "{place} does not know the model {model}",
}
"""What an endpoint's refusal comes to; its own words follow."""
_OVERFLOW = (
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many tokens",
    "exceed context limit",
    "exceeds the context",
    "exceeds context",
    "context length",
    "context_length_exceeded",
    "maximum context",
    "context window",
    "request_too_large",
    "request too large",
    "exceeds the available context",
    "exceed_context_size",
    "input token count",
    "prompt token count",
    "maximum prompt length",
    "input_too_large",
    "exceeded model token limit",
    "range of input length",
    "reduce the length of the messages",
)

_ITEMS = re.compile(
    r"in `thinking` block|`redacted_thinking` blocks|bound to a different conversation"
    r"|encrypted content .*could not be |Item with id '[^']*' not found"
    r"|[Tt]hought.signature is (?:not |in)valid|Corrupted thought signature"
)
"""Thinking is not taken back."""
_SPENT = (
    "credit balance is too low",
    "api usage limit",
    "spend limit",
    "spending limit",
    "out of extra usage",
    "insufficient_quota",
    "exceeded your current quota",
    "billing_hard_limit",
    "billing hard limit",
    "check your billing",
    "insufficient credit",
    "insufficient balance",
    "insufficient funds",
    "more credits",
    "out of credits",
    "no credits",
    "key limit exceeded",
)
"""What vendors and gateways call it, mostly with a status that means something else."""
_REFUSED = ("organization has been disabled", "api key not valid", "incorrect api key", "invalid api key")
"""Of a key, with whatever status."""
_UNKNOWN = ("not_found_error", "model_not_found", "invalid_model")
_WAIT = re.compile(r"(?:retry|try again) in (\d{1,6}(?:\.\d{1,9})?)s\b")

# "213462 tokens > 200000 maximum", "190000 + 20000 > 200000", "maximum context length is 128000 … resulted in 130245".
_MEASURES = (
    re.compile(r"(?P<size>\d{3,9})(?: \+ \d{1,9})?(?: tokens)? > (?P<limit>\d{3,9})"),
    re.compile(r"maximum context length is (?P<limit>\d{3,9}).*?(?P<size>\d{3,9}) tokens", re.DOTALL),
    re.compile(r"maximum context length is (?P<limit>\d{3,9})"),
    re.compile(
        r"\((?P<size>\d{3,9}) tokens\) exceeds (?:the available context size|budget) \((?P<limit>\d{3,9}) tokens"
    ),
    re.compile(r"input token count \((?P<size>\d{3,9})\) exceeds the maximum.*?\((?P<limit>\d{3,9})\)"),
    re.compile(r"prompt length is (?P<limit>\d{3,9}) but the request contains (?P<size>\d{3,9})"),
    re.compile(r"token limit: (?P<limit>\d{3,9}) \(requested: (?P<size>\d{3,9})\)"),
    re.compile(r"contains (?P<size>\d{3,9}) tokens.*?model with (?P<limit>\d{3,9})", re.DOTALL),
    re.compile(r"Limit (?P<limit>\d{3,9}), Requested (?P<size>\d{3,9})"),
)


def kind_of_status(status: int, error_type: str | None, message: str) -> FailureKind:
    """The kind of an HTTP error answer; a status below 400 means an error event inside a stream."""
    said = f"{error_type or ''} {message}".lower()
    if status < 500 and status != 413:  # what is wrong with the account behind the key comes with any status (P-1)
        if any(phrase in said for phrase in _SPENT):
            return "spending"
        if any(phrase in said for phrase in _REFUSED):
            return "auth"
    kind = _BY_TYPE.get(error_type or "", "server") if status < 400 else _BY_STATUS.get(status)
    if kind is None and status >= 500:
        kind = "overload" if error_type == "overloaded_error" else "server"
    elif kind is None:
        unknown = error_type in _UNKNOWN or "model not exist" in said or (status == 404 and "model" in said)
        kind = "unknown_model" if unknown else "invalid"
    if (kind == "invalid" or status == 500) and is_overflow(said):  # some local servers say it with 500
        return "overflow"
    return "items" if kind == "invalid" and _ITEMS.search(message) else kind


class ErrorEvent(Exception):
    """An event inside a stream that says what went wrong there."""

    status_code = 200

    def __init__(self, body: object, words: str = "") -> None:
        super().__init__(words)
        self.body = body
        code = dig(error_in(body), "code")
        if type(code) is int and 400 <= code < 600:  # gateways say so what came to them
            self.status_code = code

    @classmethod
    def read(cls, data: str) -> ErrorEvent:
        """One whose data is perhaps no JSON."""
        try:
            body: object = json.loads(data[:AT_ONCE])
        except (ValueError, RecursionError):
            body = None
        return cls(body, data[:SHOWN])


def error_in(body: object) -> object:
    """What an answer says of an error, which some wrap in `error`, some in a list as well, and some not at all."""
    rows = cast("list[object]", body) if isinstance(body, list) else [body]
    first = rows[0] if rows else None
    return dig(first, "error") or first


def asked_to_wait(message: str) -> float | None:
    """Seconds that a vendor asks for in words; None where it names none."""
    found = _WAIT.search(message)
    return None if found is None else min(float(found[1]), LONGEST_ASKED)


def error_type(body: object) -> str | None:
    """The type of an error, or its code, whichever says more; also of one that is not wrapped in `error`."""
    error = error_in(body)
    words = [one for one in (dig(error, "type"), dig(error, "code")) if isinstance(one, str) and one != "error"]
    return min(words, key=lambda one: _BY_TYPE.get(one, "invalid") == "invalid", default=None)


def reported(kind: FailureKind, place: str, model: str, words: str) -> str:
    """A failure in words that name the endpoint; `words` are its own, with status and type."""
    return f"{_TOLD[kind].format(place=place, model=model)} ({words})"


def is_overflow(message: str) -> bool:
    """Whether a vendor's message says that the request does not fit the window (W-6)."""
    lowered = message.lower()
    return any(phrase in lowered for phrase in _OVERFLOW)


def measures(message: str) -> tuple[int | None, int | None]:
    """The tokens of the prompt and those that the vendor takes, as far as an overflow message tells them (W-6)."""
    for pattern in _MEASURES:
        found = pattern.search(message)
        if found is not None:
            size = found.groupdict().get("size")
            return int(size) if size else None, int(found["limit"])
    return None, None


class RateLimits:
    """What the newest answer has said."""

    def __init__(self) -> None:
        self.used = 1.0
        """Tokens of the newest request that no cache gave: the next one is taken to need as many."""
        self._left: dict[str, tuple[float, float, float]] = {}
        """Of each limit when it was read, what was left of it, and how much of it comes back in a second."""

    def take(self, headers: Mapping[str, str], now: float) -> None:
        """Read the headers of an answer; `now` is in seconds since the epoch, as are theirs."""
        self._left = {}
        for name in _LIMITS:
            with suppress(ValueError, OverflowError):  # nothing is told of it, or nothing that can be read
                remaining = float(headers.get(name.format("remaining"), ""))
                missing = float(headers.get(name.format("limit"), "")) - remaining
                full = _until(headers.get(name.format("reset"), ""), now)
                if missing > 0 and full > 0:
                    self._left[name] = (now, remaining, missing / full)

    def wait(self, now: float) -> float:
        """Seconds until the next request would be taken, 0 where it can be tried. After a wait nothing is known."""
        seconds = 0.0
        for name, (at, remaining, per_second) in self._left.items():
            needed = self.used if _LIMITS[name] else 1.0
            seconds = max(seconds, (needed - remaining) / per_second - (now - at))
        if not SHORTEST_HOLD <= seconds <= LONGEST_HOLD:
            return 0.0
        self._left = {}
        return seconds


def _until(reset: str, now: float) -> float:
    """Seconds until a moment, or as many as are said (`6m0s`); milliseconds are no time at all."""
    if reset.endswith("ms"):
        return 0.0
    if reset and (span := _SPAN.fullmatch(reset)):
        hours, minutes, seconds = (float(part or 0) for part in span.groups())
        return hours * 3600 + minutes * 60 + seconds
    return datetime.fromisoformat(reset).timestamp() - now
