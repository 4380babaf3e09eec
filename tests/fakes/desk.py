"""A real folder with the nine tools on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.domain.errors import ToolFailure
from codelaw.domain.files import Folder
from codelaw.domain.results import ToolResult, failure
from codelaw.tools.base import ToolEnvironment, run_tool
from codelaw.tools.freshness import Ledger
from codelaw.tools.todo_list import TodoList
from codelaw.tools.toolbox import Toolbox, default_toolbox
from tests.fakes.documents import FakeDocuments


def folder(path: Path) -> Folder:
    path.mkdir(parents=True, exist_ok=True)
    real = path.resolve()
    return Folder(real.name, real, real.as_uri())


@dataclass
class Desk:
    """`await desk("Read", path="a.py")` parses and runs as the agent does."""

    root: Path
    workspace: DiskWorkspace
    documents: FakeDocuments
    environment: ToolEnvironment
    toolbox: Toolbox = field(default_factory=default_toolbox)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def __call__(self, name: str, /, **arguments: Any) -> ToolResult:
        tool = self.toolbox.get(name)
        assert tool is not None
        try:
            args = self.toolbox.parse(tool, arguments)
        except ToolFailure as refused:
            return failure(refused.code, refused.message)
        return await run_tool(tool, args, self.environment)

    def put(self, path: str, text: str | bytes) -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode() if isinstance(text, str) else text)
        return place


def make_desk(*folders: Folder, rg: Callable[[], str | None] | None = None) -> Desk:
    documents = FakeDocuments()
    workspace = DiskWorkspace(folders, documents, rg=rg)
    results: dict[str, dict[str, Any]] = {}

    async def result(ref: str) -> dict[str, Any] | None:
        return results.get(ref)

    environment = ToolEnvironment(workspace, LocalProcesses(), Ledger(), result, TodoList())
    return Desk(folders[0].root, workspace, documents, environment, results=results)
