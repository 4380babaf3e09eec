"""The settings of a session that count now, read again where a file of them has changed (S-1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codelaw.settings.effective import EffectiveSettings
    from codelaw.settings.model import Settings


def applied(settings: Settings, options: Mapping[str, float]) -> Settings:
    """The settings with `options` in place of theirs, by names of settings of `context` and `retrieval`."""
    if not options:
        return settings
    groups = {"context": settings.context, "retrieval": settings.retrieval}
    changed = {
        name: group.model_copy(update={key: value for key, value in options.items() if key in type(group).model_fields})
        for name, group in groups.items()
    }
    return settings.model_copy(update=changed)


class SettingsInForce:
    """The settings as they were read last, and whether the editor trusts the folder (S-7).

    `look_again` is awaited before something begins: it puts others in force where a file of them has changed.
    """

    def __init__(
        self,
        effective: EffectiveSettings,
        *,
        trusted: bool = True,
        look_again: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.effective = effective
        self.restricted = not trusted
        """The editor does not trust the folder; a turn keeps what held when it began."""
        self._look_again = look_again

    @property
    def value(self) -> Settings:
        return self.effective.value

    async def now(self) -> Settings:
        """The settings for what begins now.

        Raises:
            Refusal: as `EffectiveSettings.for_a_turn`.
        """
        if self._look_again is not None:
            await self._look_again()
        return self.effective.for_a_turn()
