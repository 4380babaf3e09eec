"""What is brought to one turn: by servers, and by the editor, whose tools are one more source (X-3, P-7)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codelaw.domain.chats import Notice
from codelaw.domain.errors import ToolFailure
from codelaw.domain.served import Offer, ServedInstructions
from codelaw.ports.lending import NotLent
from codelaw.ports.servers import CALL_SECONDS
from codelaw.tools.served.names import tool_name
from codelaw.tools.served.served_tool import Served, tools_of

if TYPE_CHECKING:
    from codelaw.domain.served import ServedResult
    from codelaw.permissions.rules import Rule
    from codelaw.ports.lending import ToolLender
    from codelaw.ports.servers import Asking, ToolCaller
    from codelaw.tools.base import AnyTool

UNTOLD = "lent_tools_unknown"
"""The code of the notice that the editor does not say which tools it lends."""


@dataclass(frozen=True, slots=True)
class Brought:
    """What servers and the editor bring to one turn."""

    tools: tuple[AnyTool, ...] = ()
    instructions: tuple[ServedInstructions, ...] = ()
    """Of all servers that are ready."""
    notices: tuple[Notice, ...] = ()
    """Which are missing, so that the turn goes without them."""


class Offering:
    """The tools of one source, made anew only where its offer, or what is believed of it, has changed."""

    def __init__(self) -> None:
        self._made: tuple[Offer, frozenset[str], tuple[Served, ...]] = (Offer(), frozenset(), ())

    async def tools(
        self, offer: Offer, caller: ToolCaller, allow: Sequence[Rule], deny: Sequence[Rule]
    ) -> tuple[Served, ...]:
        """Those that no rule denies; of thousands of tools the schemas take their time."""
        return await asyncio.to_thread(self._tools, offer, caller, allow, deny)

    def _tools(
        self, offer: Offer, caller: ToolCaller, allow: Sequence[Rule], deny: Sequence[Rule]
    ) -> tuple[Served, ...]:
        reading = ((tool_name(one.server, one.name), one) for one in offer.tools if one.says_read_only)
        believed = frozenset(
            name for name, one in reading if any(rule.permits(name, None, one.digest) for rule in allow)
        )
        offered, known, tools = self._made
        if offered is not offer or known != believed:
            tools = tools_of(offer, caller, believed)
            self._made = offer, believed, tools
        return tuple(tool for tool in tools if not any(rule.forbids(tool.name, None) for rule in deny))


class LentTools:
    """The tools of the editor's extensions. Implements `ToolCaller`."""

    def __init__(self, lender: ToolLender) -> None:
        self._lender = lender
        self._offer, self._offering = Offer(), Offering()
        self._seconds = CALL_SECONDS

    async def brought(self, seconds: float, allow: Sequence[Rule], deny: Sequence[Rule]) -> Brought:
        """What the editor would lend now, and no rule denies; a call from now on may take `seconds`."""
        self._seconds = seconds
        try:
            tools = await self._lender.tools()
        except NotLent as why:
            message = f"The editor does not say which tools it lends: {why.message}"
            return Brought(notices=(Notice("warning", UNTOLD, message),))
        if tools != self._offer.tools:
            self._offer = Offer(tools)
        return Brought(await self._offering.tools(self._offer, self, allow, deny))

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any], asking: Asking) -> ServedResult:  # noqa: ARG002
        """See `ToolCaller.call`; nobody is asked meanwhile but by the editor itself."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._lender.call(tool, arguments)
        except TimeoutError:
            message = f"The editor did not answer within {self._seconds:.0f} s."
            raise ToolFailure("TIMEOUT", message, uncertain=True) from None
