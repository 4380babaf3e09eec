"""The commands of code actions, lenses and chat files: one table, told on the page (E-3, E-4)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lsprotocol import types
from pydantic import ValidationError

from codelaw.lsp.client import Client
from codelaw.lsp.methods import handlers
from codelaw.lsp.methods.handlers import ANSWERS, FEATURE_ANSWERS
from codelaw.lsp.server.abilities import STANDARD, abilities
from codelaw.protocol.names import COMMANDS, EDITOR_COMMANDS

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"


def test_the_names_the_types_the_handlers_and_the_page_agree() -> None:
    assert tuple(handlers.COMMANDS) == EDITOR_COMMANDS
    assert not set(EDITOR_COMMANDS) & set(COMMANDS)
    rows = re.findall(r"^\| `(codelaw(?:\.[A-Za-z]+)+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert set(rows) == set(EDITOR_COMMANDS)


def test_the_server_announces_what_it_answers() -> None:
    assert set(STANDARD) == {*ANSWERS, *FEATURE_ANSWERS}
    given = abilities(Client(actions=True, contents=True), "utf-16")
    assert given.execute_command_provider is not None
    assert set(given.execute_command_provider.commands) == {*COMMANDS, *EDITOR_COMMANDS}
    assert isinstance(given.code_action_provider, types.CodeActionOptions)
    assert given.workspace.text_document_content.schemes == ["codelaw-chat"]
    assert abilities(Client(), "utf-16").workspace.text_document_content is None


@pytest.mark.parametrize("name", sorted(handlers.COMMANDS))
def test_a_command_takes_no_unknown_field(name: str) -> None:
    with pytest.raises(ValidationError, match=r"extra_forbidden|missing"):
        handlers.COMMANDS[name].params.model_validate({"unknownField": 1})
