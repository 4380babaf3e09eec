"""What the endpoint of a session says of its models, over what our data say of them (W-5, P-6)."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from codelaw.adapters.models import catalog
from codelaw.adapters.models.anthropic import AnthropicModel
from codelaw.domain.errors import ModelFailure

if TYPE_CHECKING:
    from codelaw.domain.models import ModelProfile
    from codelaw.settings import Settings

SECONDS = 30.0
"""Within which the endpoint must have answered."""

_log = logging.getLogger(__name__)


class Profiles:
    """Asked for once a session, beside the first turn whose text may go there (P-4): nobody waits for the answer.

    Until one comes, and where none does, the data hold.
    """

    def __init__(self) -> None:
        self.told: dict[str, ModelProfile] = {}
        """By the names that were asked for."""
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._stopped: list[asyncio.Task[None]] = []

    def look_up(self, settings: Settings, name: str) -> None:
        """Have the endpoint asked for a model, where there is one and it was not."""
        model = settings.model
        if name in self._asking or name == catalog.OFFLINE_MODEL or model.chosen_provider != "anthropic":
            return
        speaker = AnthropicModel(model.api_key or model.auth_token, model.base_url)
        self._asking[name] = asyncio.create_task(self._ask(speaker, name), name="profile of a model")

    async def settled(self) -> None:
        """Wait for what is asked."""
        if self._asking:
            await asyncio.wait([*self._asking.values()])

    def forget(self) -> None:
        """Stop asking, and forget what was told: another endpoint may say something else."""
        self._stopped += self._asking.values()
        self._asking, self.told = {}, {}
        for task in self._stopped:
            task.cancel()

    async def close(self) -> None:
        """Stop asking, and wait until that has ended."""
        self.forget()
        await asyncio.gather(*self._stopped, return_exceptions=True)

    async def _ask(self, speaker: AnthropicModel, name: str) -> None:
        try:
            async with asyncio.timeout(SECONDS):
                told = await speaker.profile(name, catalog.profile(name))
            if told is not None:
                self.told[name] = told
        except (ModelFailure, TimeoutError) as failure:
            _log.info("the endpoint does not say what %s is: %s", name, failure)
        except Exception:  # noqa: BLE001 - a bug leaves the data as they are, and stops no turn
            _log.exception("what the endpoint says of %s cannot be taken in", name)
        finally:
            await speaker.close()
