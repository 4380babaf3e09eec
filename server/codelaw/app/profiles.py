"""What endpoints say of their models, kept for a session: which there are, and what they take (P-4, P-6, W-5)."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from codelaw.adapters.models import catalog, listing
from codelaw.adapters.models.lent import profile_of
from codelaw.adapters.models.listing import Listing
from codelaw.adapters.models.wire import WireModel
from codelaw.app import model_list, models
from codelaw.domain.errors import ModelFailure, Refusal
from codelaw.domain.presets import PRESETS
from codelaw.ports.lending import NotLent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codelaw.domain.models import ModelProfile
    from codelaw.domain.presets import Preset
    from codelaw.ports.lending import Lender
    from codelaw.settings.model import Settings
    from codelaw.settings.providers import ModelGroup

SECONDS = 30.0
"""Within which the endpoint must have answered."""
LIST_SECONDS = 5.0
"""Within which a list must have come, since somebody waits for it."""
KNOCK_SECONDS = 0.5
"""Within which a server on this machine must have taken a connection."""

_log = logging.getLogger(__name__)


class Profiles:
    """What was asked, at most once a session; until an answer comes, and where none does, the data hold.

    A model is asked about beside the first turn whose text may go there (P-4), and nobody waits for the answer; lists
    are asked for when a person wants to see them.
    """

    def __init__(self) -> None:
        self.lender: Lender | None = None
        self._told: dict[str, ModelProfile] = {}
        """By the names that were asked for."""
        self._lent: dict[str, ModelProfile] = {}
        """All that the editor lends (P-7)."""
        self.lists: dict[str, Listing] = {}
        """By provider, those that have answered."""
        self._asking: dict[str, asyncio.Task[None]] = {}

    @property
    def reported(self) -> Mapping[str, ModelProfile]:
        """What was told of models, by name."""
        return self._told | self._lent

    def look_up(self, settings: Settings, name: str) -> None:
        """Have the endpoint asked for a model, where there is one and it was not."""
        model = settings.model
        preset = PRESETS.get(models.answerer(settings, chosen=name).provider)
        if name in self._asking or preset is None:
            return
        asked = self._ask(models.speaker(model, preset), model, preset, name)
        self._asking[name] = asyncio.create_task(asked, name="profile of a model")

    async def discover(self, settings: Settings) -> list[str]:
        """Ask who can be asked for the models that they have, once; servers on this machine each time (P-4).

        Gives what is to be said of the lists, in sentences. It takes `LIST_SECONDS` and what a package takes to load.
        """
        model, lists, told = settings.model, self.lists, self._told
        asked = [one for one in model_list.asked_for_lists(settings) if one.local or one.name not in lists]
        answers = await asyncio.gather(*(listed(model, one) for one in asked))
        said: list[str] = []
        for preset, answer in zip(asked, answers, strict=True):
            if preset.local:
                lists.pop(preset.name, None)
            if isinstance(answer, str):
                said += [f"{preset.title} does not list its models: {answer}"] if answer else []
                continue
            lists[preset.name] = answer
            prefix = model_list.shown_prefix(model, preset.name)
            told |= {prefix + name: replace(one, name=prefix + name) for name, one in answer.models.items() if one}
        return said + [words for name, one in lists.items() for words in _words(PRESETS[name], one)]

    def forget(self) -> None:
        """Stop asking, and forget what was told: another endpoint may say something else."""
        for task in self._asking.values():
            task.cancel()
        self._asking, self._told, self.lists = {}, {}, {}

    async def borrow(self) -> None:
        """Ask the editor anew which models it lends, where it lends any; when it does not say, it lends none."""
        if self.lender is None:
            return
        try:
            lent = [profile_of(offer) for offer in await self.lender.offers()]
        except NotLent as error:
            _log.info("the editor does not say what it lends: %s", error)
            lent = []
        self._lent = {one.name: one for one in lent}

    async def close(self) -> None:
        """Stop asking, and wait until that has ended."""
        asking = [*self._asking.values()]
        self.forget()
        await asyncio.gather(*asking, return_exceptions=True)

    async def _ask(self, speaker: WireModel[Any, Any], model: ModelGroup, preset: Preset, name: str) -> None:
        known, own = catalog.profile(name), name.removeprefix(models.prefix_of(model, preset.name))
        try:
            async with asyncio.timeout(SECONDS):
                if preset.name == "anthropic":
                    reported = await speaker.profile(own, known)
                elif preset.local or known is None:
                    address = model.address_of(preset.name)
                    await listing.load(speaker, preset, address, own)
                    reported = (await listing.ask(speaker, preset, address)).models.get(own)
                else:
                    reported = None
            if reported is not None:
                self._told[name] = replace(reported, name=name)
        except (ModelFailure, TimeoutError) as failure:
            _log.info("the endpoint does not say what %s is: %s", name, failure)
        except Exception:  # noqa: BLE001 - a bug leaves the data as they are, and stops no turn
            _log.exception("what the endpoint says of %s cannot be taken in", name)
        finally:
            await speaker.close()


async def listed(model: ModelGroup, preset: Preset) -> Listing | str:
    """What is listed, or why nothing is; empty where there is no list, which nobody need be told."""
    address = model.address_of(preset.name)
    if preset.local and not await _runs(address):
        return ""
    try:
        speaker = models.speaker(model, preset)
    except Refusal as refusal:
        return f"{refusal.message} {refusal.hint}"
    try:
        await speaker.warm()
        async with asyncio.timeout(LIST_SECONDS):
            return await listing.ask(speaker, preset, address)
    except TimeoutError:
        return f"it did not answer within {LIST_SECONDS:g} s."
    except ModelFailure as failure:
        # What runs on such a port need not be a server of models, and not every endpoint keeps a list.
        return "" if preset.local or failure.kind == "unknown_model" else failure.message
    finally:
        await speaker.close()


async def _runs(address: str) -> bool:
    """Whether anybody takes connections there."""
    try:
        parts = urlsplit(address)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        async with asyncio.timeout(KNOCK_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except (OSError, ValueError):
        return False
    writer.close()
    return True


def _words(preset: Preset, said: Listing) -> list[str]:
    """What a person must know of a list beside its rows."""
    words: list[str] = []
    if said.left_out:
        count = len(said.models) + said.left_out
        words.append(f"{preset.title} lists {count} models: the first {len(said.models)} are shown, type any other.")
    if said.unsized:
        words.append(
            f"{preset.title} does not say which window it gives to models that are not loaded, often 4096 tokens: "
            "OLLAMA_CONTEXT_LENGTH=64000 in its environment gives them enough."
        )
    return words
