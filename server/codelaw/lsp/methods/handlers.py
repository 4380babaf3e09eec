"""All routes: those of the methods, in the order of their names, and those of the editor's commands."""

from __future__ import annotations

from codelaw.lsp.features import asking, features, proposing
from codelaw.lsp.methods import chat, context, extensions, finding, memory, permission, settings, workspace
from codelaw.lsp.methods.routing import ROUTES, Route
from codelaw.protocol import editor as wire
from codelaw.protocol.chats import Cancelled, Started
from codelaw.protocol.names import CLIENT_METHODS

MODULES = (chat, context, memory, workspace, permission, extensions, finding, settings)
"""Each adds its routes where it is imported."""
METHODS = {name: ROUTES[name] for name in CLIENT_METHODS}

COMMANDS = {
    "codelaw.editor.ask": Route(wire.AskInEditor, wire.Asked, asking.ask),
    "codelaw.editor.explain": Route(wire.AskInEditor, wire.Asked, asking.explain),
    "codelaw.editor.fix": Route(wire.AskInEditor, wire.Asked, asking.fix),
    "codelaw.editor.test": Route(wire.AskInEditor, wire.Asked, asking.test),
    "codelaw.editor.edit": Route(wire.EditInEditor, wire.Proposing, proposing.edit),
    "codelaw.editor.commitMessage": Route(wire.CommitMessage, wire.Proposing, proposing.commit_message),
    "codelaw.editor.proposal": Route(wire.TurnRef, wire.Proposal, proposing.proposal),
    "codelaw.chatFile.send": Route(wire.ChatFileRef, Started, features.send),
    "codelaw.chatFile.stop": Route(wire.ChatFileRef, Cancelled, features.stop),
    "codelaw.chatFile.undo": Route(wire.UndoInChatFile, wire.Undone, features.undo),
    "codelaw.chat.show": Route(wire.ShowChat, wire.Shown, features.show_chat),
}
"""The commands that are not a method's twin; they are answered by features."""
