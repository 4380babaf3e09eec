"""Requests about what a model is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.agent.chat.filling import fill
from codelaw.agent.chat.leaving import not_confirmed
from codelaw.agent.chat.retrieved_context import Beside
from codelaw.agent.compaction.compacting import NEVER_BEGUN
from codelaw.agent.inputs.looking import looked_at
from codelaw.app import models
from codelaw.app.choosing.destinations import leaves
from codelaw.app.core import Core
from codelaw.app.plans import TurnRequest
from codelaw.app.requests import inspection
from codelaw.app.requests.completing import completions
from codelaw.app.requests.strategy_options import applied
from codelaw.app.ruling import unreadable, visible
from codelaw.domain.brought import AgentList, Skill, UserCommand
from codelaw.domain.chats import Chat, Strategy
from codelaw.domain.checkpoints import CompactionReport
from codelaw.domain.errors import Refusal
from codelaw.domain.reports import ArchiveReport, ContextReport, LawReport, Looked, MentionItem
from codelaw.ports.cancelling import Cancelled, Scope

if TYPE_CHECKING:
    from pathlib import Path

    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.inputs.turn_context import TurnInputs


class ContextRequests(Core):
    """The context: looked into, compacted, brought back."""

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
        settings = applied(self._settings.value, strategy_options or {})
        agent = await self._chats.get(chat_id) if chat_id is not None else None
        chat = agent.chat if agent else None
        who = models.answerer(settings, chat)
        asked = TurnRequest(text or "", settings, chat.mode if chat else "agent", restricted=self._restricted)
        plan = await self._turns.plan(asked, who.name, self._chat_model(who.provider), agent, checked=False)
        inputs = self._turns.inputs(plan, chat, settings, strategy)
        beside = Beside() if agent is None or agent.opened is None else Beside(agent.opened.beside)
        if text and (agent is None or agent.opened is None):
            gatherer = await self._gatherer(agent, settings)
            beside = await gatherer.gather(text, plan.asked, inputs, used=False)
            beside = replace(beside, fragments=(*inputs.beside, *beside.fragments))
        view, report = await inspection.inspect(plan, agent, settings, inputs, beside, asked=bool(text))
        if exact:
            stays = agent is not None and leaves(agent.chat, who)
            report = await inspection.counted(view, report, inputs, stays=stays)
            self._turns.measures.learn(who.name, view, report.exact_tokens or 0)
        return self._redaction.value(report)

    async def compact(self, chat_id: str, scope: Scope | None = None) -> CompactionReport:
        """Archive all but `context.keepRounds` rounds (K-10); joins a compaction in flight.

        Cancelling the caller does not cancel it: `scope` does, `cancel` and `cancel_compaction`.
        """
        with self._scopes.open(chat_id, scope) as opened:
            agent = await self._chats.get(chat_id)
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
        settings = self._settings.value
        who = models.answerer(settings, agent.chat)
        if leaves(agent.chat, who):
            error = not_confirmed(who.name, who.host)
            raise Refusal(error.code, error.message, error.hint)
        if not agent.running_turn:
            await self._arm(agent, agent.chat.mode, settings, restricted=self._restricted)
        asked = TurnRequest("", settings, agent.chat.mode, restricted=self._restricted)
        plan = await self._turns.plan(asked, who.name, self._chat_model(who.provider), agent, checked=False)
        return self._turns.inputs(plan, agent.chat, settings)

    async def fill_cache(self, chat_id: str) -> None:
        """Fill the vendor's cache for a chat that somebody looks at after a pause, where the settings want that."""
        agent = await self._chats.get(chat_id)
        if self._settings.value.model.warm_cache and agent.idle:
            await fill(agent, await self._inputs(agent))

    async def cancel_compaction(self, chat_id: str) -> bool:
        """Stop a compaction, and only that; False when there was none. The history stays as it was (K-6).

        Raises:
            Refusal: `chat_not_found`.
        """
        agent = self._chats.at_hand(chat_id)
        if agent is None:
            await (await self._chats.store()).chat(chat_id)
            return False
        return await agent.compacting.cancel()

    async def restore(self, chat_id: str, checkpoint_id: str | None = None) -> Chat:
        """Undo a compaction, the newest without an id, and those after it (K-3).

        Raises:
            Refusal: `nothing_to_undo`; `chat_busy`: a compaction is running.
        """
        agent = await self._chats.get(chat_id)
        await agent.restore(checkpoint_id)
        return self._shown(agent.chat)

    async def archive(self, chat_id: str) -> ArchiveReport:
        """What compactions have archived, as a person reads it."""
        transcript = (await self._chats.get(chat_id)).past.transcript
        return ArchiveReport("\n\n".join(summary.content for summary in transcript.summaries), transcript.checkpoints)

    async def law(self) -> LawReport:
        """The law as it is now (L-4)."""
        settings = self._settings.value
        denied = unreadable(settings, self._workspace.folders)
        return await inspection.law_report(self._workspace, denied, settings.law.files)

    async def looked_at(self, uri: str) -> Looked:
        """Whether the model is told that the user looks at a document (L-3)."""
        return await looked_at(self._workspace, uri, unreadable(self._settings.value, self._workspace.folders))

    async def mentions(self, prefix: str, limit: int, typed_in: Path | None = None) -> list[MentionItem]:
        """Completions of an `@path` (M-4), of other mentions (M-8), and of a server's `@server:uri` (X-3)."""
        settings = self._settings.value
        found = await completions(visible(self._workspace, settings), prefix, limit, typed_in)
        around = self._turns.around(settings, None, restricted=self._restricted)
        others = await self._turns.referring.items(prefix, around, limit)
        # Where there are many files some room is left for the rest: nothing else tells of it.
        found = [*found[: max(limit - len(others), limit // 2)], *others][:limit]
        return [*found, *self._servers.mentioned(prefix, limit - len(found))]

    async def commands(self) -> list[UserCommand]:
        """The commands of the workspace and of the user, by name (X-7); behind them the prompts of servers (X-3)."""
        shown = visible(self._workspace, self._settings.value)
        found = await self._turns.bringing.commands(shown, restricted=self._restricted)
        return [*found, *self._servers.commands()]

    async def skills(self) -> list[Skill]:
        """The skills of the workspace and of the user, by name, those included that do not count (X-2)."""
        settings = self._settings.value
        shelf = await self._turns.shelf(visible(self._workspace, settings), settings, restricted=self._restricted)
        return sorted(shelf.skills, key=lambda one: (one.sheet.name.casefold(), not one.offered))

    async def agents(self) -> AgentList:
        """The kinds of subagents, those included that do not count (X-4)."""
        settings = self._settings.value
        shown = visible(self._workspace, settings)
        told = self._turns.profiles.told
        return await self._turns.agents.listed(shown, settings, restricted=self._restricted, told=told)
