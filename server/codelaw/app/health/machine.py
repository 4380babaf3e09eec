"""What a server of a workspace would have: the store's file, embedder, programs, packages and sandbox."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from codelaw.adapters.embedders.http import MODEL, OPENAI
from codelaw.adapters.embedders.local import LocalEmbedder
from codelaw.adapters.extras import EXTRAS, adding, missing
from codelaw.adapters.processes.sandbox import Sandbox
from codelaw.adapters.programs import find_program
from codelaw.adapters.stores.sqlite import damage
from codelaw.adapters.workspace.ignore import oversized
from codelaw.adapters.workspace.search import find_rg
from codelaw.app.health.endpoint import Health, reached
from codelaw.domain.errors import EmbeddingFailure
from codelaw.settings.places import process_environment


def extras() -> list[Health]:
    """A finding for each extra that is missing, wholly or in part. Imports what is there, which can take a second."""
    reported = {name: lacking(name) for name in EXTRAS}
    return [Health(name, "lacking", why) for name, why in reported.items() if why is not None]


def lacking(name: str) -> str | None:
    """What is missing of an extra, what that changes, and the command that adds it; None where nothing is missing."""
    absent = missing(name)
    if not absent:
        return None
    return f"{', '.join(absent)} cannot be imported, so {EXTRAS[name].without}; add it with `{adding(name)}`"


_PROGRAMS = {
    "rg": "searching is slower without it",
    "git": "the agent often wants it",
    "bwrap": "without it commands are locked in partly, or not at all, and blanket rules for them do not count",
}


async def store_file(file: Path) -> list[Health]:
    """Whether a SQLite file that opens is sound, and what was set aside."""
    fault = await asyncio.to_thread(damage.looked_through, file)
    sound = Health("store", "good", f"opens, and is sound (SQLite {sqlite3.sqlite_version})")
    if fault is not None:
        hint = (
            "Close every codelaw and start it again: the file is set aside then, and what can be read of it is saved."
        )
        sound = Health("store", "broken", f"{file} is damaged: {fault}. {hint}")
    kept = "what could be read of it was saved; delete it when you miss nothing"
    aside = await asyncio.to_thread(damage.damaged_files, file)
    return [sound, *(Health("damaged store", "lacking", f"{old} was set aside: {kept}") for old in aside)]


async def embedder(settings: dict[str, Any]) -> Health:
    """Whether texts can be embedded (B-5): a model in a folder is tried out, of an endpoint only the port is."""

    def set_to(key: str) -> Any:
        return settings.get(f"embedding.{key}", {}).get("value")

    if set_to("provider") == "openai":
        if not set_to("baseUrl") and not set_to("apiKey"):
            return Health("embedder", "broken", "provider openai: set embedding.apiKey, or embedding.baseUrl")
        found = await reached(set_to("baseUrl") or OPENAI)
        key = "" if set_to("apiKey") else "; no key is configured"
        return Health("embedder", found.state, f"{set_to('model') or MODEL} by provider openai: {found.detail}{key}")
    if set_to("provider") == "local":
        path = set_to("path")
        embedder = LocalEmbedder(Path(path) if path else None, dimension=set_to("dimension"))
        try:
            (vector,) = await embedder.embed(["codelaw doctor"])
        except EmbeddingFailure as failure:
            return Health("embedder", "broken", failure.message)
        finally:
            await embedder.close()
        return Health("embedder", "good", f"the model in {path}, by provider local: {len(vector) // 4} numbers a text")
    return Health("embedder", "good", "provider hashing, which compares words and needs no model")


def ignore_file(workspace: Path) -> list[Health]:
    """A finding where the workspace's rules of what to leave out are too much to be read. Touches the disk."""
    too_much = oversized(workspace.resolve())
    return [] if too_much is None else [Health("ignore file", "lacking", too_much)]


def programs(workspace: Path) -> list[Health]:
    """Which programs there are that no workspace has a part in (S-8). Touches the disk."""
    environ, folders = process_environment(), [workspace.resolve()]
    found = {name: find_program(name, environ, folders) for name in _PROGRAMS}
    found["rg"] = find_rg(folders, environ)
    return [
        Health(name, "good" if path else "lacking", path or f"{_why_not(name, environ)}; {_PROGRAMS[name]}")
        for name, path in found.items()
    ]


def _why_not(name: str, environ: Mapping[str, str]) -> str:
    inside = find_program(name, environ, [])
    return f"{inside} lies in the workspace, and so is not used" if inside else "not found"


async def sandbox(settings: dict[str, Any], workspace: Path) -> Health:
    """What a command of the next turn would run in; tried out here as the server does."""
    if settings.get("tools.bash.sandbox", {}).get("value") == "off":
        return Health("sandbox", "lacking", "switched off by tools.bash.sandbox; commands run with all your rights")
    tried = Sandbox(lambda: [workspace.resolve()], [], process_environment())
    try:
        means = await tried.means()
    finally:
        await tried.close()
    listed: bool | list[str] = settings.get("tools.bash.network", {}).get("value", False)
    network = listed if isinstance(listed, bool) else tuple(listed)
    required = settings.get("tools.bash.sandbox", {}).get("value") == "require"
    state = "good" if means.trusted else "broken" if required else "lacking"
    return Health("sandbox", state, means.describe(network=network))
