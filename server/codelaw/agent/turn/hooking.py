"""What hooks say about a call before it is settled, about its result, and about an answer (X-7)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.agent.hooks.running import At
from codelaw.domain.permissions import Decision
from codelaw.domain.results import ToolResult

if TYPE_CHECKING:
    from codelaw.agent.hooks.running import Hooks
    from codelaw.agent.turn.approval import Gate
    from codelaw.domain.messages import Call
    from codelaw.permissions.policy import CallFacts
    from codelaw.tools.base import ToolEnvironment

MOST_FILES = 20
"""Named in a result."""


async def permitted(
    decision: Decision, facts: CallFacts, call: Call, *, hooks: Hooks | None, gate: Gate, step: int
) -> Decision:
    """The rules' decision about a call as hooks leave it; what rules deny, no hook is asked about.

    A deny counts, and an ask. An allow counts as a rule for the whole tool would, for this call alone: it beats no deny
    rule, no mode, none of the questions of S-8, and without a sandbox it lets no command run (S-4).
    """
    if hooks is None or decision.action == "deny":
        return decision
    about = {"tool_name": facts.tool, "tool_input": dict(call.arguments), "tool_use_id": call.id}
    said = await hooks.run("PreToolUse", facts.tool, about, At(step, call.id))
    match said.verdict:
        case "deny":
            return Decision("deny", "hook", said.reason)
        case "ask" if not decision.always_asked:
            return Decision("ask", "hook", said.reason or "A hook wants you to be asked.")
        case "allow" if decision.action == "ask":
            judged = await gate.judge(facts, also=facts.tool)
            return (
                Decision("allow", "hook", said.reason or "A hook allows it.") if judged.action == "allow" else decision
            )
        case _:
            return decision


async def commented(
    hooks: Hooks | None, call: Call, result: ToolResult, environment: ToolEnvironment, step: int
) -> ToolResult:
    """The result with what hooks say of it, and the files that they have changed (F-5)."""
    if hooks is None:
        return result
    about = {"tool_name": call.tool, "tool_input": dict(call.arguments), "tool_use_id": call.id}
    said = await hooks.run("PostToolUse", call.tool, {**about, "tool_response": result.envelope()}, At(step, call.id))
    refused = f"A hook objects: {said.reason}" if said.verdict == "deny" else ""
    told = "\n".join(filter(None, (refused, *(text for _, text in said.contexts))))
    changed = await environment.ledger.external_changes(environment.workspace) if hooks.has("PostToolUse") else []
    more = {"hook_said": told, "hook_changed": changed[:MOST_FILES]}
    news = {name: value for name, value in more.items() if value}
    return replace(result, data={**result.data, **news}) if news else result


async def held_up(hooks: Hooks | None, answer: str, step: int, *, again: bool) -> str:
    """Why hooks do not let an answer end the turn; empty where they do. `again`: they have held it up before."""
    if hooks is None:
        return ""
    about = {"stop_reason": "finished", "last_assistant_message": answer, "stop_hook_active": again}
    said = await hooks.run("Stop", "", about, At(step))
    return said.reason if said.verdict == "deny" else ""
