"""Which model answers, whose keys there are, and how each provider is reached (P-4)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from codelaw.agent.model_calls.caching import CacheTtl
from codelaw.domain.chats import DialectChoice
from codelaw.domain.models import DEFAULT_MODEL, Effort, Platform
from codelaw.domain.presets import PRESETS, Vendor
from codelaw.settings.group import Count, Group, Name

Provider = Literal[Vendor, "editor", "offline", "scripted"]


class Access(Group):
    """How one vendor is reached, whichever is in force."""

    api_key: str | None = Field(default=None, repr=False, description="Its API key.")
    base_url: str | None = Field(default=None, repr=False, description="Its address, where it is not the usual one.")


class ModelGroup(Group):
    """Which model answers, and how it is reached."""

    provider: Literal["auto", Provider] = Field(
        default="auto",
        description="Who answers. `auto` is `anthropic` when a key, a base URL or a platform is configured, else the"
        " first vendor with a key, else `offline`, which needs no network and answers from the workspace's text; no"
        " local server is chosen by itself. `scripted` plays a file of replies,"
        " `editor` is a model that the editor lends.",
    )
    name: Name | None = Field(
        default=None, description="The model of chats for which none was chosen; unset: the provider's usual one."
    )
    base_url: str | None = Field(
        default=None,
        repr=False,
        description="The provider's address, where it is not its own; with `auto` one that speaks the Messages API.",
    )
    api_key: str | None = Field(
        default=None, repr=False, description="The provider's API key; with `auto` it is Anthropic's."
    )
    auth_token: str | None = Field(
        default=None, repr=False, description="A token that is sent as `Authorization: Bearer` instead of an API key."
    )
    providers: dict[str, Access] = Field(
        default_factory=dict[str, Access],
        repr=False,
        description='Keys and addresses of single providers, by name: `{"openai": {"apiKey": "…", "baseUrl": "…"}}`.'
        " The vendors' variables, such as `OPENAI_API_KEY`, are their defaults.",
    )
    platform: Platform | None = Field(
        default=None, description="The cloud that sells the vendor's models; it is configured by its own variables."
    )
    fallbacks: bool = Field(
        default=False, description="Let another of the vendor's models answer what the chosen one refuses."
    )
    script: str | None = Field(default=None, description="The file of replies that the provider `scripted` plays.")
    dialect: DialectChoice = Field(
        default="auto",
        description="How the model calls tools: `react` as text that every model can write, `native` by the vendor's"
        " own tool calls. `auto` is `native` for a model that is known to call tools and to think, else `react`; a chat"
        " stays with what it began with.",
    )
    effort: Effort | None = Field(
        default=None,
        description="How much the model does for an answer, where a chat has no choice of its own; unset: its default.",
    )
    context_window: Count | None = Field(
        default=None, description="Tokens that the model can take in; unset: as its profile says."
    )
    max_output_tokens: Count | None = Field(
        default=None,
        description="The most tokens of one reply, what the model thinks counted in; unset: as its profile says, at"
        " most 32000.",
    )

    cache_ttl: CacheTtl = Field(
        default="auto",
        description="How long the vendor's cache keeps the older part of a chat. `1h` costs more to write and outlives"
        " pauses. `auto` chooses by the model's prices and by your pauses so far.",
    )

    warm_cache: bool = Field(
        default=False,
        description="Fill the vendor's cache anew when a long chat is looked at after a pause, so that its next answer"
        " begins sooner. It costs as much as sending the chat, whether or not a message follows.",
    )

    @property
    def chosen_provider(self) -> Provider:
        """The provider, with `auto` decided: the first with a key in the order of the table; Anthropic is first."""
        if self.provider != "auto":
            return self.provider
        return self.with_keys[0] if self.with_keys else "offline"

    @property
    def chosen_name(self) -> str:
        """The model of chats for which none was chosen; empty where a local server has whatever was loaded there."""
        preset = PRESETS.get(self.chosen_provider)
        return self.name or (DEFAULT_MODEL if preset is None else preset.model)

    @property
    def with_keys(self) -> list[Vendor]:
        """The vendors that can be asked, local servers aside; with `auto` the first of them is."""
        return [preset.name for preset in PRESETS.values() if not preset.local and self.reaches(preset.name)]

    def reaches(self, provider: str) -> bool:
        """Whether a provider can be asked: there is a key, an address of the user's own, or it needs neither."""
        main = self._main(provider) and bool(self.base_url or (self.platform and provider == "anthropic"))
        return main or PRESETS[provider].local or self.key_of(provider) is not None

    def key_of(self, provider: str) -> str | None:
        """The key that goes to a provider, and to no other."""
        own = (self.api_key or self.auth_token) if self._main(provider) else None
        return own or self.providers.get(provider, Access()).api_key

    def address_of(self, provider: str) -> str:
        """The base URL of a provider."""
        own = self.base_url if self._main(provider) else None
        return own or self.providers.get(provider, Access()).base_url or PRESETS[provider].base_url

    def _main(self, provider: str) -> bool:
        """Whether `apiKey`, `authToken` and `baseUrl` are this one's."""
        return self.provider == provider or (self.provider not in PRESETS and provider == "anthropic")
