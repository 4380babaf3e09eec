"""What a message mentions besides files and resources, looked up when it comes (M-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codelaw.app.referring import history, symbols, terminal
from codelaw.context.mentions import Reference, can_be_mentioned, references
from codelaw.domain.chats import Notice
from codelaw.domain.events import Mention, MentionKind
from codelaw.domain.messages import Fragment
from codelaw.domain.reports import MentionItem

if TYPE_CHECKING:
    from codelaw.agent.inputs.gathering import Called
    from codelaw.domain.messages import Message
    from codelaw.permissions.policy import Denied
    from codelaw.ports.code import CodeIndex
    from codelaw.ports.editor import LanguageServices
    from codelaw.ports.workspace import Workspace

MOST = 5
"""Looked up for one message; others stay unresolved."""
PATIENCE = 20.0
"""Seconds for all of them."""
COMPLETING_SECONDS = 1.5
"""For the symbols that complete what is typed."""
LEFT_OUT = "mention_left_out"
UNREADY = "the index of the code is still being made; send it again in a moment."
SPECIALS = (
    ("problems:", "what the editor reports"),
    ("git:diff", "what is changed since the last commit"),
    ("terminal:last", "the last output of a terminal"),
    ("symbol:", "a function, a class, … by its name"),
    ("git:", "a commit, by its name"),
)
"""What is offered when an `@` is typed, and what each is."""


@dataclass(frozen=True, slots=True)
class Around:
    """Where what a message mentions is looked up."""

    workspace: Workspace
    """Without what the rules deny."""
    denied: Denied | None
    services: LanguageServices | None
    index: CodeIndex
    said: Sequence[Message] = ()
    """What was said in the chat, its commands among it."""
    restricted: bool = False
    """The editor does not trust the folder: no program is started, and the editor's are not asked (S-7)."""


class Referring:
    """Looks mentions up; `environment` is that of this process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    async def gathered(self, text: str, called: Called, around: Around) -> Called:
        """With what the message mentions: fragments, mentions, and notices where something is there and not shown."""
        named = references(text)
        if not named:
            return called
        looked: list[Fragment | str | None] = [None] * len(named)
        uris: dict[Reference, str] = {}
        try:
            async with asyncio.timeout(PATIENCE):
                for at, reference in enumerate(named[:MOST]):
                    looked[at] = await self._looked_up(reference, around, uris)
        except TimeoutError:
            looked = ["there was no answer in time." if one is None else one for one in looked]
        mentions = [
            Mention(one.path, _kind(one, found), uris.get(one)) for one, found in zip(named, looked, strict=True)
        ]
        reported = [
            Notice("warning", LEFT_OUT, f"@{one.path} was left out: {found}")
            for one, found in zip(named, looked, strict=True)
            if isinstance(found, str)
        ]
        if len(named) > MOST:
            reported.append(
                Notice("warning", LEFT_OUT, f"Only the first {MOST} of {len(named)} such mentions are shown.")
            )
        return replace(
            called,
            fragments=(*called.fragments, *(one for one in looked if isinstance(one, Fragment))),
            mentions=(*called.mentions, *mentions),
            notices=(*called.notices, *reported),
        )

    async def _looked_up(
        self, reference: Reference, around: Around, uris: dict[Reference, str]
    ) -> Fragment | str | None:
        """What a mention brings; a sentence that says why it brings nothing; None: there is no such thing."""
        services = None if around.restricted else around.services
        match reference.kind:
            case "symbol":
                places = await symbols.defined(reference.name, around.workspace, services, around.index)
                if not places:
                    return UNREADY if around.index.state().status == "building" else None
                uris[reference] = places[0].uri
                return symbols.fragment(reference.name, places)
            case "problems":
                return await terminal.problems(around.workspace, services)
            case "terminal":
                return await terminal.last_output(services, around.said)
            case "git":
                if around.restricted:
                    return "the editor does not trust this folder, so that git is not run."
                return await history.reported(reference.name, around.workspace, around.denied, self._environment)

    async def items(self, prefix: str, around: Around, limit: int) -> Sequence[MentionItem]:
        """Completions of what is typed behind an `@`: the kinds, and names of symbols behind `symbol:`."""
        typed = prefix.removeprefix("@").removeprefix('"')
        kind, colon, name = typed.partition(":")
        if kind != "symbol" or not colon:
            begun = typed.casefold()
            return [MentionItem(path, "special", reported) for path, reported in SPECIALS if path.startswith(begun)][
                :limit
            ]
        if not name:
            return []
        found = await symbols.by_index(
            name, around.workspace, around.index, limit, begun=True, seconds=COMPLETING_SECONDS
        )
        items: dict[str, MentionItem] = {}
        for one in found:
            path = f"symbol:{one.name}"
            if can_be_mentioned(path):
                items.setdefault(path, MentionItem(path, "symbol", f"{one.kind}, {one.path}:{one.first}"))
        return list(items.values())


def _kind(reference: Reference, found: Fragment | str | None) -> MentionKind:
    if not isinstance(found, Fragment):
        return "unresolved"
    return "symbol" if reference.kind == "symbol" else "special"
