"""How turns begin: planned, heard out by hooks, and started, or kept as a message that was taken back (R-8, R-9)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codelaw.agent.chat import turns
from codelaw.agent.chat.leaving import TOOL, Decided, Leaving
from codelaw.app import models
from codelaw.app.choices import leaves, moved, sent
from codelaw.app.hooking import added_to, heard_out, taken_back
from codelaw.app.known_keys import HELD_BACK
from codelaw.app.plans import followed_up
from codelaw.ports.cancelling import Cancelled, Scope, Scopes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recording.recorder import Recorder
    from codelaw.agent.turn.pending import QueuedSteer
    from codelaw.agent.turn.running import TurnTask
    from codelaw.app.chat_maker import ChatMaker
    from codelaw.app.chats import OpenChats
    from codelaw.app.in_force import SettingsInForce
    from codelaw.app.models import Answerer, ChatModels
    from codelaw.app.plans import TurnPlan, TurnRequest
    from codelaw.app.recall import Recall
    from codelaw.app.servers.session_servers import SessionServers
    from codelaw.app.turns import TurnMaker
    from codelaw.domain.chats import Notice
    from codelaw.domain.safety.redaction import Redaction
    from codelaw.ports.editor import Approver


@dataclass(frozen=True, slots=True)
class Beginnings:
    """Makes turns of messages, in chats that are claimed for them."""

    settings: SettingsInForce
    opened: OpenChats
    models: ChatModels
    turns: TurnMaker
    recall: Recall
    maker: ChatMaker
    servers: SessionServers
    scopes: Scopes
    """Of what is about to begin, by chat."""
    redaction: Redaction
    recorder: Recorder
    approver: Approver

    async def follow(self, agent: AgentChat, steers: Sequence[QueuedSteer]) -> TurnTask:
        """Start the turn that waiting steers become, in a chat that is claimed for it (R-9)."""
        settings, mode, reported = await self.settings.now(), agent.chat.mode, tuple(steer.id for steer in steers)
        with self.scopes.open(agent.chat.id) as scope:
            asked = followed_up(steers, settings, mode, restricted=self.settings.restricted)
            plan, who = None, models.answerer(settings, agent.chat)
            with suppress(Cancelled):
                plan = await scope.wait(self.plan(asked, who, agent))
                hooked = [one for steer in steers for one in steer.hooked]
                plan = replace(plan, question=added_to(plan.question, hooked))
            return await self.started(agent, asked, who, plan, scope, steers=reported)

    async def plan(self, asked: TurnRequest, who: Answerer, agent: AgentChat | None) -> TurnPlan:
        plan = await self.turns.plan(asked, who.name, self.models.of(who.provider), agent)
        # Attachments and selections too: what they hold is stored with the question.
        clean = replace(plan, question=self.redaction.value(plan.question))
        if clean.question == plan.question and not asked.redacted:
            return plan
        return replace(clean, notices=(*clean.notices, HELD_BACK))

    async def started(
        self,
        agent: AgentChat,
        asked: TurnRequest,
        who: Answerer,
        plan: TurnPlan | None,
        scope: Scope,
        *,
        steers: tuple[str, ...] = (),
    ) -> TurnTask:
        """Hear the hooks, gather what stands beside the question, and start the turn.

        Without a plan, or where `scope` is cancelled meanwhile, the message is kept in a turn that ends at once (R-8).

        Raises:
            Refusal: `hook_blocked`: a hook refuses the message, or a cancel came before it could.
        """
        heard = bool(steers)  # each of those was heard when it came
        try:
            if plan is None:
                raise Cancelled  # noqa: TRY301 - one way out
            stores = await self.opened.stores()
            unread = await scope.wait(
                self.maker.settle(stores, agent, asked.mode, asked.settings, restricted=asked.restricted)
            )
            if not heard:
                plan = replace(plan, question=await scope.wait(heard_out(agent, plan.question, asked.text)))
                heard = True
            inputs, reported = await scope.wait(self._surrounded(agent, asked, plan))
        except Cancelled:
            if not heard and not asked.restricted:
                await agent.outbox.drain()
                taken_back(asked.settings)
            kept = plan.question if plan is not None else self.redaction.value(await self.turns.bare(asked))
            return await turns.start(agent, kept, asked.text, None, steers=steers)
        notices = [*plan.notices, *unread, *reported, *self.servers.notices(agent.chat.id)]
        # Another window may have talked in the chat meanwhile: what it has said goes along (D-4).
        agent.chat = replace(agent.chat, places=(await (await self.opened.store()).chat(agent.chat.id)).places)
        leaving = self._leaving(agent, who, asked, inputs) if leaves(agent.chat, who) else None
        if leaving is None:
            self.turns.profiles.look_up(asked.settings, who.name)
            notices += moved(agent.chat, who)
            await self.opened.keep(agent, sent(agent.chat, who))
        turn = await turns.start(agent, plan.question, asked.text, inputs, notices, leaving=leaving, steers=steers)
        scope.becomes(turn)
        return turn

    async def _surrounded(
        self, agent: AgentChat, asked: TurnRequest, plan: TurnPlan
    ) -> tuple[TurnInputs, Sequence[Notice]]:
        """What the turn runs with, and what is to be said of what stands beside its question."""
        inputs = await self.turns.settled(plan, agent, asked.settings)
        stores = await self.opened.stores()
        gatherer = await self.recall.gatherer(stores, agent, asked.settings, agent.house.memory)
        beside = await gatherer.gather(asked.text, plan.asked, inputs)
        return replace(inputs, beside=(*inputs.beside, *beside.fragments), about=beside.about), beside.notices

    def _leaving(self, agent: AgentChat, who: Answerer, asked: TurnRequest, inputs: TurnInputs) -> Leaving:
        """The question that is put before the text of a chat leaves this machine (P-4)."""

        async def decide(decided: Decided) -> TurnInputs | None:
            if decided == "stay":
                self.recorder.note(
                    "call", "deny", "user", chat_id=agent.chat.id, tool=TOOL, title=f"Send to {who.host}"
                )
            if decided == "stay" or not models.answerer(asked.settings, agent.chat).host:
                changed = replace(agent.chat, model=models.OFFLINE, chosen=True)
                await self.opened.keep(agent, sent(changed, models.answerer(asked.settings, changed)))
                return await stay()
            await self.opened.keep(agent, sent(agent.chat, who))
            return None

        async def stay() -> TurnInputs:
            here = models.answerer(asked.settings, agent.chat)
            plan = await self.plan(asked, here, agent)
            settled = await self.turns.settled(plan, agent, asked.settings)
            return replace(settled, beside=inputs.beside, about=inputs.about)

        return Leaving(who.name, who.host, self.approver, decide)
