"""What all requests of a session share: settings, workspace, chats and model."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from codelaw.adapters.leftovers.leftovers import Leftovers
from codelaw.adapters.processes.local import LocalProcesses
from codelaw.adapters.processes.sandbox import Sandbox
from codelaw.adapters.stores.opening import open_stores
from codelaw.adapters.workspace.disk import DiskWorkspace
from codelaw.agent.chat import turns
from codelaw.agent.chat.chat import AgentChat
from codelaw.agent.chat.leaving import TOOL, Decided, Leaving
from codelaw.agent.chat.retrieved_context import BesideGatherer, SpanLimits
from codelaw.agent.effects.interrupted import settle_interrupted
from codelaw.agent.model_calls.discreet import Discreet
from codelaw.agent.recall.embedding import Embedding
from codelaw.agent.recall.question_vectors import patience
from codelaw.agent.recall.retrieval import Retriever
from codelaw.agent.recording.history import Past
from codelaw.agent.recording.recorder import Recorder
from codelaw.agent.services import ChatServices
from codelaw.agent.turn.approval import Gate
from codelaw.app import models
from codelaw.app.chats import OpenChats
from codelaw.app.choosing.destinations import chosen, leaves, moved, sent
from codelaw.app.choosing.efforts import with_effort
from codelaw.app.embedders import CurrentEmbedder
from codelaw.app.hooking import added_to, heard_out, hooks_of, taken_back
from codelaw.app.ignoring import IgnoreNotices
from codelaw.app.indexing import code_index, embed_code
from codelaw.app.known_keys import HELD_BACK, known_keys
from codelaw.app.plans import followed_up
from codelaw.app.processing import processes_of
from codelaw.app.remembering import Memories
from codelaw.app.ruling import OUTDATED, hosts_not_kept, policy
from codelaw.app.servers.brought import BroughtServers
from codelaw.app.turns import TurnMaker
from codelaw.domain.chats import Chat, EffortChoice, Mode, Notice, Strategy
from codelaw.domain.events import NoticeEvent
from codelaw.domain.safety.redaction import Redaction
from codelaw.ports.cancelling import Cancelled, Scope, Scopes
from codelaw.settings import login_name, own_folders, process_environment

if TYPE_CHECKING:
    from codelaw.agent.inputs.turn_context import TurnInputs
    from codelaw.agent.recall.remembering import ChatMemory
    from codelaw.agent.turn.pending import Steer
    from codelaw.agent.turn.running import RunningTurn
    from codelaw.app.models import Answerer
    from codelaw.app.plans import TurnPlan, TurnRequest
    from codelaw.domain.events import ChatEvent
    from codelaw.domain.files import Folder
    from codelaw.domain.permissions import Grant
    from codelaw.ports.approver import Approver
    from codelaw.ports.editor import Editor
    from codelaw.ports.model import ChatModel
    from codelaw.ports.servers import ToolServers
    from codelaw.ports.services import LanguageServices
    from codelaw.ports.store import Stores
    from codelaw.ports.workspace import OpenDocuments
    from codelaw.settings import EffectiveSettings, Settings
    from codelaw.settings.model import Provider

_log = logging.getLogger(__name__)


class Core:
    """The state of a session; the classes built on it hold its requests, one resource each."""

    def __init__(
        self,
        *,
        settings: EffectiveSettings,
        folders: Sequence[Folder],
        documents: OpenDocuments,
        approver: Approver,
        emit: Callable[[ChatEvent], None],
        home: Path,
        editor: Editor | None = None,
        services: LanguageServices | None = None,
        tell: Callable[[Notice], None] | None = None,
        trusted: bool = True,
        servers: ToolServers | None = None,
        look_again: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._settings = settings
        self._look_again = look_again
        self._restricted = not trusted
        """The editor does not trust the folder; a turn keeps what held when it began (S-7)."""
        self._approver = approver
        self._emit = emit
        self._home = home
        self._tell = tell
        self._services = services
        self._leftovers = Leftovers(home / "running", tell)
        self._workspace = DiskWorkspace(folders, documents, editor=editor, naming=self._leftovers.writing)
        self._workspace.review = settings.value.editor.review
        self._environment = process_environment()
        own = [home, *own_folders(self._environment)]
        self._sandbox = Sandbox(self._roots, own, self._environment, editor=editor, tell=tell)
        self._processes = LocalProcesses(self._environment)
        self._redaction = Redaction(known_keys(settings.value, self._environment))
        """What is taken out of all that is said, kept and told (S-5)."""
        self._code = code_index(home, self._environment, self._redaction, trusted=trusted)
        self._user = login_name(self._environment)
        self._always: list[Grant] = []
        self._chats = OpenChats(self._open_stores, self._make_agent)
        self._servers = BroughtServers(
            self._workspace,
            self._environment,
            home,
            chats=self._chats,
            leftovers=self._leftovers,
            grants=self._always,
            servers=servers,
        )
        self._turns = TurnMaker(self._workspace, services, self._servers, self._code)
        self._scopes = Scopes()
        """Of what is about to begin, by chat."""
        self._recorder = Recorder(self._chats.store, self._redaction, self._user)
        self._ignored = IgnoreNotices()
        self._models: dict[Provider, ChatModel] = {}
        self._retired: list[ChatModel] = []
        self._embedder = CurrentEmbedder(settings.value)
        embed_code(self._code, settings.value, self._embedder.in_use.now)
        self._memory = Memories(self._workspace, self._embedder.in_use, self._user)
        self._embedding: Embedding | None = None
        """None until the store is open."""

    async def _settings_now(self) -> Settings:
        """The settings for what begins now, read again where a file has changed; refuses as `for_a_turn` (S-1)."""
        if self._look_again is not None:
            await self._look_again()
        return self._settings.for_a_turn()

    async def _open_stores(self) -> Stores:
        url = self._settings.value.store.url
        await self._leftovers.begin(url or "")
        stores = await open_stores(url, self._home / "codelaw.db", self._tell)
        await settle_interrupted(self._leftovers, stores.chats, self._workspace, self._redaction)
        for notice in stores.notices:
            _log.warning("store: %s", notice.message)
            if self._tell is not None:
                self._tell(notice)
        kept = await stores.chats.grants()
        self._always[:] = self._own(kept)
        if self._tell is not None and any(grant.outdated for grant in kept):
            self._tell(OUTDATED)
        self._embedding = Embedding(
            stores.index,
            stores.memories,
            self._embedder.in_use,
            self._tell_aside,
            whose=self._remembering(),
            shared=stores.shared,
        )
        return stores

    def _remembering(self) -> str | None:
        """Whose memories are embedded; None while memory is switched off."""
        return self._user if self._settings.value.memory.enabled else None

    def _embed_later(self, chat_id: str | None = None) -> None:
        """Let what was said be indexed and embedded in the background (B-5); None: whatever waits anywhere."""
        if self._embedding is not None:
            self._embedding.kick(chat_id)

    def _tell_aside(self, chat_id: str, notice: Notice) -> None:
        """Give a notice in a chat, whether a turn runs there or not."""
        for agent in self._chats:
            if agent.chat.id == chat_id:
                agent.outbox.tell(NoticeEvent(notice.level, notice.code, notice.message))

    async def _memory_of(self, chat_id: str | None, settings: Settings | None = None) -> ChatMemory:
        """The memory of a chat, or of none (B-6)."""
        stores = await self._chats.stores()
        return await self._memory.of(stores.memories, chat_id, settings or self._settings.value)

    async def _warm_memory(self) -> None:
        await self._memory.warm((await self._chats.stores()).memories, self._settings.value)

    async def _gatherer(
        self, agent: AgentChat | None, settings: Settings, memory: ChatMemory | None = None
    ) -> BesideGatherer:
        """Gathers what stands beside the questions of a chat, or of a new one (L-3); `memory` where it is known."""
        stores = await self._chats.stores()
        chosen = settings.retrieval
        limits = SpanLimits(chosen.top_k, chosen.radius, chosen.min_similarity, settings.memory.timeout_ms / 1000)
        if memory is None:
            memory = await self._memory_of(agent.chat.id if agent is not None else None, settings)
        past = agent.past if agent is not None else Past("", stores.chats)
        retriever = Retriever(stores.index, self._embedder.in_use.now, patience(limits.seconds), memory.attic.questions)
        return BesideGatherer(past, memory, retriever, limits)

    def _roots(self) -> list[Path]:
        return [folder.root for folder in self._workspace.folders]

    async def _settle(
        self, agent: AgentChat, mode: Mode, settings: Settings, *, restricted: bool = False
    ) -> list[Notice]:
        """Put the settings and the grants that are in force now upon the chat's next turn, and what is wrong with them.

        A turn that runs keeps what it began with: its commands stay in the sandbox under which they were allowed (S-4).
        """
        await self._arm(agent, mode, settings, restricted=restricted)
        # Another server may have given or taken some.
        self._always[:] = self._own(await (await self._chats.store()).grants())
        agent.gate.folders = {str(folder.root): folder.name for folder in self._workspace.folders}
        agent.house = replace(agent.house, memory=await self._memory_of(agent.chat.id, settings))
        folders = self._workspace.folders
        new = policy(settings, mode, self._processes, folders, restricted=restricted, all_asked=self._settings.ignoring)
        agent.gate.policy, notices = new
        notices += await self._ignored.new(folders)
        if not self._processes.keeps_to_hosts:
            notices.append(hosts_not_kept(self._processes))
        return notices

    async def _arm(self, agent: AgentChat, mode: Mode, settings: Settings, *, restricted: bool) -> None:
        """Put the processes and the hooks of those settings into a chat (S-4, X-7)."""
        self._processes = made = await processes_of(
            settings, self._environment, self._sandbox, self._workspace.folders, leftovers=self._leftovers
        )
        hooks = hooks_of(agent, settings, mode, made, restricted=restricted)
        agent.house, agent.compacting.hooks = replace(agent.house, processes=made, hooks=hooks), hooks

    def _make_agent(self, stores: Stores, chat: Chat) -> AgentChat:
        house = ChatServices(
            store=stores.chats,
            workspace=self._workspace,
            processes=self._processes,
            send=self._emit,
            services=self._services,
            redaction=self._redaction,
            recorder=self._recorder,
            embedding=self._embedding,
            held=self._leftovers,
            code=self._code,
            servers=self._servers,
            measures=self._turns.measures,
            laws=self._turns.laws,
        )
        rules, _ = policy(self._settings.value, chat.mode, self._processes, self._workspace.folders)
        gate = Gate(rules, self._approver, stores.chats, self._always, self._user, recorder=self._recorder)
        return AgentChat(chat, house, gate, self._follow)

    def _own(self, grants: Sequence[Grant]) -> list[Grant]:
        """Those that count for this person; of one that names no folder nobody knows where it would (S-1)."""
        own = (grant for grant in grants if grant.person == self._user and not grant.outdated)
        return [] if self._settings.ignoring else [*own]

    async def _follow(self, agent: AgentChat, steers: Sequence[Steer]) -> RunningTurn:
        """Start the turn that waiting steers become, in a chat that is claimed for it (R-9)."""
        settings, mode, told = await self._settings_now(), agent.chat.mode, tuple(steer.id for steer in steers)
        with self._scopes.open(agent.chat.id) as scope:
            asked = followed_up(steers, settings, mode, restricted=self._restricted)
            plan, who = None, models.answerer(settings, agent.chat)
            with suppress(Cancelled):
                plan = await scope.wait(self._plan(asked, who, agent))
                hooked = [one for steer in steers for one in steer.hooked]
                plan = replace(plan, question=added_to(plan.question, hooked))
            return await self._started(agent, asked, who, plan, scope, steers=told)

    async def _plan(self, asked: TurnRequest, who: Answerer, agent: AgentChat | None) -> TurnPlan:
        plan = await self._turns.plan(asked, who.name, self._chat_model(who.provider), agent)
        # Attachments and selections too: what they hold is stored with the question.
        clean = replace(plan, question=self._redaction.value(plan.question))
        if clean.question == plan.question and not asked.redacted:
            return plan
        return replace(clean, notices=(*clean.notices, HELD_BACK))

    async def _started(
        self,
        agent: AgentChat,
        asked: TurnRequest,
        who: Answerer,
        plan: TurnPlan | None,
        scope: Scope,
        *,
        steers: tuple[str, ...] = (),
    ) -> RunningTurn:
        """Hear the hooks, gather what stands beside the question, and start the turn.

        Without a plan, or where `scope` is cancelled meanwhile, the message is kept in a turn that ends at once (R-8).

        Raises:
            Refusal: `hook_blocked`: a hook refuses the message, or a cancel came before it could.
        """
        heard = bool(steers)  # each of those was heard when it came
        try:
            if plan is None:
                raise Cancelled  # noqa: TRY301 - one way out
            unread = await scope.wait(self._settle(agent, asked.mode, asked.settings, restricted=asked.restricted))
            if not heard:
                plan = replace(plan, question=await scope.wait(heard_out(agent, plan.question, asked.text)))
                heard = True
            inputs, told = await scope.wait(self._surrounded(agent, asked, plan))
        except Cancelled:
            if not heard and not asked.restricted:
                await agent.outbox.drain()
                taken_back(asked.settings)
            kept = plan.question if plan is not None else self._redaction.value(await self._turns.bare(asked))
            return await turns.start(agent, kept, asked.text, None, steers=steers)
        notices = [*plan.notices, *unread, *told, *self._servers.notices(agent.chat.id)]
        # Another window may have talked in the chat meanwhile: what it has said goes along (D-4).
        agent.chat = replace(agent.chat, places=(await (await self._chats.store()).chat(agent.chat.id)).places)
        leaving = self._leaving(agent, who, asked, inputs) if leaves(agent.chat, who) else None
        if leaving is None:
            self._turns.profiles.look_up(asked.settings, who.name)
            notices += moved(agent.chat, who)
            await self._keep(agent, sent(agent.chat, who))
        turn = await turns.start(agent, plan.question, asked.text, inputs, notices, leaving=leaving, steers=steers)
        scope.becomes(turn)
        return turn

    async def _surrounded(
        self, agent: AgentChat, asked: TurnRequest, plan: TurnPlan
    ) -> tuple[TurnInputs, Sequence[Notice]]:
        """What the turn runs with, and what is to be said of what stands beside its question."""
        inputs = await self._turns.settled(plan, agent, asked.settings)
        gatherer = await self._gatherer(agent, asked.settings, agent.house.memory)
        beside = await gatherer.gather(asked.text, plan.asked, inputs)
        return replace(inputs, beside=(*inputs.beside, *beside.fragments), about=beside.about), beside.notices

    def _leaving(self, agent: AgentChat, who: Answerer, asked: TurnRequest, inputs: TurnInputs) -> Leaving:
        """The question that is put before the text of a chat leaves this machine (P-4)."""

        async def decide(decided: Decided) -> Decided:
            if decided == "stay":
                self._recorder.note(
                    "call", "deny", "user", chat_id=agent.chat.id, tool=TOOL, title=f"Send to {who.host}"
                )
            if decided == "stay" or not models.answerer(asked.settings, agent.chat).host:
                changed = replace(agent.chat, model=models.OFFLINE, chosen=True)
                await self._keep(agent, sent(changed, models.answerer(asked.settings, changed)))
                return "stay"
            await self._keep(agent, sent(agent.chat, who))
            return "send"

        async def stay() -> TurnInputs:
            here = models.answerer(asked.settings, agent.chat)
            plan = await self._plan(asked, here, agent)
            settled = await self._turns.settled(plan, agent, asked.settings)
            return replace(settled, beside=inputs.beside, about=inputs.about)

        return Leaving(who.name, who.host, self._approver, decide, stay)

    def _chat_model(self, provider: Provider) -> ChatModel:
        if provider not in self._models:
            self._models[provider] = Discreet(models.make_model(self._settings.value, provider), self._redaction)
        return self._models[provider]

    def _shown(self, chat: Chat) -> Chat:
        """The chat as it is told: its model is the one that will be asked, and it is not from the future."""
        now, model = time.time(), models.answerer(self._settings.value, chat).name
        return replace(chat, model=model, created_at=min(chat.created_at, now), updated_at=min(chat.updated_at, now))

    async def _change(
        self,
        agent: AgentChat,
        *,
        title: str | None,
        mode: Mode | None,
        model: str | None,
        strategy: Strategy | None,
        effort: EffortChoice | None,
    ) -> None:
        """Change what is given. Who chooses a vendor's model for a chat has agreed that its text goes there (P-4)."""
        chat = agent.chat
        title = chat.title if title is None else title
        changed = replace(chat, title=title, mode=mode or chat.mode, strategy=strategy or chat.strategy)
        if model is not None:
            changed = chosen(self._settings.value, changed, model)
        await self._keep(agent, with_effort(self._settings.value, changed, effort, self._turns.profiles.told))

    async def _keep(self, agent: AgentChat, changed: Chat) -> None:
        """Make a changed chat durable."""
        if changed != agent.chat:
            changed = replace(changed, updated_at=time.time())
            await (await self._chats.store()).update(changed)
            agent.chat = changed
