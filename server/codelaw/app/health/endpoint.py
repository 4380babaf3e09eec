"""Whether the model's endpoint works: tried out by a request that costs nothing, since no model is asked."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from codelaw.adapters.models import catalog
from codelaw.adapters.models.anthropic import VENDOR, AnthropicModel
from codelaw.app.health.finding import Finding
from codelaw.domain.errors import ModelFailure
from codelaw.settings import WORKSPACE_FILE, home, load_settings, process_environment, trusted_folders, user_file
from codelaw.settings.model import ModelGroup

ANSWER_SECONDS = 10.0
CONNECT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of the request; `state` is `good`, `lacking` or `broken`."""

    state: str
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


async def knock(settings: ModelGroup) -> Answer:
    """Ask the endpoint whether it has the model, which shows that it can be reached and takes the key as well.

    The answer comes within `ANSWER_SECONDS` and never holds a key (S-5).
    """
    key = settings.api_key or settings.auth_token
    model = AnthropicModel(key, settings.base_url, platform=settings.platform)
    try:
        await model.warm()
        async with asyncio.timeout(ANSWER_SECONDS):
            offered = await model.offers(settings.name)
    except TimeoutError:
        return Answer("broken", f"no answer within {ANSWER_SECONDS:.0f} s; is there a proxy or a firewall?")
    except ModelFailure as failure:
        return _failed(failure)
    finally:
        await model.close()
    if offered:
        return Answer("good", f"answers, takes the key, and has the model {settings.name}")
    if offered is None:
        state = "broken" if _is_the_vendor(settings) else "lacking"
        return Answer(state, "answers, but has no list of models: key and model cannot be checked without asking one")
    state = "broken" if _is_the_vendor(settings) else "lacking"
    return Answer(state, f"answers and takes the key, but does not list the model {settings.name}; set model.name")


def of_another_vendor(settings: ModelGroup) -> str | None:
    """A sentence where the model is known as one of another vendor than Anthropic; None where it is not."""
    known = catalog.profile(settings.name)
    if known is None or known.provider in {"anthropic", catalog.OFFLINE_MODEL}:
        return None
    where = "the endpoint is Anthropic's" if _is_the_vendor(settings) else "not every endpoint passes it on"
    return f"{settings.name} is a model of {known.provider}, and {where}; set model.name or model.baseUrl"


async def reached(url: str) -> Finding:
    """Whether the port of the endpoint answers; nothing is sent."""
    try:
        parts = urlsplit(url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError as error:
        return Finding("endpoint", "broken", f"{url}: {error}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return Finding("endpoint", "broken", f"{url} is not an address: it needs http:// or https:// and a host")
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
        writer.close()
    except OSError as error:
        return Finding("endpoint", "broken", f"{url}: {_unreachable(error, parts.hostname, port)}")
    return Finding("endpoint", "good", f"{url} answers on port {port}")


def _failed(failure: ModelFailure) -> Answer:
    if failure.kind == "auth":
        return Answer("broken", f"answers, but refuses the key: {failure.message}")
    if failure.kind == "spending":
        return Answer("broken", f"answers, but lets this account ask no more: {failure.message}")
    if failure.kind in {"rate_limit", "overload"}:
        return Answer("lacking", f"answers, but takes no requests just now: {failure.message}")
    if failure.kind == "malformed":
        return Answer("broken", f"what answers there does not speak the Messages API: {failure.message}")
    return Answer("broken", failure.message)


def _is_the_vendor(settings: ModelGroup) -> bool:
    return settings.platform is None and (urlsplit(settings.base_url or VENDOR).hostname or "").endswith(
        "anthropic.com"
    )


def _unreachable(error: OSError, host: str, port: int) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_SECONDS:.0f} s; is there a proxy or a firewall?"
    if isinstance(error, socket.gaierror):
        return f"the name {host} is not known here; is the network up, and the address spelt right?"
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        return f"nothing listens on port {port}; is the server running?"
    return str(error)
