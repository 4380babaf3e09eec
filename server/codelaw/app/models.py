"""Which model answers, made from the settings (P-1 to P-3)."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from codelaw.adapters.extras import adding
from codelaw.adapters.models import catalog
from codelaw.adapters.models.endpoints import place_of
from codelaw.adapters.models.lent import PREFIX, LentModel
from codelaw.adapters.models.messages.model import VENDOR, MessagesModel
from codelaw.adapters.models.offline import OfflineModel
from codelaw.adapters.models.openai.model import OpenAIModel
from codelaw.adapters.models.scripted import ScriptedModel
from codelaw.agent.dialects import choosing
from codelaw.agent.inputs.turn_context import ModelFacts
from codelaw.agent.model_calls.recovery import NO_KEY_HINT
from codelaw.agent.model_calls.redacting_model import RedactingModel
from codelaw.context.tokens import Window, most_output, output_reserve, resolve_window
from codelaw.domain.errors import Refusal
from codelaw.domain.models import ModelProfile, Prices
from codelaw.domain.presets import PRESETS

if TYPE_CHECKING:
    from codelaw.agent.dialects.choosing import DialectFacts
    from codelaw.app.in_force import SettingsInForce
    from codelaw.domain.chats import Chat
    from codelaw.domain.presets import Preset
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.lending import Lender
    from codelaw.ports.model import ChatModel
    from codelaw.settings.model import Settings
    from codelaw.settings.providers import ModelGroup, Provider

OFFLINE = "offline"
LENDER = "the editor"
"""Where the text goes that a lent model is sent, in words for a person: where from there the editor alone knows."""
Told = Mapping[str, ModelProfile]
"""Profiles by name, as the endpoint has told them (`app.turns`)."""
NOTHING_TOLD: Told = MappingProxyType({})
PREFIXED = re.compile(r"/|^[a-z-]+\.[a-z]+\.")
"""What a cloud or a gateway puts in front of a name."""


def make_model(settings: Settings, provider: Provider, lender: Lender | None = None) -> ChatModel:
    """The model of a provider; nothing is connected or loaded yet.

    Raises:
        Refusal: `model_unavailable`: the script of the provider `scripted` is missing or wrong, the package that
            speaks with the provider is not installed, or nobody is connected who lends models.
    """
    model = settings.model
    match provider:
        case "scripted":
            hint = "Set model.script to a file of replies."
            if model.script is None:
                raise Refusal("model_unavailable", "The provider `scripted` has no script.", hint)
            try:
                return ScriptedModel.from_file(Path(model.script).expanduser())
            except (OSError, ValueError) as error:
                raise Refusal(
                    "model_unavailable", f"The script {model.script} cannot be used: {error}", hint
                ) from error
        case "editor":
            if lender is None:
                message = "Models of an editor are lent where that editor is connected, and this client lends none."
                raise Refusal("model_unavailable", message, "Choose another model for this chat.")
            return LentModel(lender)
        case "offline":
            return OfflineModel()
        case _:
            return speaker(model, PRESETS[provider])


def speaker(model: ModelGroup, preset: Preset) -> MessagesModel | OpenAIModel:
    """Who asks a vendor, by its wire and with its key alone; refuses as `make_model`."""
    key, address = model.key_of(preset.name), model.address_of(preset.name)
    own = preset.name == "anthropic"
    platform = model.platform if own else None
    if preset.wire != "messages":
        if find_spec("openai") is None:
            message = f"{preset.title} is asked by the package `openai`, which is not installed."
            raise Refusal("model_unavailable", message, f"Add it by `{adding('openai')}`, and start codelaw anew.")
        made = OpenAIModel(key, address, wire=preset.wire)
    else:
        at = None if platform and not model.base_url else address
        made = MessagesModel(key, at, platform=platform, fallbacks=own and model.fallbacks, header=preset.header)
    made.preset = None if platform else preset
    return made


class ChatModels:
    """The models of a session by provider, each made when it is first asked for."""

    def __init__(self, settings: SettingsInForce, redaction: Redaction, lender: Lender | None = None) -> None:
        self._settings = settings
        self._lender = lender
        self._redaction = redaction
        self._made: dict[Provider, ChatModel] = {}
        self._retired: list[ChatModel] = []

    def of(self, provider: Provider) -> ChatModel:
        """The model of a provider; refuses as `make_model`."""
        if provider not in self._made:
            made = make_model(self._settings.value, provider, self._lender)
            prefix = prefix_of(self._settings.value.model, provider)
            self._made[provider] = RedactingModel(made, self._redaction, prefix)
        return self._made[provider]

    def renew(self) -> None:
        """Make all of them anew; those that there are may be at work until the end."""
        self._retired += self._made.values()
        self._made = {}

    async def close(self) -> None:
        for model in [*self._retired, *self._made.values()]:
            await model.close()


@dataclass(frozen=True, slots=True)
class Answerer:
    """Who will be asked."""

    name: str
    provider: Provider
    host: str = ""
    """Where the text goes, with the port where one is named, or the platform; empty: it stays on this machine."""

    @property
    def place(self) -> str:
        """As `Chat.places` has it."""
        return self.host or OFFLINE


def answerer(settings: Settings, chat: Chat | None = None, chosen: str | None = None) -> Answerer:
    """The model that will be asked in a chat, or without one in a new chat: what is shown and what is sent (P-4).

    A chosen model stays, whatever the settings name; a chat without a choice goes along with them. Where no vendor can
    be reached the offline model answers, and where it was chosen no vendor does. `chosen` is a choice of this moment.
    What the editor lends is chosen by a person alone, or by the settings' provider; no name in a file does (P-7).
    """
    model, picked = settings.model, chosen or (chat.model if chat is not None and chat.chosen else "")
    provider, name = provider_of(model, picked), picked or model.chosen_name
    if OFFLINE in {provider, name}:
        return Answerer(OFFLINE, OFFLINE)
    if provider == "editor":
        return Answerer(PREFIX + name.removeprefix(PREFIX), provider, LENDER)
    if provider not in PRESETS:
        return Answerer(name, provider)
    cloud = model.platform if provider == "anthropic" and model.base_url is None else None
    return Answerer(name, provider, cloud or place_of(model.address_of(provider)))


def provider_of(model: ModelGroup, name: str) -> Provider:
    """The provider of a model by its name, which may begin with that of another one than is in force (P-4).

    Where a gateway is in force, its models' names begin with vendors too: only what no gateway passes on is another's.
    """
    now, (first, _, rest) = model.chosen_provider, name.partition("/")
    if not rest or first == now or model.provider == OFFLINE:
        return now
    if first == "editor":
        return first
    preset = PRESETS.get(first)
    foreign = preset is not None and model.reaches(preset.name) and (preset.local or not passes_on(model, now))
    return preset.name if preset is not None and foreign else now


def passes_on(model: ModelGroup, provider: Provider) -> bool:
    """Whether a provider's own names of models may begin with a vendor's."""
    preset = PRESETS.get(provider)
    if preset is None:
        return False
    return preset.gateway or preset.local or model.address_of(preset.name) != preset.base_url


def prefix_of(model: ModelGroup, provider: Provider) -> str:
    """What stands in front of a name that the provider itself does not know; empty where nothing does."""
    own = provider not in PRESETS or (provider == model.chosen_provider and passes_on(model, provider))
    return "" if own else f"{provider}/"


def apart(settings: Settings, name: str) -> bool:
    """Whether a model is another provider's than the settings', or the editor's: no name in them is one of its side."""
    return answerer(settings, chosen=name).provider not in {settings.model.chosen_provider, OFFLINE} - {"editor"}


def shown(settings: Settings, chat: Chat) -> Chat:
    """The chat as clients see it: its model is the one that will be asked, and it is not from the future."""
    now, model = time.time(), answerer(settings, chat).name
    return replace(chat, model=model, created_at=min(chat.created_at, now), updated_at=min(chat.updated_at, now))


def check_choice(settings: Settings, name: str) -> None:
    """Refuse a model that would not be the one to answer.

    Raises:
        Refusal: `auth_failed`: there is no key; `model_unavailable`: the settings want the offline model.
    """
    model, (first, _, rest) = settings.model, name.partition("/")
    preset = PRESETS.get(first) if rest and model.provider != OFFLINE else None
    if preset is not None and not model.reaches(preset.name) and not passes_on(model, model.chosen_provider):
        raise Refusal("auth_failed", f"{name} cannot be asked: there is no key of {preset.title}.", preset.key_hint)
    if name == OFFLINE or answerer(settings, chosen=name).provider != OFFLINE:
        return
    only = f"{name} cannot be asked: the offline model alone answers,"
    if settings.model.provider == "auto":
        raise Refusal("auth_failed", f"{only} because no API key is configured.", NO_KEY_HINT)
    hint = "Set model.provider to `auto` or `anthropic`."
    raise Refusal("model_unavailable", f"{only} because model.provider is `offline`.", hint)


def profile_of(name: str, reported: Told = NOTHING_TOLD) -> ModelProfile | None:
    """What is known of a model: what its endpoint has told, else the data; None where nothing is."""
    return reported.get(name) or catalog.profile(name)


def window_of(settings: Settings, name: str, reported: Told = NOTHING_TOLD) -> Window:
    """The context window of a model (W-3)."""
    named = settings.models.get(name)
    return resolve_window(
        per_model=named.context_window if named is not None else None,
        general=settings.model.context_window,
        profile=profile_of(name, reported),
        cap=settings.context.max_window,
    )


def reserve_of(settings: Settings, name: str, window: int, reported: Told = NOTHING_TOLD) -> int:
    """Tokens kept for the answer (W-7)."""
    return output_reserve(window, max_output=settings.model.max_output_tokens, profile=profile_of(name, reported))


def facts_of(settings: Settings, name: str, reported: Told, way: DialectFacts, window: int | None = None) -> ModelFacts:
    """What a turn is told of a model (W-3, W-7); `window` are tokens that are known better than from its profile."""
    # A script is nobody's model, whatever it is called.
    profile, scripted = profile_of(name, reported), settings.model.chosen_provider == "scripted"
    window = window_of(settings, name, reported).tokens if window is None else window
    preset = PRESETS.get(answerer(settings, chosen=name).provider)
    way = way if preset is None else replace(way, vendor=preset.name)
    dialect, other = choosing.dialects(settings.model.dialect, name, None if scripted else profile, way)
    return ModelFacts(
        name=name,
        window=window,
        reserve=reserve_of(settings, name, window, reported),
        output=most_output(window, max_output=settings.model.max_output_tokens, profile=profile),
        dialect=dialect,
        other=other,
        profile=profile,
        prices=None if profile is None else profile.prices,
        caches=profile is None or profile.caching,
        sees=vision(settings, name, reported) is True,
    )


def alias(settings: Settings, wanted: str, asked: str) -> str:
    """The model that a kind of subagent means by `wanted`: one of the endpoint that is asked as `asked` (X-4).

    A family's name, such as `haiku`, is the newest known model of it. Empty, or where the offline model or a script
    answers, it is `asked`.
    """
    if apart(settings, asked) or apart(settings, wanted):
        return asked
    if not wanted or answerer(settings).provider != "anthropic" or OFFLINE in {asked, wanted}:
        return asked
    if wanted.isalpha():
        names = [one.name for one in catalog.profiles() if one.provider == "anthropic" and wanted.lower() in one.name]
        return next((name for name in sorted(names, key=_age) if not PREFIXED.search(name)), asked)
    return wanted


def dearer(name: str, asked: str, *, own: bool) -> str:
    """Why a kind of subagent is not answered by `name` in a turn of `asked`; empty where it may (X-4).

    A file of the user's own may choose any. One of a workspace may choose none that costs more in any way, is another
    vendor's, or of which either is not known.
    """
    if own or name == asked:
        return ""
    other, usual = catalog.profile(name), catalog.profile(asked)
    instead = f"so it runs on {asked}: a workspace's file may choose no dearer model."
    if other is None or usual is None or other.prices is None or usual.prices is None:
        return f"What {name} costs beside {asked} is not known, {instead}"
    if other.provider != usual.provider:
        return f"{name} is another vendor's, {instead}"
    if other.prices.exceed(usual.prices):
        return f"{name} costs more than {asked}, {instead}"
    return ""


def _age(name: str) -> tuple[int, ...]:
    """Sorts the names of a family, the newest first: by the numbers of the version, then an undated name."""
    numbers = [int(part) for part in re.findall(r"\d+", name)]
    version = [number for number in numbers if number < 1000]
    return (*(-number for number in [*version, 0, 0][:2]), len(numbers) - len(version))


def vision(settings: Settings, name: str, reported: Told = NOTHING_TOLD) -> bool | None:
    """Whether a model sees pictures: `models.<name>.vision`, else its profile; None where nobody knows (M-6)."""
    named = settings.models.get(name)
    if named is not None and named.vision is not None:
        return named.vision
    profile = profile_of(name, reported)
    return None if profile is None else profile.images


def unseen(settings: Settings, name: str, reported: Told = NOTHING_TOLD) -> str | None:
    """What the user is told who sends pictures to a model that is not shown them; None where it is (M-6)."""
    match vision(settings, name, reported):
        case True:
            return None
        case False:
            return f"The model {name} cannot see pictures: it only learns their kinds and sizes."
        case None:
            return (
                f"Whether the model {name} sees pictures is not known: it only learns their kinds and sizes. "
                f"If it does see them, set models.{name}.vision to true."
            )


def diagnoses(settings: Settings) -> bool:
    """Whether the endpoint is the vendor's own, which alone says why its cache missed (X-6)."""
    return settings.model.platform is None and answerer(settings).host == place_of(VENDOR)


def prices(name: str) -> Prices | None:
    """What a model costs; None where that is not known."""
    profile: ModelProfile | None = catalog.profile(name)
    return None if profile is None else profile.prices
