"""`codelaw search`, `codelaw index` and `codelaw commit-message`: what there is in the workspace (X-5, E-3)."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Any

from codelaw.cli.client import TerminalClient
from codelaw.cli.commands.one_shot import given, list_entries, with_client
from codelaw.cli.exits import FAILED, FINISHED
from codelaw.cli.spawn import Server
from codelaw.cli.terminal import DIM, RED, Screen, one_line

Json = dict[str, Any]


def commit_message(server: Server, arguments: argparse.Namespace) -> int:
    """Print the message, and nothing else; without one say why, as exit status 1. Nobody commits."""

    async def work(client: TerminalClient, screen: Screen) -> int:
        async def run(name: str, argument: Json) -> Json:
            command = {"command": f"codelaw.editor.{name}", "arguments": [argument]}
            return await client.request("workspace/executeCommand", command)

        proposal = await run("proposal", await run("commitMessage", {}))
        if "lines" in proposal:
            screen.line("\n".join(proposal["lines"]), aside=False)
            return FINISHED
        error: Json = proposal.get("error") or {"message": proposal["said"] or "There is no message."}
        screen.line("\n".join(filter(None, (error["message"], error.get("hint")))), style=RED)
        return FAILED

    return with_client(server, arguments, work)


_LOOK_SECONDS = 0.5


def search(server: Server, arguments: argparse.Namespace) -> int:
    """Print the places that answer, one a line: `path:line` first, for people and pipes."""
    params = given(arguments, "path kind limit", 100) | {"query": " ".join(arguments.text)}
    return list_entries(
        server,
        arguments,
        ("codelaw/search", params),
        lambda answer: answer["places"],
        show=_place,
        empty="Nothing like it is in the index.",
        after=lambda answer: "" if answer["indexed"]["fresh"] else "The index is being built: ask again for more.",
    )


def _place(screen: Screen, place: Json) -> None:
    where = f"{one_line(place['path'], 4096)}:{place['range']['start']['line'] + 1}"
    what = " ".join(filter(None, (place["kind"], place.get("symbol"))))
    first = next((line.strip() for line in place["lines"] if line.strip()), "")
    screen.line(f"{where}: {one_line(what, 200)}: {one_line(first, 200)}", aside=False)


def index(server: Server, arguments: argparse.Namespace) -> int:
    """Look at every file, wait for vectors that are made, and print how the index is; `--rebuild` makes it anew first.

    Who does not want to wait stops it: what was made is kept.
    """

    async def work(client: TerminalClient, screen: Screen) -> int:
        if arguments.rebuild:
            await client.request("codelaw/index/rebuild", {})
        # A search looks at every file before it answers.
        screen.passing("looking at the files")
        while True:
            found = await client.request("codelaw/search", {"query": "index", "limit": 1})
            state = await client.request("codelaw/index/status", {})
            if found["indexed"]["fresh"]:
                break
            screen.passing(f"{state['files']} files are indexed, {state['pending']} wait")
        while state["embedding"]:
            await asyncio.sleep(_LOOK_SECONDS)
            state = await client.request("codelaw/index/status", {})
        if arguments.json:
            screen.line(json.dumps(state), aside=False)
            return FINISHED
        from codelaw.app.health import machine  # noqa: PLC0415 - a search does without

        _show(screen, state)
        for finding in await asyncio.to_thread(machine.extras):
            screen.line(f"Missing: {finding.name}. {finding.detail}", style=DIM)
        return FINISHED

    return with_client(server, arguments, work)


def _show(screen: Screen, state: Json) -> None:
    seconds = f", read in {state['seconds']:.1f} s" if state["seconds"] else ""
    screen.line(f"{state['files']} files in {state['chunks']} pieces{seconds}: {state['state']}", aside=False)
    for reason, count in state["skipped"].items():
        screen.line(f"{count} left out: {reason}", aside=False)
    if state["commits"]:
        commits = "1 commit says" if state["commits"] == 1 else f"{state['commits']} commits say"
        screen.line(f"{commits} which files a change needed", aside=False)
    if state.get("embedder"):
        screen.line(f"{state['embedded']} pieces have vectors of {one_line(state['embedder'], 200)}", aside=False)
    if state.get("note"):
        screen.line(one_line(state["note"], 1000), style=DIM)
