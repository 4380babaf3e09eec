"""Who can be asked, and why whom: keys by the names of their variables, clouds, servers on this machine (P-4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec

from codelaw.app.health.endpoint import Health
from codelaw.app.profiles import listed
from codelaw.domain.models import Platform
from codelaw.domain.presets import PRESETS
from codelaw.settings.providers import ModelGroup

_NAMED = 5
"""Models of a server that are named."""


def keys(model: ModelGroup, environ: Mapping[str, str]) -> Health:
    """Which keys there are, never what they are (S-5), and why it is whom that is asked."""
    found = [name for preset in PRESETS.values() for name in preset.keys if environ.get(name)]
    found += [] if found or not (model.api_key or model.auth_token) else ["model.apiKey"]
    found += [
        f"model.providers.{name}" for name, one in model.providers.items() if one.api_key and not _set(name, environ)
    ]
    there = f"found {', '.join(found)}" if found else "none found"
    chosen = model.chosen_provider
    if model.provider != "auto":
        return Health("keys", "good", f"{there}; model.provider names {chosen}")
    if chosen == "offline":
        variables = [preset.keys[0] for preset in PRESETS.values() if preset.keys and not preset.local]
        some = f"{', '.join(variables[:5])} or {variables[5]}"
        return Health("keys", "lacking", f"{there}, so the offline model answers; set {some}, or choose a local model")
    if chosen == "anthropic" and (model.base_url or model.platform):
        why = "an address of your own" if model.base_url else "a platform"
        return Health("keys", "good", f"{there}; auto asks anthropic, since there is {why}")
    return Health("keys", "good", f"{there}; auto asks the first with a key in its order, {chosen}")


def _set(provider: str, environ: Mapping[str, str]) -> bool:
    return provider in PRESETS and any(environ.get(name) for name in PRESETS[provider].keys)


async def local(model: ModelGroup) -> list[Health]:
    """The servers of models that run on this machine; none is asked for an answer."""
    found: list[Health] = []
    for preset in PRESETS.values():
        if not preset.local or isinstance(answer := await listed(model, preset), str):
            continue
        names = [*answer.models]
        more = f" and {len(names) - _NAMED + answer.left_out} more" if len(names) > _NAMED else ""
        has = f"has {', '.join(names[:_NAMED])}{more}" if names else "has no model yet"
        choose = f"; choose {preset.name}/{names[0]}" if names and model.chosen_provider != preset.name else ""
        found.append(Health("local", "good", f"{preset.title} at {model.address_of(preset.name)} {has}{choose}"))
    return found


@dataclass(frozen=True, slots=True)
class Cloud:
    """What a cloud needs of the environment, and how it differs from the vendor."""

    title: str
    needs: tuple[tuple[str, ...], ...]
    """Of each any one."""
    credentials: tuple[str, ...]
    """Any one is enough, and none is needed where the machine itself has some."""
    package: str
    """What finds those of the machine."""
    differs: str


_AWS = ("AWS_ACCESS_KEY_ID", "AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE")
CLOUDS: Mapping[Platform, Cloud] = {
    "bedrock": Cloud(
        "Amazon Bedrock",
        (("AWS_REGION", "AWS_DEFAULT_REGION", "ANTHROPIC_BEDROCK_MANTLE_BASE_URL"),),
        ("AWS_BEARER_TOKEN_BEDROCK", *_AWS),
        "boto3",
        "names begin with `anthropic.`, no list of models, no fallbacks",
    ),
    "vertex": Cloud(
        "Google Vertex",
        (("CLOUD_ML_REGION",), ("ANTHROPIC_VERTEX_PROJECT_ID",)),
        ("GOOGLE_APPLICATION_CREDENTIALS",),
        "google.auth",
        "a dated name has an `@`, no list of models, no fallbacks",
    ),
    "foundry": Cloud(
        "Microsoft Foundry",
        (("ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL"), ("ANTHROPIC_FOUNDRY_API_KEY",)),
        (),
        "",
        "the name is that of your deployment, no list of models",
    ),
    "aws": Cloud(
        "Claude on AWS",
        (("AWS_REGION", "AWS_DEFAULT_REGION"), ("ANTHROPIC_AWS_WORKSPACE_ID",)),
        ("ANTHROPIC_AWS_API_KEY", *_AWS),
        "boto3",
        "names as at Anthropic",
    ),
}


def cloud(model: ModelGroup, environ: Mapping[str, str]) -> list[Health]:
    """What differs on the cloud that is asked, and which of its variables and credentials are missing."""
    if model.platform is None or model.chosen_provider != "anthropic":
        return []
    one = CLOUDS[model.platform]
    found = [Health("cloud", "good", f"{one.title}: {one.differs}")]
    own = model.api_key or model.auth_token
    for names in one.needs:
        given = any(environ.get(name) for name in names) or (own and names[0].endswith("_KEY"))
        if not given and not (model.base_url and names[0].endswith(("_REGION", "_RESOURCE"))):
            found.append(Health("cloud", "broken", f"{one.title} needs {' or '.join(names)}, which is not set"))
    if one.credentials and not own and not any(environ.get(name) for name in one.credentials):
        lacks = not _importable(one.package)
        how = f"the package {one.package} finds those of this machine" + (", and is not installed" if lacks else "")
        found.append(Health("cloud", "lacking", f"no credentials in {', '.join(one.credentials)}; {how}"))
    return found


def _importable(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False
