"""The vendor's SDK: its client, and what is asked through it; an extra, loaded late (P-4, V-1)."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from urllib.parse import quote

import openai
from openai import AsyncStream, DefaultAsyncHttpxClient

from codelaw.adapters.models.endpoints import dig
from codelaw.adapters.models.replies import MalformedEvent
from codelaw.adapters.models.sdk import NO_KEY, Endpoint, SdkErrors, common, said_by
from codelaw.domain.models import ModelRequest

_ERRORS = SdkErrors(openai.APIStatusError, openai.APITimeoutError, openai.APIConnectionError, openai.OpenAIError)

_log = logging.getLogger(__name__)


class RawChunks(AsyncStream[tuple[str, str]]):
    """The events of a reply as they come, by name and data; chunks of Chat Completions have no name."""

    async def __stream__(self) -> AsyncIterator[tuple[str, str]]:
        """All of them, or a whole reply where there is no stream; the mark at the end is `null`."""
        if "json" in self.response.headers.get("content-type", ""):
            whole = (await self.response.aread()).decode(errors="replace").strip()
            if whole[:1] in ("{", "["):
                yield "", whole
                return
        async for one in self._iter_events():
            yield one.event or "", "null" if one.data.startswith("[DONE]") else one.data


class OpenAIEndpoint(Endpoint):
    """An endpoint of one of the wires: `write` spells the bodies of what is asked at `path`."""

    def __init__(
        self,
        place: tuple[str, str | None, float],
        secrets: Sequence[str],
        path: str,
        write: Callable[[ModelRequest, frozenset[str]], bytes],
        learned: Callable[[str], frozenset[str]],
    ) -> None:
        """`place`: key, base URL, and the seconds of silence that are borne.

        `learned` gives what the body can be written without, by the words of a refusal.
        """
        key, base_url, silence = place
        client = openai.AsyncOpenAI(api_key=key or NO_KEY, **common(DefaultAsyncHttpxClient, base_url, silence))
        super().__init__(client, secrets, _ERRORS)
        self._client, self._path, self._write, self._learned = client, path, write, learned
        self._unknown: dict[str, frozenset[str]] = {}
        """By model, those without which it has taken a request that it had refused."""

    async def stream(self, request: ModelRequest) -> RawChunks:
        """As `Endpoint` has it."""
        self._check_limits()
        without = self._unknown.get(request.model, frozenset())
        while True:
            try:
                stream = await self._client.post(
                    self._path,
                    cast_to=object,
                    options={"headers": {"content-type": "application/json"}},
                    content=self._write(request, without),
                    stream=True,
                    stream_cls=RawChunks,
                )
                break
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                unknown = self._learned(said_by(error)) - without
                if not unknown:
                    raise
                without |= unknown
                _log.info("%s does not know %s", self.place, ", ".join(sorted(unknown)))
        self._unknown[request.model] = without
        self.limits.take(stream.response.headers, time.time())
        return stream

    async def offers(self, name: str) -> bool | None:
        """As `Endpoint` has it."""
        try:
            found = await self.description(name)
        except openai.NotFoundError as error:
            return False if dig(error.body, "message") else None
        if not isinstance(dig(found, "id"), str):
            raise MalformedEvent("The answer is not a description of a model.")
        return True

    async def description(self, name: str) -> object:
        """As `Endpoint` has it."""
        return await self._client.get(f"/models/{quote(name, safe='/')}", cast_to=object)
