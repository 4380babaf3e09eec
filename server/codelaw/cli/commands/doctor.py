"""`codelaw doctor`: what is configured, where it comes from, and what works. No model is asked."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shlex
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from codelaw import __version__
from codelaw.app.health import endpoint, machine, providers
from codelaw.app.health.endpoint import Health
from codelaw.cli.client import RemoteError, TerminalClient
from codelaw.cli.commands.one_shot import with_client
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.privileges import ROOT, is_root
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import BOLD, DIM, GREEN, RED, YELLOW, Screen
from codelaw.domain.presets import PRESETS
from codelaw.domain.safety.unseen import visible_line
from codelaw.settings.places import WORKSPACE_FILE, home, process_environment, user_file
from codelaw.settings.providers import ModelGroup

_PACKAGES = ("pygls", "lsprotocol", "anthropic", "pydantic", "websockets")
_LEVELS = {"info": "good", "warning": "lacking", "error": "broken"}
_MARKS = {"good": ("✓", GREEN), "lacking": ("!", YELLOW), "broken": ("✗", RED)}


def doctor(server: Server, arguments: argparse.Namespace) -> int:
    """Look at everything and print it."""

    async def work(client: TerminalClient, screen: Screen) -> int:
        client.on_message = lambda _message: None  # the report says it
        read = await client.request("codelaw/settings/read", {})
        settings = read["settings"]
        folder, workspace = home(process_environment()), Path(arguments.workspace)
        findings: list[Health] = [
            Health("codelaw", "good", f"{__version__}, Python {platform.python_version()}, {platform.platform()}"),
            Health("packages", "good", ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES)),
            *_problems(read["problems"]),
            *await _store(client, folder, settings),
            await asyncio.to_thread(_folder, folder),
            *await _model(client, settings, workspace),
            await machine.embedder(settings),
            *await asyncio.to_thread(machine.ignore_file, workspace),
            *await asyncio.to_thread(machine.extras),
            *([Health("user", "lacking", ROOT)] if is_root() else []),
            *await asyncio.to_thread(machine.programs, workspace),
            await machine.sandbox(settings, workspace),
            *await _trust(client, workspace),
            *await _servers(client),
        ]
        broken = any(finding.state == "broken" for finding in findings)
        if arguments.json:
            report = {"ok": not broken, "findings": [asdict(finding) for finding in findings], "settings": settings}
            screen.line(json.dumps(report), aside=False)
        else:
            _print(screen, findings, settings, user_file(process_environment()))
        return FAILED if broken else FINISHED

    return with_client(server, arguments, work)


def _problems(notices: list[dict[str, Any]]) -> list[Health]:
    if not notices:
        return [Health("settings", "good", "readable, and every key is known")]
    return [Health("settings", _LEVELS.get(notice["level"], "lacking"), notice["message"]) for notice in notices]


def _folder(folder: Path) -> Health:
    nearest = next(one for one in (folder, *folder.parents) if one.exists())
    if nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK):
        return Health("data folder", "good", str(folder))
    return Health("data folder", "broken", f"{folder} is not writable")


async def _store(client: TerminalClient, folder: Path, settings: dict[str, Any]) -> list[Health]:
    """Whether it opens; of the file in the data folder also whether it is sound, and what was set aside."""
    try:
        await client.request("codelaw/chat/list", {"limit": 1})
    except RemoteError as error:
        return [Health("store", "broken", str(error))]
    if settings.get("store.url", {}).get("value"):
        return [Health("store", "good", "the one that store.url names opens")]
    return await machine.store_file(folder / "codelaw.db")


async def _model(client: TerminalClient, settings: dict[str, Any], workspace: Path) -> list[Health]:
    models = (await client.request("codelaw/model/list", {}))["models"]
    current = next((model for model in models if model["current"]), None)
    if settings.get("model.provider", {}).get("value") == "scripted":
        return [await asyncio.to_thread(_script, settings.get("model.script", {}).get("value"))]
    if current is None:
        return [Health("model", "broken", "none is configured")]
    named = f"{current['name']} by provider {current['provider']}, window {current['contextWindow']} tokens"
    configured, environ = await asyncio.to_thread(endpoint.model_settings, workspace), process_environment()
    around = [
        providers.keys(configured, environ),
        *providers.cloud(configured, environ),
        *await providers.local(configured),
    ]
    return [*await _answerer(named, current, settings, configured), *around]


async def _answerer(
    named: str, current: dict[str, Any], settings: dict[str, Any], configured: ModelGroup
) -> list[Health]:
    """Who answers, and whether its endpoint does."""
    preset = PRESETS.get(configured.chosen_provider)
    if preset is None:
        return [Health("model", "good", named)]
    platform = configured.platform if preset.name == "anthropic" else None
    has_key = platform is not None or preset.local or configured.key_of(preset.name) is not None
    key = Health("model", "good" if has_key else "lacking", named + ("" if has_key else "; no key is configured"))
    if (missing := endpoint.lacking(preset)) is not None:
        return [key, missing]
    url = settings.get("model.baseUrl", {}).get("value") or platform or configured.address_of(preset.name)
    answer = await endpoint.knock(configured, preset)
    if answer.state == "broken" and not platform and (reached := await endpoint.reached(url)).state == "broken":
        return [key, reached]  # which knows more of why there is no connection
    findings = [key, Health("endpoint", answer.state, f"{url} {answer.detail}")]
    if "retired" in current:
        ends = f"{current['name']} is ended by its maker on {current['retired']}; set model.name"
        findings.append(Health("model", "lacking", ends))
    other = None if answer.state == "good" else await asyncio.to_thread(endpoint.of_another_vendor, configured)
    return [*findings, Health("model", "lacking", other)] if other is not None else findings


def _script(script: str | None) -> Health:
    if script is not None and Path(script).is_file():
        return Health("model", "good", f"replies of {script}, by provider scripted")
    what = "model.script names no file" if script is None else f"{script} is not a file"
    return Health("model", "broken", f"provider scripted: {what}")


async def _trust(client: TerminalClient, workspace: Path) -> list[Health]:
    """Whether the workspace's own settings count (S-3)."""
    files = (await client.request("codelaw/workspace/settings", {}))["files"]
    if not files:
        return [Health("trust", "good", f"{workspace} has no {WORKSPACE_FILE}")]
    found: list[Health] = []
    for file in files:
        name = visible_line(file["file"])
        if file["trusted"]:
            found.append(Health("trust", "good", f"{name} is trusted as it is now: it counts in full"))
        elif file["values"]:
            run = f"codelaw trust {shlex.quote(file['path'])}"
            waits = f"{name} is not trusted: {', '.join(file['values'])} wait; `{run}` shows them and asks"
            found.append(Health("trust", "lacking", waits))
        else:
            found.append(Health("trust", "good", f"{name} only tightens, and needs no trust"))
    return found


async def _servers(client: TerminalClient) -> list[Health]:
    """The servers that people bring along; none is started for it (X-3)."""
    listed = await client.request("codelaw/mcp/list", {})
    problems: list[str] = listed.get("problems", [])
    found = [Health("mcp", "lacking", visible_line(problem)) for problem in problems]
    for one in listed["servers"]:
        state = "lacking" if one["state"] in {"needs_trust", "failed", "needs_auth"} else "good"
        message = f": {one['message']}" if one.get("message") else ""
        found.append(Health("mcp", state, visible_line(f"{one['name']} of {one['source']} is {one['state']}{message}")))
    return found


def _print(screen: Screen, findings: list[Health], settings: dict[str, Any], file: Path) -> None:
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
