"""What commands made of files that codelaw itself obeys is asked about before the next step (S-8)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from codelaw.domain.chats import Notice
from codelaw.domain.permissions import ApprovalOption, ApprovalQuestion
from codelaw.domain.safety.unseen import title
from codelaw.tools.changing.diffs import difference

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.turn.running import TurnRun
    from codelaw.domain.files import UnseenChange

TOOL = "Review"
"""What the question calls itself where a call names its tool."""
MOST = 20
"""Files of one question."""
TITLE = 200
"""Characters."""
_OPTIONS = (
    ApprovalOption("count", "Let it count", "allow_once"),
    ApprovalOption("leave", "Go on as before", "reject"),
)


async def ask_about_unseen(run: TurnRun) -> bool:
    """Ask the user about what they have not seen, each time once a turn; whether any of it counts from now on.

    Only a person answers. Where nobody does it is told, and asked again in the next turn.
    """
    if run.inputs.restricted:
        return False
    obeyed, record, recorder = run.house.workspace.obeyed, run.record, run.house.recorder
    changes = [one for one in await obeyed.unseen() if one not in run.asked][:MOST]
    if not changes:
        return False
    run.asked.update(changes)
    named = ", ".join(one.shown for one in changes)
    heading = title(f"Let {named} count as a command has left it", TITLE)
    question = ApprovalQuestion(
        chat_id=record.chat_id,
        turn_id=record.id,
        call_id=f"seen_{record.id}_{record.step}",
        tool=TOOL,
        title=heading,
        risk="write",
        options=_OPTIONS,
        diff=run.redaction.text(await asyncio.to_thread(_diff, changes)),
        always_asked=True,
        why="codelaw obeys these files, and they were changed while a command ran.",
    )
    answer = await run.gate.approver.ask(question)
    answered = answer.option_id is not None and answer.by == "user"
    accepted = answered and answer.option_id == "count"
    if recorder is not None:
        decided = "allow" if accepted else "deny"
        recorder.note("call", decided, answer.by, chat_id=record.chat_id, tool=TOOL, title=heading, detail=named)
    if answered:
        await obeyed.settle(changes, accepted=accepted)
    if not accepted:
        how = "save it yourself" if answered else "answer the question of the next turn, or save it yourself"
        message = f"What a command made of {named} does not count, and what was there before goes on to count."
        record.notice(Notice("warning", "unseen_change", f"{message} It stays on the disk; to let it count {how}."))
    return accepted


def _diff(changes: Sequence[UnseenChange]) -> str:
    """One diff of all of them."""
    return "\n".join(difference(one.before or "", one.after or "", one.shown).text or one.shown for one in changes)
