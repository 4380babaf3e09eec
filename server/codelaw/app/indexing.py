"""The index of the workspace's code, as a session has it (X-5)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from codelaw.adapters.code.commits import Commits
from codelaw.adapters.code.index import WorkspaceIndex
from codelaw.adapters.code.vectors import CodeVectors
from codelaw.domain.safety.hosts import is_this_machine, read_host

if TYPE_CHECKING:
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.memories import Embedder
    from codelaw.settings import Settings


def code_index(home: Path, environment: Mapping[str, str], redaction: Redaction, *, trusted: bool) -> WorkspaceIndex:
    """The index, kept below `home`; git is run with that environment, in folders that are trusted."""
    commits = Commits(environment)
    commits.trusted = trusted
    return WorkspaceIndex(home / "code", commits, CodeVectors(redaction))


def embed_code(index: WorkspaceIndex, settings: Settings, embedder: Embedder) -> None:
    """Let the embedder make vectors of the code, where the settings want it."""
    index.vectors.use(embedder if may_embed(settings) else None, settings.memory.timeout_ms / 1000)


def may_embed(settings: Settings) -> bool:
    """Whether code is given to the embedder of the settings: a real model, on this machine unless the user says so."""
    chosen = settings.embedding
    match chosen.provider:
        case "hashing":
            return False  # it knows no more than the words that are searched for anyhow
        case "local":
            return chosen.code != "off"
        case "openai":
            return chosen.code == "any" or (chosen.code == "here" and _is_here(chosen.base_url))


def _is_here(url: str | None) -> bool:
    try:
        host = urlsplit(url or "").hostname
    except ValueError:
        return False
    return host is not None and is_this_machine(read_host(host))
