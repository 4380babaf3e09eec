"""`codelaw doctor`: what is configured, where it comes from, and what works. No model is asked."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shlex
import socket
import sqlite3
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from codelaw import __version__
from codelaw.adapters.embedders.http import MODEL, OPENAI
from codelaw.adapters.embedders.local import LocalEmbedder
from codelaw.adapters.processes.sandbox import Sandbox
from codelaw.adapters.programs import find_program
from codelaw.adapters.stores import damage
from codelaw.adapters.workspace.ignore import oversized
from codelaw.adapters.workspace.search import find_rg
from codelaw.cli.client import Client, RemoteError
from codelaw.cli.commands import endpoint
from codelaw.cli.commands.one_shot import with_client
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.privileges import ROOT, is_root
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import BOLD, DIM, GREEN, RED, YELLOW, Screen
from codelaw.domain.errors import EmbeddingFailure
from codelaw.settings import WORKSPACE_FILE, home, process_environment, readable, user_file

CONNECT_SECONDS = 3.0
_PROGRAMS = {
    "rg": "searching is slower without it",
    "git": "the agent often wants it",
    "bwrap": "without it commands are locked in partly, or not at all, and blanket rules for them do not count",
}
_PACKAGES = ("pygls", "lsprotocol", "anthropic", "pydantic", "tiktoken", "websockets")
_LEVELS = {"info": "good", "warning": "lacking", "error": "broken"}
_MARKS = {"good": ("✓", GREEN), "lacking": ("!", YELLOW), "broken": ("✗", RED)}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `broken` makes the exit status 1."""

    name: str
    state: str
    """`good`, `lacking` or `broken`."""
    detail: str


def doctor(server: Server, arguments: argparse.Namespace) -> int:
    """Look at everything and print it."""

    async def work(client: Client, screen: Screen) -> int:
        read = await client.request("codelaw/settings/read", {})
        settings = read["settings"]
        folder = home(process_environment())
        findings: list[Finding] = [
            Finding("codelaw", "good", f"{__version__}, Python {platform.python_version()}, {platform.platform()}"),
            Finding("packages", "good", ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES)),
            *_problems(read["problems"]),
            await asyncio.to_thread(_folder, folder),
            *await _store(client, folder, settings),
            *await _model(client, settings, Path(arguments.workspace)),
            await _embedder(settings),
            *await asyncio.to_thread(_programs, Path(arguments.workspace)),
            await _sandbox(settings, Path(arguments.workspace)),
            *await _trust(client, Path(arguments.workspace)),
        ]
        broken = any(finding.state == "broken" for finding in findings)
        if arguments.json:
            report = {"ok": not broken, "findings": [asdict(finding) for finding in findings], "settings": settings}
            screen.line(json.dumps(report), aside=False)
        else:
            _print(screen, findings, settings, user_file(process_environment()))
        return FAILED if broken else FINISHED

    return with_client(server, arguments, work)


def _problems(notices: list[dict[str, Any]]) -> list[Finding]:
    if not notices:
        return [Finding("settings", "good", "readable, and every key is known")]
    return [Finding("settings", _LEVELS.get(notice["level"], "lacking"), notice["message"]) for notice in notices]


def _folder(folder: Path) -> Finding:
    nearest = folder
    while not nearest.exists() and nearest != nearest.parent:
        nearest = nearest.parent
    writable = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    return Finding("data folder", "good" if writable else "broken", f"{folder}{'' if writable else ' is not writable'}")


async def _store(client: Client, folder: Path, settings: dict[str, Any]) -> list[Finding]:
    """Whether it opens; of the file in the data folder also whether it is sound, and what was set aside."""
    try:
        await client.request("codelaw/chat/list", {"limit": 1})
    except RemoteError as error:
        return [Finding("store", "broken", error.told())]
    if settings.get("store.url", {}).get("value"):
        return [Finding("store", "good", "the one that store.url names opens")]
    file = folder / "codelaw.db"
    fault = await asyncio.to_thread(damage.looked_through, file)
    sound = Finding("store", "good", f"opens, and is sound (SQLite {sqlite3.sqlite_version})")
    if fault is not None:
        hint = (
            "Close every codelaw and start it again: the file is set aside then, and what can be read of it is saved."
        )
        sound = Finding("store", "broken", f"{file} is damaged: {fault}. {hint}")
    kept = "what could be read of it was saved; delete it when you miss nothing"
    aside = await asyncio.to_thread(damage.damaged_files, file)
    return [sound, *(Finding("damaged store", "lacking", f"{old} was set aside: {kept}") for old in aside)]


async def _model(client: Client, settings: dict[str, Any], workspace: Path) -> list[Finding]:
    models = (await client.request("codelaw/model/list", {}))["models"]
    current = next((model for model in models if model["current"]), None)
    if settings.get("model.provider", {}).get("value") == "scripted":
        return [await asyncio.to_thread(_script, settings.get("model.script", {}).get("value"))]
    if current is None:
        return [Finding("model", "broken", "none is configured")]
    named = f"{current['name']} by provider {current['provider']}, window {current['contextWindow']} tokens"
    configured = await asyncio.to_thread(endpoint.model_settings, workspace)
    if configured.chosen_provider != "anthropic":
        return [Finding("model", "good", named)]
    has_key = any(settings.get(key, {}).get("value") for key in ("model.apiKey", "model.authToken"))
    key = Finding("model", "good" if has_key else "lacking", named + ("" if has_key else "; no key is configured"))
    url = settings.get("model.baseUrl", {}).get("value") or endpoint.VENDOR
    answer = await endpoint.knock(configured)
    if answer.state == "broken" and (reached := await _endpoint(url)).state == "broken":
        return [key, reached]  # which knows more of why there is no connection
    findings = [key, Finding("endpoint", answer.state, f"{url} {answer.detail}")]
    other = None if answer.state == "good" else await asyncio.to_thread(endpoint.of_another_vendor, configured)
    return [*findings, Finding("model", "lacking", other)] if other is not None else findings


def _script(script: str | None) -> Finding:
    if script is not None and Path(script).is_file():
        return Finding("model", "good", f"replies of {script}, by provider scripted")
    what = "model.script names no file" if script is None else f"{script} is no file"
    return Finding("model", "broken", f"provider scripted: {what}")


async def _endpoint(url: str) -> Finding:
    """Whether the port of the endpoint answers; nothing is sent."""
    try:
        parts = urlsplit(url)
        port = parts.port or (80 if parts.scheme == "http" else 443)
    except ValueError as error:
        return Finding("endpoint", "broken", f"{url}: {error}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return Finding("endpoint", "broken", f"{url} is no address: it needs http:// or https:// and a host")
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
        writer.close()
    except OSError as error:
        return Finding("endpoint", "broken", f"{url}: {_unreachable(error, parts.hostname, port)}")
    return Finding("endpoint", "good", f"{url} answers on port {port}")


async def _embedder(settings: dict[str, Any]) -> Finding:
    """Whether texts can be embedded (B-5): a model in a folder is tried out, of an endpoint only the port is."""

    def set_to(key: str) -> Any:
        return settings.get(f"embedding.{key}", {}).get("value")

    if set_to("provider") == "openai":
        if not set_to("baseUrl") and not set_to("apiKey"):
            return Finding("embedder", "broken", "provider openai: set embedding.apiKey, or embedding.baseUrl")
        found = await _endpoint(set_to("baseUrl") or OPENAI)
        key = "" if set_to("apiKey") else "; no key is configured"
        return Finding("embedder", found.state, f"{set_to('model') or MODEL} by provider openai: {found.detail}{key}")
    if set_to("provider") == "local":
        path = set_to("path")
        embedder = LocalEmbedder(Path(path) if path else None, dimension=set_to("dimension"))
        try:
            (vector,) = await embedder.embed(["codelaw doctor"])
        except EmbeddingFailure as failure:
            return Finding("embedder", "broken", failure.message)
        finally:
            await embedder.close()
        return Finding("embedder", "good", f"the model in {path}, by provider local: {len(vector) // 4} numbers a text")
    return Finding("embedder", "good", "provider hashing, which compares words and needs no model")


def _unreachable(error: OSError, host: str, port: int) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECT_SECONDS:.0f} s; is there a proxy or a firewall?"
    if isinstance(error, socket.gaierror):
        return f"the name {host} is not known here; is the network up, and the address spelt right?"
    if isinstance(error, ConnectionRefusedError) or "Connect call failed" in str(error):
        return f"nothing listens on port {port}; is the server running?"
    return str(error)


def _programs(workspace: Path) -> list[Finding]:
    environ, folders = process_environment(), [workspace.resolve()]
    found = {name: find_program(name, environ, folders) for name in _PROGRAMS}
    found["rg"] = find_rg(folders, environ)
    too_much = oversized(folders[0])
    large = [] if too_much is None else [Finding("ignore file", "lacking", too_much)]
    if is_root():
        large.append(Finding("user", "lacking", ROOT))
    return large + [
        Finding(name, "good" if path else "lacking", path or f"not found; {_PROGRAMS[name]}")
        for name, path in found.items()
    ]


async def _sandbox(settings: dict[str, Any], workspace: Path) -> Finding:
    """What a command of the next turn would run in; tried out here as the server does."""
    if settings.get("tools.bash.sandbox", {}).get("value") == "off":
        return Finding("sandbox", "lacking", "switched off by tools.bash.sandbox; commands run with all your rights")
    sandbox = Sandbox(lambda: [workspace.resolve()], [], process_environment())
    try:
        means = await sandbox.means()
    finally:
        await sandbox.close()
    listed: bool | list[str] = settings.get("tools.bash.network", {}).get("value", False)
    network = listed if isinstance(listed, bool) else tuple(listed)
    required = settings.get("tools.bash.sandbox", {}).get("value") == "require"
    state = "good" if means.trusted else "broken" if required else "lacking"
    return Finding("sandbox", state, means.describe(network=network))


async def _trust(client: Client, workspace: Path) -> list[Finding]:
    """Whether the workspace's own settings count (S-3)."""
    files = (await client.request("codelaw/workspace/settings", {}))["files"]
    if not files:
        return [Finding("trust", "good", f"{workspace} has no {WORKSPACE_FILE}")]
    found: list[Finding] = []
    for file in files:
        name = readable(file["file"])
        if file["trusted"]:
            found.append(Finding("trust", "good", f"{name} is trusted as it is now: it counts in full"))
        elif file["values"]:
            run = f"codelaw trust {shlex.quote(file['path'])}"
            waits = f"{name} is not trusted: {', '.join(file['values'])} wait; `{run}` shows them and asks"
            found.append(Finding("trust", "lacking", waits))
        else:
            found.append(Finding("trust", "good", f"{name} only tightens, and needs no trust"))
    return found


def _print(screen: Screen, findings: list[Finding], settings: dict[str, Any], file: Path) -> None:
    for finding in findings:
        mark, style = _MARKS[finding.state]
        detail = finding.detail.replace("\n", "\n" + " " * 15)
        screen.line(f"{mark} {finding.name:<12} {detail}", aside=False, style=style)
    screen.line("", aside=False)
    screen.line(f"Settings that are not defaults (user file: {file}):", aside=False, style=BOLD)
    changed = {key: entry for key, entry in settings.items() if entry.get("origin") != "default"}
    for key, entry in sorted(changed.items()):
        origin = entry["origin"] + (f", {entry['source']}" if entry.get("source") else "")
        screen.line(f"  {key} = {json.dumps(entry['value'], ensure_ascii=False)}  ({origin})", aside=False)
    if not changed:
        screen.line("  none", aside=False, style=DIM)
