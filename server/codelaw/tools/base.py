"""What a tool is, what it is given, and how it is run."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from codelaw.domain.errors import ToolFailure
from codelaw.domain.permissions import PathUse
from codelaw.domain.results import ToolResult, failure
from codelaw.ports.abilities import Skills, Subagents
from codelaw.ports.code import CodeIndex
from codelaw.ports.editor import LanguageServices
from codelaw.ports.journal import Journal
from codelaw.ports.memories import Remembering
from codelaw.ports.servers import Asking, KnownServers
from codelaw.ports.workspace import OutputListener, Processes, Workspace
from codelaw.tools.bounds import bounded, shortened
from codelaw.tools.freshness import Ledger
from codelaw.tools.manual import argument_schema, remarks, signature
from codelaw.tools.paths import hint
from codelaw.tools.todo_list import TodoList
from codelaw.tools.watching import TreeWatch

Effect = Literal["read", "write", "execute", "state"]


KEPT_ARGUMENT = 100_000
"""Characters of an argument that are stored with the result: what the history demotes can be read again (C-6)."""


PATH_ARGUMENT = re.compile(r"(?:^|_)(?:paths?|files?|folders?|dirs?|director(?:y|ies)|uris?)$")
"""Names of arguments that lead to files."""


class Arguments(BaseModel):
    """Arguments of a tool: nothing unknown, nothing coerced (T-9, T-11)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


A = TypeVar("A", bound=Arguments)


def applying(**facts: object) -> dict[str, Any]:
    """Those of the facts that there is something to say of: what is false, empty or None is left out of a result."""
    return {name: value for name, value in facts.items() if value or (value == 0 and value is not False)}


def cut_result(data: dict[str, Any], text: str, *, cut: object, context: Mapping[str, Any] | None = None) -> ToolResult:
    """A success; a partial one where something was cut."""
    return ToolResult("partial" if cut else "success", data, text, context=context or {})


@dataclass(frozen=True, slots=True)
class ToolEnvironment:
    """The world of one chat's tools."""

    workspace: Workspace
    processes: Processes
    ledger: Ledger
    results: Callable[[str], Awaitable[dict[str, Any] | None]]
    """A full result by its ref, None when there is none (C-4)."""
    todos: TodoList
    withheld: bool = False
    """`workspace` leaves files out, or may, because a rule denies them to the tool (S-1)."""
    journal: Journal | None = None
    """Keeps what is changed, so that it can be undone (E-2); None outside a turn."""
    tree: TreeWatch | None = None
    """Sees what commands change beyond the files that they name (E-2)."""
    services: LanguageServices | None = None
    memory: Remembering | None = None
    """None where memory is switched off (B-6)."""
    skills: Skills | None = None
    """Those of the turn; None where there is none (X-2)."""
    code: CodeIndex | None = None
    """The index of the workspace's code (X-5)."""
    named_urls: frozenset[str] = frozenset()
    """Addresses that the user has named in the chat, as `reading/pages.spelled` spells them."""
    confirmed_in_editor: bool = False
    """The call was allowed because the user confirms it in the editor: what is not confirmed there is not made."""
    listener: OutputListener | None = None
    """Hears what a command prints while it runs."""
    asking: Asking | None = None
    """Whom a server may ask while it is called (X-3); None outside a turn."""
    servers: KnownServers | None = None
    """Those that people bring along; None where there are none (X-3)."""
    subagents: Subagents | None = None
    """Those that the turn can begin; None in a child turn, which begins none (X-4)."""
    sees: bool = False
    """The model is shown the pictures of results (M-6)."""
    call_id: str = ""
    """The call that runs."""
    opened: tuple[str, ...] = ()
    """Paths, as shown, that the user has allowed this one run to change although other programs obey them (S-8)."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What the user is shown before a call is approved, whole (S-2)."""

    diff: str | None = None
    command: str | None = None
    text: str | None = None
    """What would be done where it is neither a change of files nor a command."""


class Tool(ABC, Generic[A]):
    """One tool: its declaration is the only source of schema, manual and limits (T-10)."""

    name: str
    description: str
    arguments: type[A]
    effect: Effect
    digest: str = ""
    """Of what its server says of it, for which an answer was given (X-3); empty of tools of ours."""
    paths: ClassVar[PathUse | None] = None
    """What it does with the paths it is given, which says what rules of `Read` and `Edit` speak of it (S-1)."""

    def __init_subclass__(cls, **more: Any) -> None:
        """Refuse a tool that takes paths and does not declare what it does with them: no rule would speak of it.

        Raises:
            TypeError: `paths` is missing.
        """
        super().__init_subclass__(**more)
        arguments: type[Arguments] | None = getattr(cls, "arguments", None)
        named = [name for name in arguments.model_fields if PATH_ARGUMENT.search(name)] if arguments else []
        if named and cls.paths is None:
            raise TypeError(f"{cls.__name__} takes {', '.join(named)} and does not declare `paths`")

    def schema(self) -> Mapping[str, Any]:
        """JSON Schema of the arguments, as the model is told them: the same bytes at every call, not to be changed."""
        return argument_schema(self.arguments)

    def signature(self) -> str:
        """The arguments on one line."""
        return signature(self.schema())

    def manual(self) -> str:
        """Name and arguments, description, and below it what is said of single arguments, for a model to read (L-2)."""
        said = (f"  {argument}: {' '.join(words.split())}" for argument, words in remarks(self.schema()))
        return "\n".join([f"{self.name}[{{{self.signature()}}}]", self.description, *said])

    def invalid(self, args: A) -> Sequence[str]:  # noqa: ARG002
        """What is wrong with arguments of which their class says nothing: field, value and rule (T-9)."""
        return ()

    @abstractmethod
    def title(self, args: A) -> str:
        """What is done and to what, such as `Read src/x.py`; never the model's own words for it."""

    def described(self, args: A) -> str:  # noqa: ARG002
        """The model's own words for the call, which only accompany what it does; empty where it gives none."""
        return ""

    def asks(self, args: A) -> str:  # noqa: ARG002
        """Why the user is asked about this very call, though calls of its kind are allowed; empty where not."""
        return ""

    def asks_every_time(self, args: A) -> str:  # noqa: ARG002
        """Why nothing but a person may allow this very call, each time anew; empty where rules and answers may."""
        return ""

    def alone(self, given: Mapping[str, Any], env: ToolEnvironment) -> bool:  # noqa: ARG002
        """Whether a call with these arguments, unread, runs beside no other although the tool reads (R-4)."""
        return False

    def subject(self, args: A) -> str | None:
        """What permission rules match: the path as written, or the command (S-1)."""
        if self.paths is None:
            return None
        named = (getattr(args, name) for name in self.arguments.model_fields if PATH_ARGUMENT.search(name))
        return next((path for path in named if isinstance(path, str)), None)

    async def subjects(self, args: A, env: ToolEnvironment) -> tuple[str, ...]:  # noqa: ARG002
        """Further paths, as shown, that the call would change and that are judged like `subject`.

        Raises:
            ToolFailure: the call cannot succeed, so there is nothing to judge.
        """
        return ()

    async def preview(self, args: A, env: ToolEnvironment) -> Preview:  # noqa: ARG002
        """What would happen; changes nothing.

        Raises:
            ToolFailure: the call cannot succeed, so there is nothing to approve.
        """
        return Preview()

    def blocked(self, result: ToolResult) -> tuple[str, ...]:  # noqa: ARG002
        """Paths, as shown, that made the call fail and that an approval may open for a second run of it (S-8)."""
        return ()

    def aside(self, result: ToolResult) -> Mapping[str, Path]:  # noqa: ARG002
        """What the call made under names that other programs obey, as shown, and where it is kept by now (S-8)."""
        return {}

    async def reviewed(self, args: A, env: ToolEnvironment) -> bool:  # noqa: ARG002
        """Whether the user will confirm each part of it in the editor, so that nothing need be asked before (E-1)."""
        return False

    @abstractmethod
    async def run(self, args: A, env: ToolEnvironment) -> ToolResult:
        """Do it. Call it through `run_tool`, which completes the envelope.

        Raises:
            ToolFailure: for the model to read.
        """


AnyTool = Tool[Any]


async def run_tool(tool: AnyTool, args: Arguments, env: ToolEnvironment) -> ToolResult:
    """Run a tool and complete its envelope: `stats.time_ms`, `context`, bounds (T-1, S-6).

    A `ToolFailure` becomes an error result; any other exception is a bug and left to the caller (R-10).
    """
    started = time.perf_counter()
    try:
        result = await tool.run(args, env)
    except ToolFailure as refused:
        path = tool.subject(args) if tool.paths is not None else None
        lost = path and refused.code in {"NOT_FOUND", "ACCESS_DENIED"}
        why = hint(path, env.workspace.folders) if path and lost else ""
        result = failure(refused.code, " ".join(filter(None, (refused.message, why))))
    folders = env.workspace.folders
    given = shortened(args.model_dump(exclude_unset=True), KEPT_ARGUMENT)
    context = {"cwd": str(folders[0].root) if folders else None, "params_input": given, **result.context}
    stats = {"time_ms": round((time.perf_counter() - started) * 1000, 1), **result.stats}
    return replace(bounded(result), stats=stats, context=context)
