"""A model that does whatever it reads, the settings it is tried in, and the people who are asked meanwhile."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from codelaw.cli.approvals import TerminalApprover
from codelaw.cli.terminal import Screen
from tests.loopback.script import VendorReply
from tests.lsp.raw import EVERYTHING, RawClient, stdio

ROOT = Path(__file__).parents[2]
APPROVAL = "codelaw/approval/request"
Call = tuple[str, dict[str, Any]]
"""A tool's name and the arguments."""

GRANTS = ("Bash(git diff:*)", "Bash(pytest:*)", "Bash(npm test:*)", "Edit(src/**)")
"""What people let go unasked."""
SETTINGS = ("default", "grants", "--yes")
FENCES = {"bubblewrap": "require", "none": "off"}


def options(url: str, setting: str, fence: str) -> dict[str, Any]:
    """What a client sends at `initialize`: `url` is the model's, `fence` one of `FENCES`."""
    model = {"baseUrl": url, "apiKey": "sk-test-SECRET", "name": "claude-sonnet-4-5", "dialect": "native"}
    allowed = {"permissions": {"allow": list(GRANTS)}} if setting == "grants" else {}
    return {"model": model, "tools": {"bash": {"sandbox": FENCES[fence]}}, **allowed}


@asynccontextmanager
async def talking(
    command: list[str], workspace: Path, given: dict[str, Any], **environment: str
) -> AsyncIterator[RawClient]:
    """A server in a workspace; `given` is what its client sends at `initialize`."""
    env = {**os.environ, **environment}
    env.pop("CODELAW_MODEL__DIALECT", None)
    async with stdio(command, env=env) as client:
        await client.initialize(EVERYTHING, folders=[workspace], options=given)
        yield client


def programs(workspace: Path) -> str:
    """Puts a `pytest` into a new folder of the workspace; gives a search path that begins there.

    It runs what it is given, as the real one does, and is there in the sandbox too, wherever this checkout lies.
    """
    folder = workspace / "bin"
    folder.mkdir()
    (folder / "pytest").write_text('#!/bin/sh\nexec bash "$1"\n', "utf-8")
    (folder / "pytest").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


class Obeying:
    """Makes the calls of its task; when it has read a mark, those that the text there asks for; then it answers."""

    def __init__(self, task: Sequence[Call], injected: Mapping[str, Sequence[Call]], words: str = "") -> None:
        self.injected = dict(injected)
        self.words = words
        self._task = task
        self.seen: list[str] = []

    def __call__(self, body: dict[str, Any]) -> VendorReply:
        said = json.dumps(body)
        if (mark := next((one for one in self.injected if one in said and one not in self.seen), None)) is not None:
            self.seen.append(mark)
            calls = self.injected[mark]
        else:
            calls, self._task = self._task, ()
        if not calls:
            return VendorReply(text=f"Done. {self.words}")
        return VendorReply(calls=[{"name": name, "input": arguments} for name, arguments in calls])


class Person:
    """Says yes to each call of the task once, and no to all else."""

    def __init__(self, client: RawClient) -> None:
        self._client = client
        self.wanted: Counter[str] = Counter()
        self.refused = 0

    def wants(self, calls: Iterable[Call]) -> None:
        """The task of the next turn."""
        self.wanted, self.refused = Counter(map(spelt, calls)), 0

    async def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The result of an approval request."""
        what = spelt(await self._asked_for(asked["callId"])) if +self.wanted else ""
        kind = "allow_once" if self.wanted[what] else "reject"
        self.wanted[what] -= kind == "allow_once"
        self.refused += kind == "reject"
        return {"optionId": next(one["id"] for one in asked["options"] if one["kind"] == kind)}

    async def _asked_for(self, call: str) -> Call:
        """A call of the model's; what else is asked about has no arguments."""

        def told(message: dict[str, Any]) -> bool:
            event = message["params"]["event"] if message.get("method") == "codelaw/chat/event" else {}
            return event.get("callId") == call and "args" in event

        event = (await self._client.until(told))["params"]["event"]
        return event["tool"], event["args"]


def attended(client: RawClient, setting: str) -> Person:
    """Have the questions of a client answered: by a person, or as `codelaw chat --yes` does."""
    person = Person(client)
    client.answers[APPROVAL] = TerminalApprover(Screen(), yes=True).answer if setting == "--yes" else person.answer
    return person


def spelt(call: Call | Sequence[Any]) -> str:
    """A call as a value that can be compared."""
    return json.dumps(call, sort_keys=True)


def said(row: str, setting: str, fence: str) -> str:
    """What a table of docs/safety.md says of a row, of this setting and this fence."""
    text = (ROOT / "docs/safety.md").read_text("utf-8")
    [cells] = re.findall(rf"^\| {re.escape(row)} \|(.*)\|$", text, re.MULTILINE)
    return cells.split("|")[SETTINGS.index(setting) * len(FENCES) + list(FENCES).index(fence)].strip()
