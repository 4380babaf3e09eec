"""Which function answers which method of LSP itself; their names stand in `abilities`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from codelaw.lsp.features import actions, documents
from codelaw.lsp.methods import law_answers

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
