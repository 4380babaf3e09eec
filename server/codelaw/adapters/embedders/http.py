"""Any endpoint that speaks the OpenAI embeddings API: OpenAI, OpenRouter, Ollama and their like (B-5)."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from codelaw.adapters.embedders.http_answers import Trouble, of_answer, of_error, read_reply
from codelaw.adapters.loading import trusted
from codelaw.adapters.models.endpoints import guards
from codelaw.domain.errors import EmbeddingFailure
from codelaw.ports.memories import Vector

if TYPE_CHECKING:
    from httpx2 import AsyncClient

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
LARGEST_ERROR = 64 << 10
_CONNECT, _SILENCE, _WHOLE = 10.0, 60.0, 300.0
_BLANK = "(empty)"


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
        self._asked = dimension
        self._silence = silence
        self._whole = whole
        self._sleep = sleep
        self._jitter = jitter
        self._dimension = dimension
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
        except Trouble as trouble:
            failure = trouble
        if not failure.too_long or (len(batch) == 1 and len(batch[0]) <= SHORTEST_CUT):
            raise EmbeddingFailure(self._without_key(failure.message), lasting=failure.lasting)
        # Which of them is too long for the model, nobody says.
        if len(batch) == 1:
            return await self._embed([batch[0][: len(batch[0]) // 2]])
        middle = len(batch) // 2
        return await self._embed(batch[:middle]) + await self._embed(batch[middle:])

    async def _patiently(self, batch: list[str]) -> list[Vector]:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._once(batch)
            except Trouble as trouble:
                wait = trouble.retry_after
                if not trouble.passing or attempt == ATTEMPTS or (wait is not None and wait > LONGEST_WAIT):
                    raise
                if wait is None:
                    wait = 0.5 * 2 ** (attempt - 1) * (0.75 + 0.5 * self._jitter())
            await self._sleep(wait)
        raise AssertionError

    async def _once(self, batch: list[str]) -> list[Vector]:
        client = await self._connected()
        body: dict[str, Any] = {"model": self._model, "input": batch, "encoding_format": "float"}
        if self._asked is not None:
            body["dimensions"] = self._asked
        trouble: Trouble | None
        content = bytearray()
        try:
            async with asyncio.timeout(self._whole), client.stream("POST", "embeddings", json=body) as answer:
                most = LARGEST_REPLY if answer.is_success else LARGEST_ERROR
                async for piece in answer.aiter_bytes():
                    content += piece
                    if len(content) > most:
                        break
                status, headers = answer.status_code, dict(answer.headers)
        except TimeoutError:
            trouble = Trouble(f"The embedding endpoint took longer than {self._whole:g} s.", passing=True)
        except Exception as error:
            trouble = of_error(error)
            if trouble is None:
                raise
        else:
            trouble = of_answer(status, headers, bytes(content), most, key=self._key)
        # Raised outside the handler: the library's error holds the request with its headers.
        if trouble is not None:
            raise trouble
        vectors = await asyncio.to_thread(read_reply, bytes(content), len(batch), self._dimension, asked=self._asked)
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
        address = (self._base_url or OPENAI).rstrip("/") + "/"
        try:
            url = URL(address)
        except InvalidURL:  # its words may hold a password
            message = "embedding.baseUrl is not an address: its host or port cannot be read."
            raise EmbeddingFailure(message, lasting=True) from None
        if url.scheme not in {"http", "https"} or not url.host:
            message = "embedding.baseUrl is not an address: it needs http:// or https:// and a host."
            raise EmbeddingFailure(message, lasting=True)
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        timeout = Timeout(self._silence, connect=min(_CONNECT, self._silence))
        try:
            # What is larger than a whole reply is told below, in words of its own.
            hooks = guards(LARGEST_REPLY + LARGEST_ERROR, "embedding.baseUrl")
            return AsyncClient(
                base_url=url,
                headers=headers,
                timeout=timeout,
                follow_redirects=False,
                event_hooks=hooks,
                verify=trusted(),
            )
        except ImportError as error:  # a proxy of a kind that needs another package
            raise EmbeddingFailure(f"The embedding endpoint cannot be reached: {error}", lasting=True) from None
        except (InvalidURL, ValueError, OSError) as error:
            message = f"The environment's proxy or certificates cannot be used ({type(error).__name__})"
            hint = "check HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR."
            raise EmbeddingFailure(f"{message}: {hint}", lasting=True) from None

    def _without_key(self, message: str) -> str:
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
        if found and len(found[-1]) < TEXTS_AT_ONCE and size + len(text) <= CHARACTERS_AT_ONCE:
            found[-1].append(text)
            size += len(text)
        else:
            found.append([text])
            size = len(text)
    return found
