"""Rename and QuickFix: changes that the editor works out, made through the same approval and undo as ours (E-6)."""

from __future__ import annotations

from abc import abstractmethod
from collections import OrderedDict
from typing import Any, TypeVar

from pydantic import Field

from codelaw.domain.code import Fix, Position, Span
from codelaw.domain.errors import ToolFailure
from codelaw.domain.results import ToolResult
from codelaw.tools.base import Arguments, Preview, Tool, ToolEnvironment
from codelaw.tools.changing.workspace_edit import EditorProposal, all_made, proposal, versions
from codelaw.tools.code.symbols import SymbolArguments, aimed, editor_uri, line_of, services_of
from codelaw.tools.paths import located

KEPT = 8
"""Proposals that wait for their approval."""
SHOWN_FIXES = 20

A = TypeVar("A", bound=Arguments)


class ProposingTool(Tool[A]):
    """A tool whose change the editor works out.

    It is asked once for each call: what is judged and shown to the user is what is made, and where a file has changed
    in between, that is a conflict.
    """

    effect = "write"
    paths = "writes"

    def __init__(self) -> None:
        self._waiting: OrderedDict[int, tuple[A, EditorProposal]] = OrderedDict()

    async def subjects(self, args: A, env: ToolEnvironment) -> tuple[str, ...]:
        """Every file that would change (S-1)."""
        return tuple(change.place.shown for change in (await self._proposal(args, env)).changes)

    async def preview(self, args: A, env: ToolEnvironment) -> Preview:
        return (await self._proposal(args, env)).preview

    async def reviewed(self, args: A, env: ToolEnvironment) -> bool:
        return all(env.workspace.reviews(change.place) for change in (await self._proposal(args, env)).changes)

    async def _proposal(self, args: A, env: ToolEnvironment) -> EditorProposal:
        known = self._waiting.get(id(args))
        if known is not None and known[0] is args:
            return known[1]
        made = await self.proposed(args, env)
        self._waiting[id(args)] = args, made
        while len(self._waiting) > KEPT:
            self._waiting.popitem(last=False)
        return made

    async def _taken(self, args: A, env: ToolEnvironment) -> EditorProposal:
        work = await self._proposal(args, env)
        self._waiting.pop(id(args), None)
        return work

    @abstractmethod
    async def proposed(self, args: A, env: ToolEnvironment) -> EditorProposal:
        """Ask the editor.

        Raises:
            ToolFailure: there is nothing to change, or it cannot be changed.
        """


class RenameArguments(SymbolArguments):
    new_name: str = Field(min_length=1, max_length=500)
    dry_run: bool = False


class Rename(ProposingTool[RenameArguments]):
    """Data: `symbol, new_name, applied, files [{path, replacements, changed_lines, diff}], dry_run?, failed?, left?`.

    `failed` is the file at which a conflict ended it, `left` those after it.
    """

    name = "Rename"
    description = (
        "Give a symbol another name wherever it is used, by the editor's language server: safer than Edit, in one call."
    )
    arguments = RenameArguments

    def title(self, args: RenameArguments) -> str:
        return f"Rename {args.symbol} to {args.new_name}"

    async def proposed(self, args: RenameArguments, env: ToolEnvironment) -> EditorProposal:
        services = services_of(env, "rename")
        seen = versions(env)
        aim = await aimed(args, env, services)
        change = await services.rename(aim.uri, aim.at, args.new_name)
        return await proposal(change, seen, env, services)

    async def run(self, args: RenameArguments, env: ToolEnvironment) -> ToolResult:
        facts = {"symbol": args.symbol, "new_name": args.new_name}
        return await all_made(await self._taken(args, env), env, facts, self.title(args), dry_run=args.dry_run)


class QuickFixArguments(Arguments):
    path: str = Field(min_length=1)
    line: int = Field(ge=1)
    title: str | None = Field(None, min_length=1, max_length=1000)
    dry_run: bool = False


class QuickFix(ProposingTool[QuickFixArguments]):
    """Data: `title, applied, files [{path, replacements, changed_lines, diff}], dry_run?, failed?, left?`."""

    name = "QuickFix"
    description = (
        "Apply a fix that the editor offers for a line with a diagnostic. Without `title` the only one, or an error "
        "that lists the titles."
    )
    arguments = QuickFixArguments

    def title(self, args: QuickFixArguments) -> str:
        return f"Fix {args.path}:{args.line}" + (f": {args.title}" if args.title else "")

    async def proposed(self, args: QuickFixArguments, env: ToolEnvironment) -> EditorProposal:
        services = services_of(env, "quickFix")
        seen = versions(env)
        place = await located(env.workspace, args.path)
        file = await env.workspace.read(place)
        start, line = line_of(file.text, args.line, place.shown)
        first: Position = services.position(file.text, start)
        span = Span(first, services.position(file.text, start + len(line)))
        fix = _chosen(list(await services.fixes(editor_uri(place, env), span)), args, place.shown)
        return await proposal(fix.change, seen, env, services, title=fix.title)

    async def run(self, args: QuickFixArguments, env: ToolEnvironment) -> ToolResult:
        work = await self._taken(args, env)
        facts: dict[str, Any] = {"title": work.title}
        return await all_made(work, env, facts, work.title, dry_run=args.dry_run)


def _chosen(fixes: list[Fix], args: QuickFixArguments, shown: str) -> Fix:
    if not fixes:
        raise ToolFailure("NOT_FOUND", f"The editor offers no fix for line {args.line} of {shown}: use Edit.")
    wanted = " ".join((args.title or "").split()).casefold()
    matching = [fix for fix in fixes if not wanted or fix.title.casefold() == wanted]
    if len(matching) == 1:
        return matching[0]
    if wanted and matching:
        return matching[0]  # offered twice, under one name
    titles = "; ".join(fix.title for fix in fixes[:SHOWN_FIXES])
    problem = f"There is no fix {args.title!r}" if wanted else "There are several fixes, so `title` must name one"
    raise ToolFailure("INVALID_PARAM", f"{problem}. Offered for line {args.line} of {shown}: {titles}.")
