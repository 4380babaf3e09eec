"""All routes: those of our methods in the order of their names, of the editor's commands, and of LSP itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from codelaw.lsp.features import actions, asking, documents, features, proposing
from codelaw.lsp.methods import chat, context, extensions, finding, law_answers, memory, permission, settings, workspace
from codelaw.lsp.methods.routing import ROUTES, Route
from codelaw.protocol import editor as wire
from codelaw.protocol.chats import Cancelled, Started
from codelaw.protocol.names import CLIENT_METHODS

if TYPE_CHECKING:
    from codelaw.lsp.context import Context
    from codelaw.lsp.features.features import Features

ANSWERS: dict[str, Callable[[Context, Any], Awaitable[Any]]] = {
    types.TEXT_DOCUMENT_HOVER: law_answers.hover,
    types.TEXT_DOCUMENT_COMPLETION: law_answers.completion,
}
"""Each takes lsprotocol's params and gives lsprotocol's result, as do the next."""

FEATURE_ANSWERS: dict[str, Callable[[Features, Any], Awaitable[Any]]] = {
    types.TEXT_DOCUMENT_CODE_ACTION: actions.code_actions,
    types.TEXT_DOCUMENT_CODE_LENS: actions.code_lenses,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: documents.symbols,
    types.TEXT_DOCUMENT_FOLDING_RANGE: documents.foldings,
    types.WORKSPACE_TEXT_DOCUMENT_CONTENT: documents.content,
}


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
