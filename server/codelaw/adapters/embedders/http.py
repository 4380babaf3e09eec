"""Any endpoint that speaks the OpenAI embeddings API: OpenAI, OpenRouter, Ollama and their like (B-5).

What it answers are vectors that can be trusted, or what went wrong and which setting mends it.
"""

from __future__ import annotations

import asyncio
import base64
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from codelaw.adapters.loading import trusted
from codelaw.adapters.models.endpoints import Misbehaved, cause_of, dig, guards, retry_after
from codelaw.domain.errors import EmbeddingFailure
from codelaw.ports.memories import Vector

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Response

OPENAI = "https://api.openai.com/v1"
MODEL = "text-embedding-3-small"
ATTEMPTS = 5
"""Most attempts of one request."""
LONGEST_WAIT = 60.0
"""Seconds that an endpoint may make us wait; beyond it the request has failed."""
TEXTS_AT_ONCE = 64
CHARACTERS_AT_ONCE = 60_000
"""Of one request; a longer text goes alone."""
LONGEST_TEXT = 20_000
"""Characters of a text; what the model then still does not take is halved until it does."""
SHORTEST_CUT = 200
LARGEST_REPLY = 64 << 20
LARGEST_DIMENSION = 16_000
"""More no database for vectors keeps."""
SHOWN = 300
"""Characters of an endpoint's own words that are passed on."""
_CONNECT, _SILENCE, _WHOLE = 10.0, 60.0, 300.0
_BLANK = "(empty)"
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


class _Trouble(EmbeddingFailure):
    """A request that failed."""

    def __init__(self, message: str, *, lasting: bool = False, passing: bool = False, too_long: bool = False) -> None:
        super().__init__(message, lasting=lasting)
        self.passing = passing
        """The same request may succeed in a moment."""
        self.too_long = too_long
        """A shorter one may."""
        self.retry_after: float | None = None
        """Seconds that the endpoint asked us to wait."""


class HttpEmbedder:
    """An `Embedder` at an endpoint. Nothing is connected or loaded before the first use.

    `dimension` is asked of the endpoint when it is set, and always checked. `silence` is how many seconds without a
    byte count as a broken connection, `whole` how many a whole answer may take.
    """

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        model: str | None = None,
        dimension: int | None = None,
        silence: float = _SILENCE,
        whole: float = _WHOLE,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._base_url = base_url
        self._key = (key or "").strip()
        self._model = model or MODEL
        self._asked = self._dimension = dimension
        self._silence = silence
        self._whole = whole
        self._sleep = sleep
        self._jitter = jitter
        self._client: AsyncClient | None = None
        self._loading = asyncio.Lock()
        self._closed = False

    @property
    def name(self) -> str:
        return f"openai/{self._model}" + (f"@{self._asked}" if self._asked else "")

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text (see `Embedder`).

        Raises:
            EmbeddingFailure: its message never holds the key (S-5).
        """
        vectors: list[Vector] = []
        for batch in _batches([_sendable(text) for text in texts]):
            vectors += await self._embed(batch)
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        self._closed = True
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _embed(self, batch: list[str]) -> list[Vector]:
        try:
            return await self._patiently(batch)
        except _Trouble as trouble:
            if not trouble.too_long or (len(batch) == 1 and len(batch[0]) <= SHORTEST_CUT):
                raise
        # Which of them is too long for the model, nobody says.
        if len(batch) == 1:
            return await self._embed([batch[0][: len(batch[0]) // 2]])
        middle = len(batch) // 2
        return await self._embed(batch[:middle]) + await self._embed(batch[middle:])

    async def _patiently(self, batch: list[str]) -> list[Vector]:
        for attempt in range(ATTEMPTS - 1):
            try:
                return await self._once(batch)
            except _Trouble as trouble:
                wait = trouble.retry_after
                if wait is None:
                    wait = 0.5 * 2**attempt * (0.75 + 0.5 * self._jitter())
                if not trouble.passing or wait > LONGEST_WAIT:
                    raise
            await self._sleep(wait)
        return await self._once(batch)

    async def _once(self, batch: list[str]) -> list[Vector]:
        client = await self._connected()
        body: dict[str, Any] = {"model": self._model, "input": batch, "encoding_format": "float"}
        if self._asked is not None:
            body["dimensions"] = self._asked
        try:
            async with asyncio.timeout(self._whole):
                answer = await client.post("embeddings", json=body)
            trouble = self._of_answer(answer)
        except Exception as error:
            answer, trouble = None, self._of_error(error)
            if trouble is None:
                raise
        # Raised outside the handler: the library's error holds the request with its headers.
        if trouble is not None or answer is None:
            raise trouble or AssertionError
        vectors = await asyncio.to_thread(_read_reply, answer.content, len(batch), self._dimension, asked=self._asked)
        self._dimension = len(vectors[0]) // 4
        return vectors

    async def _connected(self) -> AsyncClient:
        async with self._loading:
            if self._closed:
                raise EmbeddingFailure("The embedder is closed.")
            if self._client is None:
                self._client = await asyncio.to_thread(self._load)
            return self._client

    def _load(self) -> AsyncClient:
        from httpx2 import URL, AsyncClient, InvalidURL, Timeout  # noqa: PLC0415 - heavy, and reads certificates

        if not self._base_url and not self._key:
            message = "The embedding provider `openai` has no endpoint: set embedding.apiKey for OpenAI's own"
            raise EmbeddingFailure(f"{message}, or embedding.baseUrl for another.", lasting=True)
        if not (self._key.isascii() and self._key.isprintable()):
            raise EmbeddingFailure("embedding.apiKey holds characters that no key has.", lasting=True)
        try:
            url = URL((self._base_url or OPENAI).rstrip("/") + "/")
        except InvalidURL:
            url = URL("")  # the error's words may hold a password
        if url.scheme not in {"http", "https"} or not url.host:
            message = "embedding.baseUrl is not an address: it needs http:// or https://, and a host that can be read."
            raise EmbeddingFailure(message, lasting=True)
        try:
            return AsyncClient(
                base_url=url,
                headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                timeout=Timeout(self._silence, connect=min(_CONNECT, self._silence)),
                follow_redirects=False,
                event_hooks=guards(LARGEST_REPLY, "embedding.baseUrl", events=False),
                verify=trusted(),
            )
        except (ImportError, InvalidURL, ValueError, OSError) as error:
            # A proxy of some kinds needs another package.
            cause = str(error) if isinstance(error, ImportError) else type(error).__name__
            message = f"The environment's proxy or certificates cannot be used ({cause})"
            hint = "check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
            raise EmbeddingFailure(f"{message}: {hint}", lasting=True) from None

    def _of_error(self, error: Exception) -> _Trouble | None:
        """What an error of the HTTP library means; None when it is a bug of ours."""
        import httpx2  # noqa: PLC0415 - loaded by now

        match error:
            case Misbehaved():
                return _Trouble(self._masked(str(error)), lasting=True)
            case TimeoutError():
                message = f"The embedding endpoint took longer than {self._whole:g} s."
            case httpx2.HTTPError() | httpx2.StreamError():
                cause = self._masked(cause_of(error))[:SHOWN].rstrip(".")
                message = f"No answer from the embedding endpoint: {cause}. Check embedding.baseUrl."
            case _:
                return None
        return _Trouble(message, passing=True)

    def _of_answer(self, answer: Response) -> _Trouble | None:
        """What an answer means that holds no embeddings; None when it may hold some."""
        if answer.is_success:
            return None
        status = answer.status_code
        said, code = self._said(answer.content)
        message = f"The embedding endpoint answered {status}{said and f': {said}'}."
        if status in _ADVICE:
            return _Trouble(f"{message} {_ADVICE[status]}", lasting=True)
        if status == 429 and code == "insufficient_quota":
            return _Trouble(f"{message} The account behind embedding.apiKey has no quota left.")
        if status >= 500 or status in _PASSING:
            trouble = _Trouble(message, passing=True)
            trouble.retry_after = retry_after(answer.headers)
            return trouble
        too_long = status == 413 or any(phrase in f"{said} {code}".lower() for phrase in _TOO_LONG)
        return _Trouble(f"{message} Check embedding.model and embedding.dimension.", lasting=True, too_long=too_long)

    def _said(self, content: bytes) -> tuple[str, str]:
        """The endpoint's own message, and its code."""
        body = _json(content)
        error: Any = dig(body, "error") or body
        words: Any = dig(error, "message") or dig(error, "detail") or (error if isinstance(error, str) else "")
        text = words if isinstance(words, str) else json.dumps(words)
        # The key is masked before the words are cut: a part of it would not be known again (S-5).
        short = " ".join(self._masked(text).split())[:SHOWN].rstrip(".")
        return short, str(dig(error, "code") or dig(error, "type") or "")[:SHOWN]

    def _masked(self, message: str) -> str:
        return message.replace(self._key, "[key]") if self._key else message


def _sendable(text: str) -> str:
    """A text as endpoints take it: Unicode, bounded, not blank."""
    text = text[:LONGEST_TEXT].encode("utf-8", "replace").decode()
    return text if text.strip() else _BLANK


def _batches(texts: Sequence[str]) -> list[list[str]]:
    """The texts in order, in requests of bounded size."""
    found: list[list[str]] = []
    size = 0
    for text in texts:
        size += len(text)
        if found and len(found[-1]) < TEXTS_AT_ONCE and size <= CHARACTERS_AT_ONCE:
            found[-1].append(text)
        else:
            found.append([text])
            size = len(text)
    return found


def _read_reply(content: bytes, texts: int, known: int | None, *, asked: int | None) -> list[Vector]:
    """The vectors of a whole answer in the order of the texts, each of length 1.

    `known` is the dimension of the vectors before, or the one that was `asked` for.

    Raises:
        _Trouble: it is not such an answer.
    """
    body = _json(content)
    if body is None:
        raise _Trouble(f"{_ANSWER} is not JSON. Check embedding.baseUrl.", passing=True)
    listed = dig(body, "data")
    if not isinstance(listed, list):
        raise _Trouble(f"{_ANSWER} holds no embeddings. Check embedding.baseUrl and embedding.model.", lasting=True)
    entries = cast("list[Any]", listed)
    if len(entries) != texts:
        raise _Trouble(f"{_ANSWER} has {len(entries)} vectors for {texts} texts.", passing=True)
    vectors: dict[int, Vector] = {}
    for place, entry in enumerate(entries):
        index = place if (said := dig(entry, "index")) is None else said
        vectors[index if isinstance(index, int) else -1] = vector = _unit(dig(entry, "embedding"))
        known = _agreed(len(vector) // 4, known, asked)
    if vectors.keys() != set(range(texts)):
        raise _Trouble(f"{_ANSWER} numbers its vectors wrongly.", passing=True)
    return [vectors[index] for index in range(texts)]


def _unit(value: Any) -> Vector:
    """A vector of length 1, from a list of numbers or base64 of float32."""
    import numpy as np  # noqa: PLC0415 - heavy

    try:
        whole = base64.b64decode(value, validate=True) if isinstance(value, str) else None
        numbers = np.array(value, np.float64).reshape(-1) if whole is None else np.frombuffer(whole, "<f4").astype("f8")
    except (ValueError, TypeError, OverflowError):
        raise _Trouble(f"{_ANSWER} holds an embedding that is none.", passing=True) from None
    length = float(np.linalg.norm(numbers))
    if len(numbers) and (not np.isfinite(length) or length < 1e-12):
        raise _Trouble(f"{_ANSWER} holds a vector that is zero, or no number.", passing=True)
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
            " Restart codelaw when that was meant."
        )
    raise _Trouble(message, lasting=True)


def _json(content: bytes) -> Any:
    """None where it is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None
