"""The key of the project that a folder belongs to (B-6)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from codelaw.adapters.processes.rules.repositories import settings_text
from codelaw.domain.files import Folder

DEFAULT_PORTS = {"ssh": 22, "git": 9418, "http": 80, "https": 443, "git+ssh": 22, "ssh+git": 22}

_SECTION = re.compile(r'\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_URL = re.compile(r"\s*url\s*=\s*(.*)", re.IGNORECASE)
_SHORT = re.compile(r"(?:[^@/\s]+@)?(\[[^\]]+\]|[^/:\s@]{2,}):(?!//)(.+)")
"""`git@host:owner/name.git`; one letter before the colon is a drive."""


def origin(settings: str) -> str | None:
    """The URL of the remote `origin` in a repository's settings, as written; None when it has none."""
    found = inside = None
    for line in settings.splitlines():
        section = _SECTION.match(line)
        if section is not None:
            inside = (section[1].casefold(), section[2])
            line = line[section.end() :]  # noqa: PLW2901 - a value may follow on the same line
        match = _URL.fullmatch(line) if inside == ("remote", "origin") else None
        if match is not None and found is None:
            found = _value(match[1])
    return found or None


def key(url: str) -> str | None:
    """A project's key from the URL of its origin: host and path, the same however it was cloned.

    Credentials, protocol, usual ports and `.git` are not part of it. None for a path on a disk, which says nothing
    elsewhere.
    """
    url = url.strip()
    short = _SHORT.fullmatch(url)
    if "://" not in url:
        return _joined(short[1], "", short[2]) if short is not None else None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host or parts.scheme.casefold() not in DEFAULT_PORTS:
        return None
    own_port = f":{port}" if port is not None and port != DEFAULT_PORTS[parts.scheme.casefold()] else ""
    return _joined(host, own_port, parts.path)


def _joined(host: str, port: str, path: str) -> str | None:
    path = re.sub("/+", "/", unquote(path).partition("?")[0].partition("#")[0]).strip("/ ")
    path = path.removesuffix(".git").rstrip("/")
    # Forges take names in any case, and nobody has two projects that differ in nothing else.
    return f"{host.strip('[]')}{port}/{path}".casefold() if path else None


def _value(text: str) -> str:
    """A value of git's settings: quotes taken off, a comment cut away."""
    quoted = re.match(r'"((?:[^"\\]|\\.)*)"', text)
    if quoted is not None:
        return re.sub(r"\\(.)", r"\1", quoted[1])
    return re.split(r"\s*[#;]", text, maxsplit=1)[0].strip()


def project_keys(folders: Sequence[Folder], user: str) -> tuple[str, ...]:
    """The keys of folders, in order and each once: of the origin of their repository, else of the folder itself.

    A folder without an origin is nobody else's: `user` is part of its key, since two people of a team may well have
    folders at the same place. Touches the disk.
    """
    found: dict[str, None] = {}
    for folder in folders:
        url = origin(_settings(folder) or "")
        found[(key(url) if url is not None else None) or f"{user}:{folder.uri}"] = None
    return tuple(found)


def _settings(folder: Folder) -> str | None:
    try:
        return settings_text(folder.root)
    except (OSError, RuntimeError):  # a repository of somebody else's, or nobody's home: no turn fails for it (B-8)
        return None
