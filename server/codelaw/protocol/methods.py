"""The table of requests from client to server."""

from __future__ import annotations

from dataclasses import dataclass

from codelaw.protocol import chats, contexts, events, memories, models, permissions, settings, workspaces
from codelaw.protocol.base import Params, Payload


@dataclass(frozen=True, slots=True)
class Method:
    """One request's types."""

    params: type[Params]
    result: type[Payload]
    started: type[Payload] | None = None
    """What the method's command answers at once, where the work is long; None: the same as `result`."""


METHODS: dict[str, Method] = {
    "codelaw/chat/create": Method(chats.CreateChat, chats.Chat),
    "codelaw/chat/list": Method(chats.ListChats, chats.ChatList),
    "codelaw/chat/read": Method(chats.ReadChat, events.ChatRecord),
    "codelaw/chat/send": Method(chats.SendMessage, chats.TurnResult, chats.Started),
    "codelaw/chat/steer": Method(chats.SteerTurn, chats.Steered),
    "codelaw/chat/unsteer": Method(chats.UnsteerTurn, chats.Unsteered),
    "codelaw/chat/cancel": Method(chats.ChatRef, chats.Cancelled),
    "codelaw/chat/update": Method(chats.UpdateChat, chats.Chat),
    "codelaw/chat/delete": Method(chats.ChatRef, chats.Deleted),
    "codelaw/chat/fork": Method(chats.ForkChat, chats.Chat),
    "codelaw/chat/export": Method(chats.ExportChat, chats.Export),
    "codelaw/chat/revert": Method(chats.RevertTurn, chats.Reverted),
    "codelaw/context/inspect": Method(contexts.InspectContext, contexts.ContextReport),
    "codelaw/context/compact": Method(chats.ChatRef, contexts.CompactionReport, chats.Started),
    "codelaw/context/restore": Method(contexts.RestoreContext, chats.Chat),
    "codelaw/context/archive": Method(chats.ChatRef, contexts.Archive),
    "codelaw/context/law": Method(contexts.ReadLaw, contexts.LawReport),
    "codelaw/context/mentions": Method(contexts.ListMentions, contexts.MentionList),
    "codelaw/context/editor": Method(contexts.LookAt, contexts.Looked),
    "codelaw/memory/save": Method(memories.SaveMemory, memories.Memory),
    "codelaw/memory/list": Method(memories.ListMemories, memories.MemoryList),
    "codelaw/memory/search": Method(memories.SearchMemories, memories.MemoryList),
    "codelaw/memory/update": Method(memories.UpdateMemory, memories.Memory),
    "codelaw/memory/forget": Method(memories.ForgetMemory, memories.Forgotten),
    "codelaw/memory/backfill": Method(memories.Backfill, memories.Backfilled),
    "codelaw/workspace/trust": Method(workspaces.TrustFolder, workspaces.Trust),
    "codelaw/workspace/settings": Method(workspaces.ReadWorkspaceSettings, workspaces.WorkspaceSettings),
    "codelaw/permission/list": Method(permissions.ListGrants, permissions.GrantList),
    "codelaw/permission/revoke": Method(permissions.RevokeGrant, permissions.Revoked),
    "codelaw/permission/audit": Method(permissions.Audit, permissions.AuditList),
    "codelaw/model/list": Method(models.ListModels, models.ModelList),
    "codelaw/settings/read": Method(settings.ReadSettings, settings.SettingsReport),
}
