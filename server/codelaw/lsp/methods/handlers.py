"""The table of requests: for each its params, its result, and what answers it (V-2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from codelaw.lsp.features import actions, asking, features, proposing
from codelaw.lsp.methods import chat, law_answers, listed, workspace
from codelaw.protocol import chats, contexts, editor, extensions, memories, models, permissions, searching
from codelaw.protocol import events as wire

if TYPE_CHECKING:
    from codelaw.app.session import Session
    from codelaw.protocol.base import Params, Payload

Answer = Callable[[Any, Any], Awaitable[object]]
"""Takes the `Features` of its client and the params, and gives the result or what it copies."""


@dataclass(frozen=True, slots=True)
class Route:
    """One request."""

    params: type[Params]
    result: type[Payload]
    answer: Answer
    large: bool = False
    """Its result may be so large that it is made and spelt beside the event loop."""
    command: Answer | None = None
    """What its command does instead, where that differs: long ones only begin, and some show what they answer."""
    started: type[Payload] | None = None
    """What the command answers at once, where the work is long; None: the same as `result`."""


def _by(request: Callable[[Session], Callable[..., Awaitable[object]]]) -> Answer:
    """A request of the session answers, which takes the params by their names."""
    return lambda context, params: request(context.session)(**dict(params))


METHODS = {
    "codelaw/chat/create": Route(chats.CreateChat, chats.ChatPayload, _by(lambda session: session.chats.create)),
    "codelaw/chat/list": Route(chats.ListChats, chats.ChatList, _by(lambda session: session.chats.list), large=True),
    "codelaw/chat/read": Route(
        chats.ReadChat, wire.ChatRecordPayload, _by(lambda session: session.chats.read), large=True
    ),
    "codelaw/chat/send": Route(
        chats.SendMessage, chats.TurnResultPayload, chat.send, command=chat.start, started=chats.Started
    ),
    "codelaw/chat/steer": Route(chats.SteerTurn, chats.Steered, chat.steer),
    "codelaw/chat/picture": Route(
        chats.PictureRef, chats.PictureData, _by(lambda session: session.chats.picture), large=True
    ),
    "codelaw/chat/unsteer": Route(chats.UnsteerTurn, chats.Unsteered, _by(lambda session: session.chats.unsteer)),
    "codelaw/chat/stopCall": Route(chats.StopCall, chats.StoppedCall, _by(lambda session: session.chats.stop_call)),
    "codelaw/chat/cancel": Route(chats.ChatRef, chats.CancelledPayload, _by(lambda session: session.chats.cancel)),
    "codelaw/chat/update": Route(chats.UpdateChat, chats.ChatPayload, _by(lambda session: session.chats.update)),
    "codelaw/chat/delete": Route(chats.ChatRef, chats.Deleted, _by(lambda session: session.chats.delete)),
    "codelaw/chat/fork": Route(chats.ForkChat, chats.ChatPayload, _by(lambda session: session.records.fork)),
    "codelaw/chat/export": Route(
        chats.ExportChat, chats.Export, _by(lambda session: session.records.export), large=True
    ),
    "codelaw/chat/revert": Route(
        chats.RevertTurn,
        chats.Reverted,
        _by(lambda session: session.files.revert),
        command=chat.revert_and_show,
    ),
    "codelaw/chat/checkpoint": Route(chats.Checkpoint, chats.CheckpointState, chat.checkpoint),
    "codelaw/chat/changes": Route(chats.ChatRef, chats.ChatChanges, chat.changes, large=True),
    "codelaw/chat/reviewed": Route(
        chats.ReviewFile, chats.ReviewedFilePayload, _by(lambda session: session.files.reviewed)
    ),
    "codelaw/context/inspect": Route(
        contexts.InspectContext,
        contexts.ContextReportPayload,
        _by(lambda session: session.contexts.inspect),
        large=True,
    ),
    "codelaw/context/compact": Route(
        chats.ChatRef,
        contexts.CompactionReportPayload,
        chat.compact,
        command=chat.start_compacting,
        started=chats.Started,
    ),
    "codelaw/context/restore": Route(
        contexts.RestoreContext, chats.ChatPayload, _by(lambda session: session.contexts.restore)
    ),
    "codelaw/context/archive": Route(
        chats.ChatRef,
        contexts.Archive,
        _by(lambda session: session.contexts.archive),
        large=True,
        command=listed.show_the_archive,
    ),
    "codelaw/context/law": Route(contexts.ReadLaw, contexts.LawReportPayload, _by(lambda session: session.laws.report)),
    "codelaw/context/mentions": Route(
        contexts.ListMentions, contexts.MentionList, _by(lambda session: session.extensions.mentions)
    ),
    "codelaw/context/editor": Route(
        contexts.LookAt, contexts.LookedPayload, _by(lambda session: session.contexts.looked_at)
    ),
    "codelaw/memory/save": Route(memories.SaveMemory, memories.MemoryPayload, listed.save_memory),
    "codelaw/memory/list": Route(
        memories.ListMemories, memories.MemoryList, _by(lambda session: session.memories.list), large=True
    ),
    "codelaw/memory/search": Route(memories.SearchMemories, memories.MemoryList, listed.search_memories),
    "codelaw/memory/update": Route(
        memories.UpdateMemory, memories.MemoryPayload, _by(lambda session: session.memories.update)
    ),
    "codelaw/memory/forget": Route(
        memories.ForgetMemory, memories.Forgotten, _by(lambda session: session.memories.forget)
    ),
    "codelaw/memory/backfill": Route(
        memories.Backfill, memories.Backfilled, _by(lambda session: session.memories.backfill)
    ),
    "codelaw/workspace/trust": Route(permissions.TrustFolder, permissions.Trust, workspace.trust),
    "codelaw/workspace/settings": Route(
        permissions.ReadWorkspaceSettings, permissions.WorkspaceSettings, workspace.settings
    ),
    "codelaw/permission/list": Route(
        permissions.ListGrants,
        permissions.GrantList,
        _by(lambda session: session.permissions.grants),
        command=listed.show_the_grants,
    ),
    "codelaw/permission/revoke": Route(
        permissions.RevokeGrant, permissions.Revoked, _by(lambda session: session.permissions.revoke)
    ),
    "codelaw/permission/audit": Route(
        permissions.Audit,
        permissions.AuditList,
        _by(lambda session: session.permissions.audit),
        command=listed.show_the_audit,
    ),
    "codelaw/model/list": Route(models.ListModels, models.ModelList, listed.models),
    "codelaw/command/list": Route(
        extensions.ListCommands, extensions.CommandList, _by(lambda session: session.extensions.commands)
    ),
    "codelaw/skill/list": Route(
        extensions.ListSkills, extensions.SkillList, _by(lambda session: session.extensions.skills)
    ),
    "codelaw/agent/list": Route(
        extensions.ListAgents, extensions.AgentListPayload, _by(lambda session: session.extensions.agents)
    ),
    "codelaw/mcp/list": Route(
        extensions.ListServers,
        extensions.ServerListPayload,
        _by(lambda session: session.servers.list),
        command=listed.show_the_servers,
    ),
    "codelaw/mcp/restart": Route(
        extensions.RestartServer, extensions.Restarted, _by(lambda session: session.servers.restart)
    ),
    "codelaw/mcp/logout": Route(
        extensions.LogOutOfServer, extensions.LoggedOut, _by(lambda session: session.servers.log_out)
    ),
    "codelaw/mcp/enable": Route(
        extensions.EnableServer, extensions.ServerListPayload, _by(lambda session: session.servers.enable)
    ),
    "codelaw/mcp/decline": Route(
        extensions.DeclineServer, extensions.ServerListPayload, _by(lambda session: session.servers.decline)
    ),
    "codelaw/search": Route(searching.SearchCode, searching.FoundPlacesPayload, listed.search),
    "codelaw/index/status": Route(searching.ReadIndex, searching.IndexReport, listed.index_state),
    "codelaw/index/rebuild": Route(searching.ReadIndex, searching.IndexReport, listed.rebuild_index),
    "codelaw/settings/read": Route(models.ReadSettings, models.SettingsReport, listed.read_settings),
}
"""By name; `names.CLIENT_METHODS` are the same."""

COMMANDS = {
    "codelaw.editor.ask": Route(editor.AskInEditor, editor.Asked, asking.ask),
    "codelaw.editor.explain": Route(editor.AskInEditor, editor.Asked, asking.explain),
    "codelaw.editor.fix": Route(editor.AskInEditor, editor.Asked, asking.fix),
    "codelaw.editor.test": Route(editor.AskInEditor, editor.Asked, asking.test),
    "codelaw.editor.edit": Route(editor.EditInEditor, editor.Proposing, proposing.edit),
    "codelaw.editor.commitMessage": Route(editor.CommitMessage, editor.Proposing, proposing.commit_message),
    "codelaw.editor.proposal": Route(editor.TurnRef, editor.Proposal, proposing.proposal),
    "codelaw.chatFile.send": Route(editor.ChatFileRef, chats.Started, features.send),
    "codelaw.chatFile.stop": Route(editor.ChatFileRef, chats.CancelledPayload, features.stop),
    "codelaw.chatFile.undo": Route(editor.UndoInChatFile, editor.Undone, features.undo),
    "codelaw.chat.show": Route(editor.ShowChat, editor.Shown, features.show_chat),
}
"""The commands that are not a method's twin."""

STANDARD: dict[str, Answer] = {
    types.TEXT_DOCUMENT_HOVER: law_answers.hover,
    types.TEXT_DOCUMENT_COMPLETION: law_answers.completion,
    types.TEXT_DOCUMENT_CODE_ACTION: actions.code_actions,
    types.TEXT_DOCUMENT_CODE_LENS: actions.code_lenses,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: features.symbols,
    types.TEXT_DOCUMENT_FOLDING_RANGE: features.foldings,
    types.WORKSPACE_TEXT_DOCUMENT_CONTENT: features.content,
}
"""Of LSP itself: each takes lsprotocol's params and gives lsprotocol's result."""
