"""Requests about what a model is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codelaw.agent.chat.leaving import not_confirmed
from codelaw.agent.chat.retrieved_context import Beside
from codelaw.agent.chat.turns import fill
from codelaw.agent.compaction.compacting import NEVER_BEGUN
from codelaw.agent.inputs.attachments import looked_at
from codelaw.app import models
from codelaw.app.choices import leaves
from codelaw.app.in_force import applied
from codelaw.app.plans import TurnRequest
from codelaw.app.requests import inspection
from codelaw.app.ruling import unreadable
from codelaw.domain.chats import Chat, Strategy
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.errors import Refusal
from codelaw.domain.reports import ArchiveReport, ContextReport, Looked
from codelaw.ports.cancelling import Cancelled, Scope, Scopes

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.app.chat_maker import ChatMaker
    from codelaw.app.chats import OpenChats
    from codelaw.app.in_force import SettingsInForce
    from codelaw.app.models import ChatModels
    from codelaw.app.recall import Recall
    from codelaw.app.turns import TurnMaker
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Contexts:
    """The context: looked into, compacted, brought back."""

    settings: SettingsInForce
    opened: OpenChats
    workspace: Workspace
    redaction: Redaction
    turns: TurnMaker
    models: ChatModels
    recall: Recall
    maker: ChatMaker
    scopes: Scopes

    async def inspect(
        self,
        chat_id: str | None,
        text: str | None,
        *,
        strategy: Strategy | None = None,
        strategy_options: Mapping[str, float] | None = None,
        exact: bool = False,
    ) -> ContextReport:
        """What would be sent now (L-5), or with another strategy and other numbers of it; nothing is changed.

        With `exact` the vendor is asked how many tokens that is.
        """
        settings = applied(self.settings.value, strategy_options or {})
        agent = await self.opened.get(chat_id) if chat_id is not None else None
        chat = agent.chat if agent else None
        who = models.answerer(settings, chat)
        mode = chat.mode if chat else "agent"
        asked = TurnRequest(text or "", settings, mode, restricted=self.settings.restricted)
        plan = await self.turns.plan(asked, who.name, self.models.of(who.provider), agent, checked=False)
        inputs = self.turns.inputs(plan, chat, settings, strategy)
        beside = Beside() if agent is None or agent.opened is None else Beside(agent.opened.beside)
        if text and (agent is None or agent.opened is None):
            gatherer = await self.recall.gatherer(await self.opened.stores(), agent, settings)
            beside = await gatherer.gather(text, plan.asked, inputs, used=False)
            beside = replace(beside, fragments=(*inputs.beside, *beside.fragments))
        view, report = await inspection.inspect(plan, agent, settings, inputs, beside, asked=bool(text))
        if exact:
            stays = agent is not None and leaves(agent.chat, who)
            report = await inspection.counted(view, report, inputs, stays=stays)
            self.turns.measures.learn(who.name, view, report.exact_tokens or 0)
        return self.redaction.value(report)

    async def compact(self, chat_id: str, scope: Scope | None = None) -> CompactionReport:
        """Archive all but `context.keepRounds` rounds (K-10); joins a compaction in flight.

        Cancelling the caller does not cancel it: `scope` does, `cancel` and `cancel_compaction`.
        """
        with self.scopes.open(chat_id, scope) as opened:
            agent = await self.opened.get(chat_id)
            try:
                inputs = await opened.wait(self._inputs(agent))
            except Cancelled:
                return NEVER_BEGUN
            return await agent.compact(inputs, opened)

    async def _inputs(self, agent: AgentChat) -> TurnInputs:
        """What a compaction outside a turn works with.

        Raises:
            Refusal: `not_confirmed`: the chat has not left this machine, and would now.
        """
        settings = self.settings.value
        who = models.answerer(settings, agent.chat)
        if leaves(agent.chat, who):
            error = not_confirmed(who.name, who.host)
            raise Refusal(error.code, error.message, error.hint)
        if not agent.running_turn:
            await self.maker.arm(agent, agent.chat.mode, settings, restricted=self.settings.restricted)
        asked = TurnRequest("", settings, agent.chat.mode, restricted=self.settings.restricted)
        plan = await self.turns.plan(asked, who.name, self.models.of(who.provider), agent, checked=False)
        return self.turns.inputs(plan, agent.chat, settings)

    async def fill_cache(self, chat_id: str) -> None:
        """Fill the vendor's cache for a chat that somebody looks at after a pause, where the settings want that."""
        agent = await self.opened.get(chat_id)
        if self.settings.value.model.warm_cache and agent.idle:
            await fill(agent, await self._inputs(agent))

    async def cancel_compaction(self, chat_id: str) -> bool:
        """Stop a compaction, and only that; False when there was none. The history stays as it was (K-6).

        Raises:
            Refusal: `chat_not_found`.
        """
        agent = self.opened.at_hand(chat_id)
        if agent is None:
            await (await self.opened.store()).chat(chat_id)
            return False
        return await agent.compacting.cancel()

    async def restore(self, chat_id: str, checkpoint_id: str | None = None) -> Chat:
        """Undo a compaction, the newest without an id, and those after it (K-3).

        Raises:
            Refusal: `nothing_to_undo`; `chat_busy`: a compaction is running.
        """
        agent = await self.opened.get(chat_id)
        await agent.restore(checkpoint_id)
        return models.shown(self.settings.value, agent.chat)

    async def archive(self, chat_id: str) -> ArchiveReport:
        """What compactions have archived, as a person reads it."""
        transcript = (await self.opened.get(chat_id)).past.transcript
        return ArchiveReport("\n\n".join(summary.content for summary in transcript.summaries), transcript.checkpoints)

    async def looked_at(self, uri: str) -> Looked:
        """Whether the model is told that the user looks at a document (L-3)."""
        return await looked_at(self.workspace, uri, unreadable(self.settings.value, self.workspace.folders))
