"""Requests about the standing permissions the user gave (S-2), and what trust leaves on record (S-3, S-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from codelaw.app.ruling import rule_notices
from codelaw.domain.errors import Refusal
from codelaw.domain.permissions import AuditEntry

if TYPE_CHECKING:
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.app.chats import OpenChats, StandingGrants
    from codelaw.app.in_force import SettingsInForce
    from codelaw.domain.chats import Notice
    from codelaw.domain.permissions import Grant
    from codelaw.ports.workspace import Workspace

PAGE = 100
"""Entries of the record where no limit is named."""


@dataclass(frozen=True, slots=True)
class PermissionRequests:
    """Rules: looked through. Grants: listed, revoked."""

    settings: SettingsInForce
    opened: OpenChats
    workspace: Workspace
    standing: StandingGrants
    recorder: Recorder

    async def rule_notices(self) -> list[Notice]:
        """What is wrong with the rules of the settings: those not in force, and those that can match nothing (S-1)."""
        return await asyncio.to_thread(rule_notices, self.settings.value, self.workspace.folders)

    async def grants(self) -> list[Grant]:
        """This person's for always, in every folder and from whichever server, then those of the chats."""
        stored = await self.standing.refresh(await self.opened.store())
        mine = [grant for grant in stored if grant.person == self.standing.user]
        return [*mine, *(grant for agent in self.opened for grant in agent.gate.grants)]

    async def revoke(self, grant_id: str) -> None:
        """Take a grant back; the next call of a turn that runs is asked about again.

        Raises:
            Refusal: `grant_not_found`; `grant_not_yours`: somebody else gave it.
        """
        for agent in self.opened:
            for grant in agent.gate.grants:
                if grant.id == grant_id:
                    agent.gate.grants.remove(grant)
                    self.recorder.granted(grant, agent.chat.id, "revoke")
                    return
        store = await self.opened.store()
        taken = next((grant for grant in await store.grants() if grant.id == grant_id), None)
        if not await store.revoke_grant(grant_id, self.standing.user):
            if taken is not None:
                other = taken.person
                message = f"The standing permission {grant_id} was given by {other}, and counts for {other} alone."
                raise Refusal("grant_not_yours", message, f"Only {other} can take it back.")
            message = f"There is no standing permission {grant_id}."
            raise Refusal("grant_not_found", message, "`codelaw permissions list` shows them in a terminal.")
        always = self.standing.always
        always[:] = [grant for grant in always if grant.id != grant_id]
        if taken is not None:
            self.recorder.granted(taken, "", "revoke")

    async def audit(self, chat_id: str | None, limit: int | None) -> Sequence[AuditEntry]:
        """What was decided, of a chat or of all, newest first (S-8).

        Raises:
            Refusal: `chat_not_found`.
        """
        await self.recorder.settled()
        return await (await self.opened.store()).audit(chat_id, limit or PAGE)

    def record_trust(self, folder: Path, *, trusted: bool, why: str = "") -> None:
        """Put on record that a folder is trusted, or no longer is (S-3)."""
        title = f"Trusted: {folder}" if trusted else f"No longer trusted: {folder}"
        made: Literal["trust", "withdraw"] = "trust" if trusted else "withdraw"
        self.recorder.note("trust", made, "user", title=title, rule=why, folder=str(folder))
