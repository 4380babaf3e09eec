from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from codelaw.domain import events as domain
from codelaw.domain.errors import RefusalCode
from codelaw.lsp.methods.handlers import METHODS
from codelaw.lsp.methods.schema import schema
from codelaw.protocol import events as wire
from codelaw.protocol.base import field_errors
from codelaw.protocol.chats import ChatList, Started
from codelaw.protocol.names import CLIENT_METHODS, COMMANDS
from codelaw.settings.effective import load_settings
from codelaw.settings.schema import settings_schema

PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"


def refs(node: Any) -> set[str]:
    """Every `$ref` in a schema."""
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(refs(value) for value in node.values()))
    return set().union(*(refs(item) for item in node)) if isinstance(node, list) else set()


def test_the_table_the_names_and_the_handlers_agree() -> None:
    assert [*METHODS] == [*CLIENT_METHODS]
    assert COMMANDS["codelaw.chat.send"] == "codelaw/chat/send"


def test_every_reference_of_the_schema_leads_somewhere() -> None:
    document = schema()
    assert refs(document) <= {f"#/$defs/{name}" for name in document["$defs"]}
    assert set(document["methods"]) == set(CLIENT_METHODS)
    assert document["refusals"] == list(get_args(RefusalCode))


def test_the_schema_says_what_is_left_out_and_what_may_be_null() -> None:
    definitions = schema()["$defs"]
    chat, result = definitions["Chat"], definitions["TurnResult"]
    assert "running" in chat["required"]
    assert {"type": "null"} in chat["properties"]["running"]["anyOf"]
    assert "error" not in result["required"]
    assert result["properties"]["error"] == {"$ref": "#/$defs/TurnError"}
    assert definitions["Thought"]["required"] == ["delta", "step", "kind"]
    assert definitions["SendMessage"]["required"] == ["text"]
    assert definitions["SendMessage"]["additionalProperties"] is False


def test_names_on_the_wire_are_camel_case() -> None:
    for definition in schema()["$defs"].values():
        for name in definition.get("properties", {}):
            assert re.fullmatch(r"[a-z]+([A-Z][a-z]*)*", name), name


def test_an_optional_field_is_left_out_and_a_nullable_one_is_null() -> None:
    assert Started(chat_id="c", turn_id=None).wire() == {"chatId": "c", "turnId": None}
    assert ChatList(chats=[]).wire() == {"chats": []}
    assert ChatList(chats=[], next_cursor="n").wire() == {"chats": [], "nextCursor": "n"}


def test_a_field_that_the_value_lacks_must_be_given() -> None:
    mention = domain.Mention("a.py", "file")
    assert wire.MentionPayload.of(mention, reminded=True).wire() == {"path": "a.py", "kind": "file", "reminded": True}
    with pytest.raises(ValidationError, match="reminded"):
        wire.MentionPayload.of(domain.AnswerDelta("", 1), path="a.py", kind="file")


def test_every_event_of_the_domain_has_a_wire_type() -> None:
    kinds = {event.__dataclass_fields__["kind"].default for event in get_args(domain.Event)}
    wired = {member.model_fields["kind"].default for member in get_args(get_args(wire.Event)[0])}
    assert kinds == wired


@pytest.mark.parametrize("name", sorted(METHODS))
def test_params_take_no_unknown_field(name: str) -> None:
    with pytest.raises(ValidationError) as refused:
        METHODS[name].params.model_validate({"unknownField": 1})
    assert {"path": "unknownField", "message": "Unknown field"} in field_errors(refused.value)


CHAT: dict[str, Any] = {"chatId": "c"}
SENT: dict[str, Any] = {"text": "a"}
SHOWN: dict[str, Any] = {"uri": "file:///a"}
TURN: dict[str, Any] = {"chatId": "c", "turnId": "t"}


@pytest.mark.parametrize(
    ("method", "params", "path"),
    [
        ("chat/send", {}, "text"),
        ("chat/send", {"text": 7}, "text"),
        ("chat/send", SENT | {"mode": "wild"}, "mode"),
        ("chat/send", SENT | {"attachments": [{"uri": "x", "range": 1}]}, "attachments[0].range"),
        ("chat/send", SENT | {"attachments": [{"kind": "video", "data": ""}]}, "attachments[0]"),
        ("chat/send", SENT | {"attachments": [{"kind": "image", "data": "", "uri": "x"}]}, "attachments[0].uri"),
        ("chat/send", SENT | {"attachments": [{"kind": "text", "title": "", "text": "a"}]}, "attachments[0].title"),
        ("chat/send", SENT | {"editor": SHOWN | {"cursor": {"line": -1, "character": 0}}}, "editor.cursor.line"),
        ("chat/send", SENT | {"editor": SHOWN | {"version": "7"}}, "editor.version"),
        ("chat/list", {"limit": "10"}, "limit"),
        ("chat/list", {"limit": 0}, "limit"),
        ("chat/delete", {"chat_id": "x"}, "chatId"),
        ("chat/fork", CHAT, "turnId"),
        ("chat/export", CHAT | {"format": "html"}, "format"),
        ("chat/revert", TURN | {"files": "yes"}, "files"),
        ("chat/checkpoint", TURN | {"overwrite": "all"}, "overwrite"),
        ("chat/reviewed", CHAT | SHOWN | {"above": 2**60}, "above"),
        ("chat/picture", CHAT | {"digest": "../x"}, "digest"),
        ("chat/read", CHAT | {"sinceSeq": 2**63}, "sinceSeq"),
        ("context/restore", CHAT | {"checkpointId": 7}, "checkpointId"),
        ("context/archive", {"chatId": ""}, "chatId"),
        ("memory/save", SENT | {"confidence": True}, "confidence"),
        ("memory/save", SENT | {"category": "gossip"}, "category"),
        ("memory/update", SENT, "id"),
        ("mcp/enable", {"name": "", "enabled": True}, "name"),
        ("search", {"query": "f", "kind": "class"}, "kind"),
    ],
)
def test_what_is_wrong_is_named_by_its_place(method: str, params: dict[str, Any], path: str) -> None:
    with pytest.raises(ValidationError) as refused:
        METHODS[f"codelaw/{method}"].params.model_validate(params)
    assert path in [error["path"] for error in field_errors(refused.value)]


def test_the_page_and_the_table_name_the_same_methods() -> None:
    page = PAGE.read_text("utf-8")
    named = set(re.findall(r"`(codelaw/[a-z]+(?:/[a-zA-Z]+)?)`", page))
    document = schema()
    assert named == set(CLIENT_METHODS) | set(document["notifications"]) | set(document["requests"])


def test_the_page_names_every_refusal_and_every_event() -> None:
    page = PAGE.read_text("utf-8")
    for code in get_args(RefusalCode):
        assert f"`{code}`" in page, code
    for member in get_args(get_args(wire.Event)[0]):
        assert f"`{member.model_fields['kind'].default}`" in page


@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_page_names_every_field_of_a_method(name: str) -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| `{name}`")]
    assert len(rows) == 1
    for field, info in METHODS[name].params.model_fields.items():
        assert f"{info.alias or field}{'' if info.is_required() else '?'}" in rows[0], field


@pytest.mark.parametrize("other", [{"sinceSeq": 0}, {"limit": 1}, {"before": "m"}])
@pytest.mark.parametrize(("field", "value"), [("turns", 1), ("beforeTurn", "t")])
def test_turns_and_messages_are_not_counted_together(other: dict[str, Any], field: str, value: object) -> None:
    read = METHODS["codelaw/chat/read"].params
    with pytest.raises(ValidationError) as refused:
        read.model_validate({"chatId": "c", field: value, **other})
    assert field_errors(refused.value) == [{"path": field, "message": "Not together with sinceSeq, limit or before"}]
    read.model_validate({"chatId": "c", field: value, **dict.fromkeys(other)})


def test_every_setting_has_a_description_and_its_default() -> None:
    document = settings_schema()
    origins = load_settings(environ={}).describe()["settings"]
    seen: set[str] = set()

    def look(spec: dict[str, Any], path: str) -> None:
        if "$ref" in spec:
            group = document["$defs"][spec["$ref"].rpartition("/")[2]]
            assert group["description"], path
            for name, inner in group["properties"].items():
                look(inner, f"{path}.{name}" if path else name)
            return
        seen.add(path)
        assert spec["description"].strip().endswith((".", "`.")), path
        if path in origins and not path.endswith(("apiKey", "authToken")):
            assert spec["default"] == origins[path]["value"], path

    for name, spec in document["properties"].items():
        look(spec, name)
    assert set(origins) <= seen
    assert refs(document) <= {f"#/settings/$defs/{name}" for name in document["$defs"]}
