"""Whether the model's endpoint works: tried out by a request that costs nothing, since no model is asked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from codelaw.adapters.models import catalog
from codelaw.adapters.models.endpoints import cause_of
from codelaw.app.models import speaker
from codelaw.domain.errors import ModelFailure, Refusal
from codelaw.domain.models import FailureKind
from codelaw.domain.presets import PRESETS, Preset
from codelaw.settings.effective import load_settings
from codelaw.settings.places import WORKSPACE_FILE, home, process_environment, user_file
from codelaw.settings.providers import ModelGroup
from codelaw.settings.trust import trusted_folders

ANSWER_SECONDS = 10.0
CONNECT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Health:
    """One thing looked at; `broken` makes the exit status 1."""

    name: str
    state: str
    """`good`, `lacking` or `broken`."""
    detail: str


def model_settings(workspace: Path) -> ModelGroup:
    """What the server of `workspace` is configured with, keys and all; the wire shows them masked. Touches the disk."""
    environ = process_environment()
    root = workspace.resolve()
    file = root / WORKSPACE_FILE
    digest = trusted_folders(home(environ)).get(root)
    effective = load_settings(
        environ=environ,
        user_file=user_file(environ),
        workspace_files=[file],
        trusted={} if digest is None else {file: digest},
    )
    return effective.value.model


def lacking(preset: Preset) -> Health | None:
    """What is missing without which a vendor cannot be asked at all."""
    try:
        speaker(ModelGroup(), preset)
    except Refusal as refusal:
        return Health("endpoint", "broken", f"{refusal} {refusal.hint}")
    return None


async def knock(settings: ModelGroup, preset: Preset) -> Health:
    """Ask the endpoint whether it has the model, which shows that it can be reached and takes the key as well.

    The answer comes within `ANSWER_SECONDS` and never holds a key (S-5).
    """
    model = speaker(settings, preset)
    try:
        await model.warm()
        async with asyncio.timeout(ANSWER_SECONDS):
            offered = await model.offers(settings.chosen_name)
    except TimeoutError:
        return Health("endpoint", "broken", f"no answer within {ANSWER_SECONDS:.0f} s; is there a proxy or a firewall?")
    except ModelFailure as failure:
        state, words = _FAILED.get(failure.kind, ("broken", ""))
        return Health("endpoint", state, words + failure.message)
    finally:
        await model.close()
    if offered:
        return Health("endpoint", "good", f"answers, takes the key, and has the model {settings.chosen_name}")
    state = "broken" if _is_the_vendor(settings) else "lacking"
    said = f"answers and takes the key, but does not list the model {settings.chosen_name}; set model.name"
    if offered is None:
        said = "answers, but has no list of models: key and model cannot be checked without asking one"
    return Health("endpoint", state, said)


def of_another_vendor(settings: ModelGroup) -> str | None:
    """A sentence where the model is known as one of another vendor than Anthropic; None where it is not."""
    known = catalog.profile(settings.chosen_name)
    if (
        settings.chosen_provider != "anthropic"
        or known is None
        or known.provider in {"anthropic", catalog.OFFLINE_MODEL}
    ):
        return None
    where = "the endpoint is Anthropic's" if _is_the_vendor(settings) else "not every endpoint passes it on"
    return f"{settings.chosen_name} is a model of {known.provider}, and {where}; set model.name or model.baseUrl"


async def reached(url: str) -> Health:
    """Whether the port of the endpoint answers; nothing is sent."""
    try:
        parts = urlsplit(url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError as error:
        return Health("endpoint", "broken", f"{url}: {error}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return Health("endpoint", "broken", f"{url} is not an address: it needs http:// or https:// and a host")
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
        writer.close()
    except OSError as error:
        return Health("endpoint", "broken", f"{url}: {cause_of(error)}")
    return Health("endpoint", "good", f"{url} answers on port {port}")


_FAILED: dict[FailureKind, tuple[str, str]] = {
    "auth": ("broken", "answers, but refuses the key: "),
    "spending": ("broken", "answers, but lets this account ask no more: "),
    "rate_limit": ("lacking", "answers, but takes no requests just now: "),
    "overload": ("lacking", "answers, but takes no requests just now: "),
    "malformed": ("broken", "what answers there does not speak the Messages API: "),
}


def _is_the_vendor(settings: ModelGroup) -> bool:
    provider = settings.chosen_provider
    if provider not in PRESETS or (provider == "anthropic" and settings.platform is not None):
        return False
    usual, now = (urlsplit(url).hostname for url in (PRESETS[provider].base_url, settings.address_of(provider)))
    return usual == now
