"""The commands of code actions, lenses and chat files: one table, told on the page (E-3, E-4)."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_type_hints

import pytest
from lsprotocol import types
from pydantic import ValidationError

from codelaw.app.session import Session
from codelaw.domain.chats import Choices
from codelaw.lsp.client import STANDARD, Client, abilities
from codelaw.lsp.methods import handlers
from codelaw.protocol.enclosed import StrategyOptions
from codelaw.protocol.names import COMMANDS, EDITOR_COMMANDS
from codelaw.settings.model import ContextGroup, Group, RetrievalGroup

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"


def test_the_names_the_types_the_handlers_and_the_page_agree() -> None:
    assert tuple(handlers.COMMANDS) == EDITOR_COMMANDS
    assert not set(EDITOR_COMMANDS) & set(COMMANDS)
    rows = re.findall(r"^\| `(codelaw(?:\.[A-Za-z]+)+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert set(rows) == set(EDITOR_COMMANDS)


def test_the_server_announces_what_it_answers() -> None:
    assert set(STANDARD) == set(handlers.STANDARD)
    given = abilities(Client(actions=True, contents=True), "utf-16")
    assert given.execute_command_provider is not None
    assert set(given.execute_command_provider.commands) == {*COMMANDS, *EDITOR_COMMANDS}
    assert isinstance(given.code_action_provider, types.CodeActionOptions)
    assert given.workspace.text_document_content.schemes == ["codelaw-chat"]
    assert abilities(Client(), "utf-16").workspace.text_document_content is None


class Asked:
    """Stands for a session, and then for one of its resources: says what is called, and by which names."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __getattr__(self, name: str) -> Asked:
        return Asked(*self.names, name)

    def __call__(self, **given: object) -> tuple[tuple[str, ...], set[str]]:
        return self.names, set(given)


@pytest.mark.parametrize("name", sorted(handlers.METHODS))
def test_a_request_of_the_session_takes_the_params_by_their_names(name: str) -> None:
    route = handlers.METHODS[name]
    if not route.answer.__qualname__.startswith("_by"):
        return
    context = cast("Any", SimpleNamespace(session=Asked()))
    (resource, request), given = cast(
        "Any", route.answer(context, route.params.model_construct(**dict.fromkeys(route.params.model_fields)))
    )
    signature = inspect.signature(getattr(get_type_hints(Session)[resource], request))
    taken = set(signature.parameters) | (set(Choices.__annotations__) if "choices" in signature.parameters else set())
    assert given <= taken
    assert {name for name, one in signature.parameters.items() if one.default is one.empty} <= given | {
        "self",
        "choices",
    }


@pytest.mark.parametrize("name", sorted(handlers.COMMANDS))
def test_a_command_takes_no_unknown_field(name: str) -> None:
    with pytest.raises(ValidationError, match=r"extra_forbidden|missing"):
        handlers.COMMANDS[name].params.model_validate({"unknownField": 1})


BOUNDS = ("type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def numbers(model: type[Group | StrategyOptions]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, spec in model.model_json_schema()["properties"].items():
        for option in spec.get("anyOf", [spec]):
            if option.get("type") in {"integer", "number"}:
                found[name] = {bound: option[bound] for bound in BOUNDS if bound in option}
    return found


def test_the_numbers_of_strategies_are_those_of_the_settings():
    """With their bounds (B-1)."""
    assert not numbers(ContextGroup).keys() & numbers(RetrievalGroup).keys()
    assert numbers(StrategyOptions) == numbers(ContextGroup) | numbers(RetrievalGroup)
    assert len(numbers(StrategyOptions)) == len(StrategyOptions.model_fields)
