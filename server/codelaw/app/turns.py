"""From the user's words and the settings to a turn that can be started."""

from __future__ import annotations

import asyncio
import platform
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.adapters.models.lent import PREFIX
from codelaw.agent.dialects.choosing import SWITCHED, DialectFacts, begun
from codelaw.agent.inputs.attachments import editor_fragment
from codelaw.agent.inputs.gathering import NOTHING_CALLED, Called, MomentFacts, UserMessage, question
from codelaw.agent.inputs.turn_context import Agents, ModelFacts, SystemFacts, TurnInputs, TurnLimits
from codelaw.agent.services import ShownLaws, TokenCalibration
from codelaw.agent.subagents.running import described
from codelaw.agent.turn.laws import find_law
from codelaw.app import choices, models
from codelaw.app.extensions.agents import BroughtAgents
from codelaw.app.extensions.commands import Bringing
from codelaw.app.extensions.finding import own_folders
from codelaw.app.extensions.skills import Shelf, SkillFinder, load_called
from codelaw.app.plans import ONCE, TurnPlan, TurnRequest, arranged, check_fit, history_settings, size_notices
from codelaw.app.profiles import Profiles
from codelaw.app.referring.referring import Around, Referring
from codelaw.app.ruling import unreadable, visible, web_of
from codelaw.app.servers.session_servers import SessionServers
from codelaw.context.system import law as laws
from codelaw.context.system.law_check import hides
from codelaw.context.system.modules import connectors, skill_index
from codelaw.domain.chats import Notice
from codelaw.domain.errors import Refusal
from codelaw.settings.places import process_environment
from codelaw.skills.commands import call
from codelaw.tools.toolbox import Toolbox, default_toolbox

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.agent.inputs.turn_context import HistorySettings
    from codelaw.domain.chats import Chat, Strategy
    from codelaw.ports.code import CodeIndex
    from codelaw.ports.editor import LanguageServices
    from codelaw.ports.model import ChatModel
    from codelaw.ports.workspace import Workspace
    from codelaw.settings.model import Settings

RESTRICTED = Notice(
    "warning",
    "restricted_mode",
    "The editor does not trust this folder: nothing is written, run or started, of its settings only the deny rules "
    "count, and its CODE_LAW.md and AGENTS.md are data and no law.",
)
HIDING = Notice(
    "warning",
    "law_hidden",
    "The law of this folder holds characters that cannot be seen, or tags that only codelaw writes. They were "
    "taken out of what the model is shown; the editor marks where they stand.",
)
LONGEST_TEXT = 1_000_000
"""Characters of one message; more is a file that belongs into the workspace (S-6)."""


class TurnMaker:
    """Makes plans and inputs for the turns of one session."""

    def __init__(
        self,
        workspace: Workspace,
        services: LanguageServices | None,
        servers: SessionServers,
        code: CodeIndex,
    ) -> None:
        self._workspace = workspace
        self._services, self._servers, self._code = services, servers, code
        self._operating_system = f"{platform.system()} {platform.machine()}"
        self.measures = TokenCalibration()
        self.profiles = Profiles()
        self.laws = ShownLaws()
        environment = process_environment()
        self._home = environment.get("HOME", "")
        self.referring = Referring(environment)
        self.bringing = Bringing(own_folders(environment, "commands", ".claude"))
        self._skills = SkillFinder(own_folders(environment, "skills", ".claude", ".agents", ".copilot"))
        self.agents = BroughtAgents(own_folders(environment, "agents", ".claude"))

    def check_text(self, text: str) -> None:
        """Refuse what is not a message (`invalid_text`)."""
        if not text.strip():
            raise Refusal("invalid_text", "The message is empty.", "Write something.")
        if len(text) > LONGEST_TEXT:
            message = f"The message has {len(text)} characters; at most {LONGEST_TEXT} are taken."
            raise Refusal("invalid_text", message, "Put the text into a file of the workspace and mention it with @.")

    async def plan(
        self, asked: TurnRequest, name: str, model: ChatModel, agent: AgentChat | None, *, checked: bool = True
    ) -> TurnPlan:
        """Gather what a turn of the model `name` works with, and check it.

        Raises:
            Refusal: `window_too_small` or `context_overflow`, before any model call (W-3, L-4, B-2); not when `checked`
                is off, for an inspection.
        """
        settings, restricted = asked.settings, asked.restricted
        if name.startswith(PREFIX):
            await self.profiles.borrow()
        mode = "ask" if restricted and asked.mode == "agent" else asked.mode
        shown, window = visible(self._workspace, settings), models.window_of(settings, name, self.profiles.reported)
        facts = self._model_facts(asked, name, window.tokens, agent)
        brought = await self._servers.brought(settings, begin=checked, restricted=restricted, agent=agent)
        shelf = await self.shelf(shown, settings, restricted=restricted)
        index = await asyncio.to_thread(skill_index, shelf.offered, facts.window)
        kinds, kind_problem = await self.agents.kinds(
            shown, settings, mode, name, restricted=restricted, reported=self.profiles.reported
        )
        offered = default_toolbox(
            bash_timeout=settings.tools.bash.timeout_seconds,
            services=frozenset() if restricted or self._services is None else self._services.offered,
            memory=settings.memory.enabled,
            code=True,
            skills=bool(shelf.offered),
            web=None if restricted else web_of(settings),
            kinds=described(kinds),
            brought=brought.tools,
        ).for_mode(mode)
        room, found_before = int(settings.tools.mcp_share * window.tokens), agent is not None and agent.finding
        toolbox = arranged(offered, facts.dialect, room, found_before=found_before, skills=index.left_out)
        system = SystemFacts(
            mode=mode,
            remembering=settings.memory.enabled,
            persona=settings.prompts.persona,
            as_text=settings.context.observations == "text",
            skills=index.text,
            connectors=connectors(brought.instructions, toolbox.servers, facts.window),
        )
        denied = unreadable(settings, self._workspace.folders)
        called = await self._called(asked, shown, shelf, agent)
        unfit = choices.problem(facts.profile, called.effort)
        looking = await editor_fragment(self._workspace, asked.editor, denied, asked.attachments)
        said = await question(asked.text, shown, self._facts, asked.attachments, looking, called=called)
        law = await find_law(self._workspace, denied, settings.law.files)
        beside = (laws.restricted(law.documents),) if restricted else ()
        law = replace(law, layer=()) if restricted else law
        by_name = {kind.name: kind for kind in kinds}
        agents = Agents(by_name, mode, settings.agents.max_steps, settings.agents.max_tokens)
        inputs = self._inputs(asked, model, facts, toolbox, system)
        inputs = replace(
            inputs,
            law=law.layer,
            beside=beside,
            skills=shelf,
            agents=agents if kinds else None,
        )
        notices = [*brought.notices, *said.notices, *law.notices, *([RESTRICTED] if restricted else [])]
        notices += [notice for notice in (shelf.problems, kind_problem) if notice is not None]
        if restricted and await asyncio.to_thread(lambda: any(hides(document.text) for document in law.documents)):
            notices.append(HIDING)
        if unfit:
            notices.append(Notice("warning", "command_problem", unfit))
        if said.pictures and (unseen := models.unseen(settings, name, self.profiles.reported)) is not None:
            notices.append(Notice("warning", "image_unseen", unseen))
        notices += size_notices(law, inputs)
        if checked:
            check_fit(said, law, inputs, window)
        once = agent.noticed if agent is not None else set[str]()
        return TurnPlan(
            inputs=inputs,
            question=said,
            notices=tuple(notice for notice in notices if notice.code not in once),
            mode=mode,
            searching=self._searches(asked) and facts.dialect.name == "native",
            effort=None if unfit else called.effort,
        )

    def _searches(self, asked: TurnRequest) -> bool:
        return asked.settings.tools.web_search and not asked.restricted

    def _model_facts(self, asked: TurnRequest, name: str, window: int, agent: AgentChat | None) -> ModelFacts:
        said_before = begun(agent.past.transcript.messages) if agent is not None else None
        switched, plain = agent is not None and SWITCHED in agent.noticed, name in self.measures.plain
        way = DialectFacts(said_before, switched=switched, searching=self._searches(asked), plain=plain)
        return models.facts_of(asked.settings, name, self.profiles.reported, way, self.measures.window(name, window))

    def _inputs(
        self,
        asked: TurnRequest,
        model: ChatModel,
        facts: ModelFacts,
        toolbox: Toolbox,
        system: SystemFacts,
    ) -> TurnInputs:
        settings, reported, turn = asked.settings, self.profiles.reported, asked.settings.turn
        history = _history(settings, facts.name)
        summing = history.summary_model or facts.name
        return TurnInputs(
            model=model,
            model_name=facts.name,
            dialect=facts.dialect,
            other=facts.other,
            toolbox=toolbox,
            limits=TurnLimits(
                facts.window, facts.reserve, turn.max_steps, turn.max_tokens, turn.timeout_seconds, output=facts.output
            ),
            system=system.sections(facts.dialect, toolbox),
            facts=system,
            settings=history,
            law_files=tuple(settings.law.files),
            restricted=asked.restricted,
            calibration=self.measures.known,
            summary_window=models.window_of(settings, summing, reported).tokens,
            summary_profile=models.profile_of(summing, reported),
            prices=facts.prices,
            caches=facts.caches,
            diagnosed=models.diagnoses(settings),
            sees=facts.sees,
            profile=facts.profile,
        )

    async def _called(self, asked: TurnRequest, shown: Workspace, shelf: Shelf, agent: AgentChat | None) -> Called:
        """What the message calls, and mentions besides files (X-2, X-3, X-7, M-8)."""
        text, settings, restricted = asked.text, asked.settings, asked.restricted
        called = await self.bringing.called(text, shown, restricted=restricted)
        if called is NOTHING_CALLED and call(text) is not None:
            left = await self.shelf(shown, settings, restricted=False) if restricted else None
            called = await load_called(shelf, text, left_out=left)
        called = await self._servers.gathered(text, called)
        return await self.referring.gathered(text, called, self.around(settings, agent, restricted=restricted))

    @property
    def _facts(self) -> MomentFacts:
        return MomentFacts(time.strftime("%Y-%m-%d", time.localtime()), self._operating_system, "bash")

    async def bare(self, asked: TurnRequest) -> UserMessage:
        """The message as it was sent, with nothing that anybody would have to be asked for."""
        return await question(
            asked.text, visible(self._workspace, asked.settings), self._facts, asked.attachments, None
        )

    def around(self, settings: Settings, agent: AgentChat | None, *, restricted: bool) -> Around:
        """Where what a message mentions is looked up (M-8)."""
        said = () if agent is None else agent.past.transcript.messages
        return Around(
            workspace=visible(self._workspace, settings),
            denied=unreadable(settings, self._workspace.folders),
            services=self._services,
            index=self._code,
            said=said if agent is None or agent.opened is None else (*said, *agent.opened.record),
            restricted=restricted,
        )

    async def shelf(self, shown: Workspace, settings: Settings, *, restricted: bool) -> Shelf:
        """The skills that there are now; `shown` is the workspace as the rules let it be read (X-2)."""
        return await self._skills.shelf(shown, settings.skills.paths, home=self._home, restricted=restricted)

    async def settled(self, plan: TurnPlan, agent: AgentChat, settings: Settings) -> TurnInputs:
        """What the turn runs with; what its plan says once in a chat counts as said.

        Raises:
            Refusal: `effort_not_taken`.
        """
        inputs = self.inputs(plan, agent.chat, settings)
        choices.check(inputs.profile, inputs.effort)
        for notice in plan.notices:
            if notice.code in ONCE:
                await agent.house.store.mark_noticed(agent.chat.id, notice.code)
                agent.noticed.add(notice.code)
        agent.finding = inputs.toolbox.deferred > 0
        return inputs

    def inputs(
        self, plan: TurnPlan, chat: Chat | None, settings: Settings, strategy: Strategy | None = None
    ) -> TurnInputs:
        """What a turn or a compaction of a chat, or of a new one, works with besides its history."""
        name = plan.inputs.model_name
        effort = choices.effort_of(settings, name, chat, plan.effort)
        return replace(plan.inputs, settings=_history(settings, name, chat, strategy), effort=effort)


def _history(
    settings: Settings, name: str, chat: Chat | None = None, strategy: Strategy | None = None
) -> HistorySettings:
    """As `history_settings`; a model of another provider sums up for itself, and for no other (P-4, P-7)."""
    history = history_settings(settings, chat, strategy)
    summing = history.summary_model
    apart = models.apart(settings, name) or (summing is not None and models.apart(settings, summing))
    return replace(history, summary_model=None) if apart else history
