"""From the user's words and the settings to a turn that can be started."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from codelaw.agent.dialects.choosing import SWITCHED, Way, begun
from codelaw.agent.inputs.gathering import NOTHING_CALLED, Facts, Question, question
from codelaw.agent.inputs.kinds import Agents
from codelaw.agent.inputs.law_files import Law, find_law
from codelaw.agent.inputs.looking import editor_fragment
from codelaw.agent.inputs.many_tools import arranged
from codelaw.agent.inputs.measures import Measures
from codelaw.agent.inputs.shown_laws import NoLaw, ShownLaws, TurnLaw
from codelaw.agent.inputs.subagents import described
from codelaw.agent.inputs.turn_context import HistorySettings, Limits, SystemFacts, TurnInputs
from codelaw.app import models
from codelaw.app.bringing import Bringing, own_places
from codelaw.app.brought.agents import BroughtAgents, own_agents
from codelaw.app.brought.skills import Shelf, Skills, load_called, own_skills
from codelaw.app.choosing import efforts
from codelaw.app.plans import Asked, Plan
from codelaw.app.processing import web_of
from codelaw.app.profiles import Profiles
from codelaw.app.referring.referring import Around, Referring
from codelaw.app.ruling import unreadable, visible
from codelaw.app.servers.brought import BroughtServers
from codelaw.context.system.law import LARGE_SHARE, names_of
from codelaw.context.system.law_check import hides
from codelaw.context.system.modules import connectors, skill_index
from codelaw.context.tokens import estimate, guard
from codelaw.domain.chats import Mode, Notice
from codelaw.domain.errors import Refusal
from codelaw.domain.messages import Fragment
from codelaw.settings.places import process_environment
from codelaw.skills.commands import call
from codelaw.tools.toolbox import default_toolbox
from codelaw.transcript.repair.hygiene import turn_limit

if TYPE_CHECKING:
    from codelaw.agent.chat.chat import AgentChat
    from codelaw.domain.chats import Chat, Strategy
    from codelaw.domain.requests import EditorState, Enclosed
    from codelaw.ports.code import CodeIndex
    from codelaw.ports.model import ChatModel
    from codelaw.ports.services import LanguageServices
    from codelaw.ports.workspace import Workspace
    from codelaw.settings import Settings

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


def history_settings(settings: Settings, chat: Chat) -> HistorySettings:
    """What keeps the history of `chat` inside the window."""
    context = settings.context
    return HistorySettings(
        threshold=context.threshold,
        keep_rounds=context.keep_rounds,
        min_messages=context.min_messages,
        low_water=context.low_water,
        summary_model=context.summary_model,
        summary_seconds=context.summary_timeout_seconds,
        economy=context.economy,
        index_tokens=context.index_tokens,
        history_limit=turn_limit(chat.kind, chat.id, context.history_limits),
        strategy=chat.strategy,
        recent_min=context.recent_min,
        recent_max=context.recent_max,
        window_rounds=context.window,
        rolling_summary=context.summary,
        summarise_above=context.summarise_above,
        total_budget=context.total_budget,
        shares=context.shares,
        retrieval_share=settings.retrieval.share,
        pin=pinned(settings, chat.strategy),
        compress_results=context.compress_results,
        as_text=context.observations == "text",
        cache_ttl=settings.model.cache_ttl,
    )


def pinned(settings: Settings, strategy: Strategy) -> bool:
    """Whether the goal is pinned: by the setting, and for the sliding window unless the user said no (L-7)."""
    context = settings.context
    return context.pin or (strategy == "sliding-window" and "pin" not in context.model_fields_set)


class TurnMaker:
    """Makes plans and inputs for the turns of one session."""

    def __init__(
        self,
        workspace: Workspace,
        services: LanguageServices | None,
        servers: BroughtServers,
        code: CodeIndex,
    ) -> None:
        self._workspace = workspace
        self._services, self._servers, self._code = services, servers, code
        self._operating_system = f"{platform.system()} {platform.machine()}"
        self.measures = Measures()
        self.profiles = Profiles()
        self.laws = ShownLaws()
        environment = process_environment()
        self._home = environment.get("HOME", "")
        self.referring = Referring(environment)
        self.bringing = Bringing(own_places(environment))
        self._skills = Skills(own_skills(environment))
        self.agents = BroughtAgents(own_agents(environment))

    def check_text(self, text: str) -> None:
        """Refuse what is not a message (`invalid_text`)."""
        if not text.strip():
            raise Refusal("invalid_text", "The message is empty.", "Write something.")
        if len(text) > LONGEST_TEXT:
            message = f"The message has {len(text)} characters; at most {LONGEST_TEXT} are taken."
            raise Refusal("invalid_text", message, "Put the text into a file of the workspace and mention it with @.")

    async def plan(
        self,
        *,
        text: str,
        settings: Settings,
        name: str,
        mode: Mode,
        attachments: Sequence[Enclosed],
        editor: EditorState | None,
        agent: AgentChat | None,
        checked: bool = True,
        restricted: bool = False,
    ) -> Plan:
        """Gather and check; `restricted` where the editor does not trust the folder (S-7).

        Raises:
            Refusal: `window_too_small` or `context_overflow`, before any model call (W-3, L-4, B-2); not when `checked`
                is off, for an inspection.
        """
        told = self.profiles.told
        services = None if restricted else self._services
        offered = services.offered if services is not None else frozenset[str]()
        mode = "ask" if restricted and mode == "agent" else mode
        brought = await self._servers.brought(settings, begin=checked, restricted=restricted, agent=agent)
        shown = visible(self._workspace, settings)
        shelf = await self.shelf(shown, settings, restricted=restricted)
        profile = models.profile_of(name, told)
        window = models.window_of(settings, name, told)
        tokens = self.measures.window(name, window.tokens)
        said_before = begun(agent.past.transcript.messages) if agent is not None else None
        switched = agent is not None and SWITCHED in agent.noticed
        searching = settings.tools.web_search and not restricted
        way = Way(said_before, switched=switched, searching=searching, plain=name in self.measures.plain)
        dialect, other = models.dialects(settings, name, told, way)
        index = await asyncio.to_thread(skill_index, shelf.offered, tokens)
        kinds, kind_problems = await self.agents.kinds(shown, settings, mode, name, restricted=restricted, told=told)
        toolbox = arranged(
            default_toolbox(
                bash_timeout=settings.tools.bash.timeout_seconds,
                services=offered,
                memory=settings.memory.enabled,
                code=True,
                skills=bool(shelf.offered),
                web=None if restricted else web_of(settings),
                kinds=described(kinds),
                brought=brought.tools,
            ).for_mode(mode),
            dialect,
            int(settings.tools.mcp_share * window.tokens),
            found_before=agent is not None and agent.finding,
            skills=index.left_out,
        )
        said = connectors(brought.instructions, toolbox.servers, tokens)
        limits = Limits(
            tokens,
            models.reserve_of(settings, name, tokens, told),
            settings.turn.max_steps,
            settings.turn.max_tokens,
            settings.turn.timeout_seconds,
            output=models.output_of(settings, name, tokens, told),
        )
        facts = SystemFacts(
            mode=mode,
            remembering=settings.memory.enabled,
            persona=settings.prompts.persona,
            as_text=settings.context.observations == "text",
            skills=index.text,
            connectors=said,
        )
        system = facts.sections(dialect, toolbox)
        denied = unreadable(settings, self._workspace.folders)
        looking = await editor_fragment(self._workspace, editor, denied, attachments)
        called = await self.bringing.called(text, shown, restricted=restricted)
        if called is NOTHING_CALLED and call(text) is not None:
            left = await self.shelf(shown, settings, restricted=False) if restricted else None
            called = await load_called(shelf, text, left_out=left)
        unfit = efforts.problem(profile, called.effort)
        called = await self._servers.gathered(text, called)
        around = self.around(settings, agent, restricted=restricted)
        called = await self.referring.gathered(text, called, around)
        asked = await question(text, shown, self._facts, attachments, looking, called=called)
        law, beside = await find_law(self._workspace, denied, settings.law.files), tuple[Fragment, ...]()
        if restricted:
            law, beside = replace(law, layer=()), (restricted(law.documents),)
        notices = [*brought.notices, *asked.notices, *law.notices, *([RESTRICTED] if restricted else [])]
        notices += [notice for notice in (shelf.problems, kind_problems) if notice is not None]
        if restricted and await asyncio.to_thread(lambda: any(hides(document.text) for document in law.documents)):
            notices.append(HIDING)
        if unfit:
            notices.append(Notice("warning", "command_problem", unfit))
        if law.tokens > LARGE_SHARE * limits.window:
            take = f"{names_of(law.documents)} {'take' if len(law.documents) > 1 else 'takes'}"
            message = f"{take} about {law.tokens} tokens, over a tenth of the window of {limits.window}."
            notices.append(Notice("warning", "law_large", message))
        if asked.pictures and (unseen := models.unseen(settings, name, told)) is not None:
            notices.append(Notice("warning", "image_unseen", unseen))
        size = guard(limits.window)
        if size == "warn":
            message = f"The window has only {limits.window} tokens; below 32000 long tasks suffer."
            notices.append(Notice("warning", "window_small", message))
        if profile is not None and profile.retired:
            ends = f"{name} is ended by its maker on {profile.retired}: choose another model before that."
            notices.append(Notice("warning", "model_retired", ends))
        if checked:
            if size == "block":
                raise Refusal(
                    "window_too_small",
                    f"The window has {limits.window} tokens (from {window.source}); at least 16000 are needed.",
                    "Choose a model with a larger window, or correct model.contextWindow or context.maxWindow.",
                )
            self._check_fit(asked, law, sum(section.tokens for section in system), limits)
        once = agent.noticed if agent is not None else set[str]()
        fresh = tuple(notice for notice in notices if notice.code not in once)
        return Plan(
            model_name=name,
            mode=mode,
            dialect=dialect,
            other=other,
            toolbox=toolbox,
            limits=limits,
            system=system,
            facts=facts,
            law=law,
            question=asked,
            notices=fresh,
            beside=beside,
            restricted=restricted,
            skills=shelf,
            searching=searching and dialect.name == "native",
            effort=None if unfit else called.effort,
            agents=Agents(kinds, mode, settings.agents.max_steps, settings.agents.max_tokens) if kinds else None,
        )

    @property
    def _facts(self) -> Facts:
        return Facts(time.strftime("%Y-%m-%d", time.localtime()), self._operating_system, "bash")

    async def bare(self, asked: Asked) -> Question:
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

    async def settled(self, plan: Plan, agent: AgentChat, model: ChatModel, settings: Settings) -> TurnInputs:
        """What the turn runs with; what its plan says once in a chat counts as said.

        Raises:
            Refusal: `effort_not_taken`.
        """
        profile = models.profile_of(plan.model_name, self.profiles.told)
        efforts.check(profile, efforts.effort_of(settings, plan.model_name, agent.chat, plan.effort))
        for notice in plan.notices:
            if notice.code in {"window_small", "law_large", "skill_problem", "agent_problem", "model_retired"}:
                await agent.house.store.mark_noticed(agent.chat.id, notice.code)
                agent.noticed.add(notice.code)

        agent.finding = plan.toolbox.deferred > 0
        return self.inputs(plan, agent.chat, model, settings)

    def inputs(self, plan: Plan, chat: Chat, model: ChatModel, settings: Settings) -> TurnInputs:
        """What a turn or a compaction of a chat works with, besides its history."""
        laws, denied = NoLaw if plan.restricted else TurnLaw, unreadable(settings, self._workspace.folders)
        summing, told = settings.context.summary_model or plan.model_name, self.profiles.told
        profile = models.profile_of(plan.model_name, told)
        return TurnInputs(
            model=model,
            model_name=plan.model_name,
            dialect=plan.dialect,
            other=plan.other,
            toolbox=plan.toolbox,
            limits=plan.limits,
            system=plan.system,
            laws=laws(self._workspace, denied, settings.law.files, chat, self.laws),
            law=plan.law.layer,
            calibration=self.measures.known,
            summary_window=models.window_of(settings, summing, told).tokens,
            summary_profile=models.profile_of(summing, told),
            settings=history_settings(settings, chat),
            prices=models.prices(plan.model_name),
            caches=models.caches(plan.model_name, told),
            ttls=() if profile is None else profile.ttls,
            diagnosed=models.diagnoses(settings),
            skills=plan.skills,
            agents=plan.agents,
            facts=plan.facts,
            sees=models.sees(settings, plan.model_name, told),
            profile=profile,
            effort=efforts.effort_of(settings, plan.model_name, chat, plan.effort),
        )

    def _check_fit(self, asked: Question, law: Law, system: int, limits: Limits) -> None:
        typed = estimate(asked.content) + sum(estimate(fragment.text) for fragment in asked.fragments)
        typed += sum(one.image.tokens for one in asked.pictures)
        needed = typed + law.tokens + system + limits.reserve
        if needed > limits.window:
            raise Refusal(
                "context_overflow",
                f"The message (about {typed} tokens), the system prompt ({system}), "
                f"{names_of(law.documents)} ({law.tokens}) and the reserve for the answer ({limits.reserve}) do not "
                f"fit into the window of {limits.window}.",
                "Shorten the message or the law, or choose a model with a larger window.",
            )
