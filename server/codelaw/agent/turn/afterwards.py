"""Questions about a command that has run: whether it may run again, and whether what it made shall come back (S-8)."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from codelaw.agent.turn.approval import Asked
from codelaw.domain.permissions import Decision
from codelaw.domain.safety.unseen import title
from codelaw.tools.base import Preview
from codelaw.tools.changing.snapshots import kept

if TYPE_CHECKING:
    from pathlib import Path

    from codelaw.agent.turn.approval import Verdict
    from codelaw.agent.turn.execution import Executor
    from codelaw.domain.messages import Call
    from codelaw.domain.results import ToolResult
    from codelaw.permissions.policy import CallFacts
    from codelaw.tools.base import Tool, ToolEnvironment

DESCRIBED = 120
"""Characters of the model's own words for a call."""


@dataclass(frozen=True, slots=True)
class Afterwards:
    """What is asked about one call that has been allowed and run."""

    executor: Executor
    call: Call
    tool: Tool[Any]
    arguments: Any
    facts: CallFacts
    about: Mapping[str, str]
    """What the record says of it."""
    decisions: list[Decision]

    async def again(
        self,
        environment: ToolEnvironment,
        failed: ToolResult,
        shut: Sequence[str],
    ) -> tuple[ToolResult, str]:
        """Ask whether a call that failed on paths which other programs obey may run again and change them (S-8).

        Gives the result that counts, and the user's words.
        """
        named = ", ".join(shut)
        why = f"It ran and failed: other programs obey {named}."
        preview = self.executor.redaction.value(await self.tool.preview(self.arguments, environment))
        heading = f"Run again what failed, and let it change {named}"
        verdict, comment = await self._ask(why, heading, preview, f"To change {named}")
        if not verdict.allowed:
            error = failed.error
            if error is not None:
                error = replace(error, message=f"{error.message} The user did not let it run again to change {named}.")
            return replace(failed, error=error), comment
        self.executor.tell(self.call, "running", decision=verdict.decision)
        opened = replace(environment, opened=(*environment.opened, *shut))
        result = await self.executor.run_it(self.call, self.tool, self.arguments, opened)
        if self.executor.recorder is not None:
            self.executor.recorder.violated(result, **self.about)
        before = f"It had run before and failed on {named}; the user let it run again and change that."
        if result.error is not None:
            return replace(result, error=replace(result.error, message=f"{before} {result.error.message}")), comment
        return replace(result, text=f"{before} {result.text}"), comment

    async def brought_back(
        self,
        environment: ToolEnvironment,
        result: ToolResult,
        aside: Mapping[str, Path],
    ) -> tuple[ToolResult, str]:
        """Ask whether what a command made under names that other programs obey shall come back (S-8).

        Gives the result that says so, and the user's words.
        """
        named = ", ".join(aside)
        processes = environment.processes
        files: dict[str, str] = {}
        for shown, place in aside.items():
            above = shown.rpartition("/")[0]
            found = await asyncio.to_thread(processes.kept_files, place)
            files |= {f"{above}/{name}".lstrip("/"): text for name, text in found.items()}
        text = "\n".join(f"{name}\n{content}".rstrip() for name, content in files.items()) or f"{named}: empty"
        preview = self.executor.redaction.value(Preview(text=text))
        why = f"It made {named}, which other programs obey and which was taken away."
        heading = f"Bring back {named}, which the command has made"
        verdict, comment = await self._ask(why, heading, preview, f"To bring back {named}")
        told = f"The user did not let {named} come back."
        if verdict.allowed:
            async with kept(shlex.join(files), environment):
                problems = [await asyncio.to_thread(processes.bring_back, place) for place in aside.values()]
            told = " ".join(filter(None, problems)) or f"The user let {named} come back."
        if result.error is not None:
            return replace(result, error=replace(result.error, message=f"{result.error.message} {told}")), comment
        return replace(result, text=f"{result.text} {told}"), comment

    async def _ask(self, why: str, heading: str, preview: Preview, detail: str) -> tuple[Verdict, str]:
        """Put a question about a command that has run, which only a person answers; gives the user's words, too."""
        decision = Decision("ask", "default", why, always_asked=True)
        self.decisions.append(decision)
        self.executor.tell(self.call, "awaiting_approval", diff=preview.diff, decision=decision)
        turn = self.executor.open
        described = title(self.tool.described(self.arguments), DESCRIBED)
        asked = Asked(self.executor.asked_title(heading), preview, described, decision)
        verdict = await self.executor.gate.ask(self.facts, self.call, asked, chat_id=turn.chat_id, turn_id=turn.id)
        self.decisions.append(verdict.decision)
        noted = "\n".join(filter(None, (detail, self.about["detail"])))
        await self.executor.recorded(self.tool, verdict.decision, verdict.by, {**self.about, "detail": noted})
        comment = self.executor.redaction.text(verdict.comment)
        if comment:
            await self.executor.notes.comment(comment)
        return verdict, comment
