"""Names on the wire; no types, so that they cost nothing to import before `initialize` is answered."""

from __future__ import annotations

VERSION = 1
"""Of the whole contract; a client sends only fields of the announced version."""

CLIENT_METHODS = (
    "codelaw/chat/create",
    "codelaw/chat/list",
    "codelaw/chat/read",
    "codelaw/chat/send",
    "codelaw/chat/steer",
    "codelaw/chat/picture",
    "codelaw/chat/unsteer",
    "codelaw/chat/stopCall",
    "codelaw/chat/cancel",
    "codelaw/chat/update",
    "codelaw/chat/delete",
    "codelaw/chat/fork",
    "codelaw/chat/export",
    "codelaw/chat/revert",
    "codelaw/chat/checkpoint",
    "codelaw/chat/changes",
    "codelaw/chat/reviewed",
    "codelaw/context/inspect",
    "codelaw/context/compact",
    "codelaw/context/restore",
    "codelaw/context/archive",
    "codelaw/context/law",
    "codelaw/context/mentions",
    "codelaw/context/editor",
    "codelaw/memory/save",
    "codelaw/memory/list",
    "codelaw/memory/search",
    "codelaw/memory/update",
    "codelaw/memory/forget",
    "codelaw/memory/backfill",
    "codelaw/workspace/trust",
    "codelaw/workspace/settings",
    "codelaw/permission/list",
    "codelaw/permission/revoke",
    "codelaw/permission/audit",
    "codelaw/model/list",
    "codelaw/command/list",
    "codelaw/skill/list",
    "codelaw/agent/list",
    "codelaw/mcp/list",
    "codelaw/mcp/restart",
    "codelaw/mcp/logout",
    "codelaw/mcp/enable",
    "codelaw/mcp/decline",
    "codelaw/search",
    "codelaw/index/status",
    "codelaw/index/rebuild",
    "codelaw/settings/read",
)
"""Requests from client to server; each has a command of the same name with dots."""

BEGINNING = {
    "codelaw/chat/send": "chatId",
    "codelaw/context/compact": "chatId",
    "codelaw.chatFile.send": "uri",
    "codelaw.editor.ask": "",
    "codelaw.editor.explain": "",
    "codelaw.editor.fix": "",
    "codelaw.editor.test": "",
    "codelaw.editor.edit": "chatId",
    "codelaw.editor.commitMessage": "",
}
"""What begins a turn or a compaction, and which of its params a cancel may name before that has begun (R-8)."""
STOPPING = {"codelaw/chat/cancel": "chatId", "codelaw.chatFile.stop": "uri"}
"""What stops them, and which of its params names what is meant."""

EDITOR_TRUST = "codelaw/workspace/editorTrust"
"""A notification from client to server (S-7)."""

CHAT_EVENT = "codelaw/chat/event"
MODEL_CHANGED = "codelaw/model/changed"
APPROVAL_REQUEST = "codelaw/approval/request"
EDITOR_DIAGNOSTICS = "codelaw/editor/diagnostics"
EDITOR_DEFINITION = "codelaw/editor/definition"
EDITOR_REFERENCES = "codelaw/editor/references"
EDITOR_RENAME = "codelaw/editor/rename"
EDITOR_QUICK_FIX = "codelaw/editor/quickFix"
EDITOR_SYMBOLS = "codelaw/editor/symbols"
EDITOR_OUTLINE = "codelaw/editor/outline"
EDITOR_TERMINAL = "codelaw/editor/terminal"
EDITOR_SAVE = "codelaw/editor/save"
EDITOR_MODELS = "codelaw/editor/models"
EDITOR_MODEL = "codelaw/editor/model"
EDITOR_TOOLS = "codelaw/editor/tools"
EDITOR_TOOL = "codelaw/editor/tool"


def command_name(method: str) -> str:
    """The name of a method's twin in `workspace/executeCommand`."""
    return method.replace("/", ".")


COMMANDS = {command_name(method): method for method in CLIENT_METHODS}

EDITOR_COMMANDS = (
    "codelaw.editor.ask",
    "codelaw.editor.explain",
    "codelaw.editor.fix",
    "codelaw.editor.test",
    "codelaw.editor.edit",
    "codelaw.editor.commitMessage",
    "codelaw.editor.proposal",
    "codelaw.chatFile.send",
    "codelaw.chatFile.stop",
    "codelaw.chatFile.undo",
    "codelaw.chat.show",
)
"""Commands that are not a request's twin: what code actions and lenses run in any editor (E-3, E-4)."""
