"""`codelaw/editor/*`: questions to the editor's language servers, and answers of any kind (E-6)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from codelaw.lsp.documents.positions import Encoding, exact_offset, line_starts, position_of
from tests.lsp.raw import EVERYTHING, NO_ANSWER, RawClient

URI = "file:///w/a.py"
RANGE = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}}
SPAN = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}}
PLACE = {"uri": URI, "path": "/w/a.py", "span": SPAN}
WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}}
NOWHERE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
EDIT = {"range": RANGE, "newText": "new"}


async def ask(client: RawClient, *asked: Any) -> Any:
    """What the session is told; an error stays text."""
    result = await client.request("codelaw/chat/send", {"text": f"service {json.dumps(asked)}"})
    try:
        return json.loads(result["answer"])
    except ValueError:
        return result["answer"]


@pytest.fixture
async def editor(fresh: RawClient) -> RawClient:
    """A client that declares every service."""
    ours = {
        **EVERYTHING["experimental"]["codelaw"],
        "editor": {
            **{
                name: {}
                for name in ("diagnostics", "definition", "rename", "quickFix", "symbols", "outline", "terminal")
            },
            "references": True,
        },
    }
    await fresh.initialize({**EVERYTHING, "experimental": {"codelaw": ours}})
    return fresh


async def test_each_question_has_its_params_and_answer(editor: RawClient):
    editor.answers |= {
        "codelaw/editor/diagnostics": [
            {"uri": URI, "version": 3, "diagnostics": [{"range": RANGE, "message": "bad", "severity": 2, "code": 7, "tags": [1]}]},
            {"uri": "untitled:x", "diagnostics": [{"range": RANGE, "message": "worse"}]},
        ],
        "codelaw/editor/definition": {"uri": URI, "range": RANGE},
        "codelaw/editor/references": [{"uri": URI, "range": RANGE}, {"uri": URI, "range": RANGE}],
        "codelaw/editor/rename": {"documentChanges": [{"textDocument": {"uri": URI, "version": 3}, "edits": [EDIT]}]},
        "codelaw/editor/quickFix": [{"title": "Fix\n it", "edit": {"changes": {URI: [EDIT]}}}, {"title": "A command"}],
    }  # fmt: skip
    first, second = await ask(editor, "diagnostics", URI, 3)
    finding = {"span": SPAN, "severity": "warning", "message": "bad", "code": "7", "source": ""}
    assert first == {"uri": URI, "path": "/w/a.py", "version": 3, "findings": [finding]}
    assert (second["path"], second["version"], second["findings"][0]["severity"]) == ("untitled:x", None, "error")
    assert await ask(editor, "definition", URI, [1, 2]) == [{"uri": URI, "path": "/w/a.py", "span": SPAN}]
    assert len(await ask(editor, "references", URI, [1, 2])) == 1, "the same place is told once"
    changed = {"uri": URI, "path": "/w/a.py", "version": 3, "edits": [{"span": SPAN, "text": "new"}]}
    assert await ask(editor, "rename", URI, [1, 2], "new") == {"documents": [changed], "operations": []}
    (fix,) = await ask(editor, "fixes", URI, [[1, 2], [1, 5]])
    assert (fix["title"], fix["change"]["documents"][0]["version"]) == ("Fix it", None)
    position = {"line": 1, "character": 2}
    sent = {m["method"]: m["params"] for m in editor.messages if str(m.get("method")).startswith("codelaw/editor/")}
    assert sent == {
        "codelaw/editor/diagnostics": {"uri": URI, "version": 3},
        "codelaw/editor/definition": {"uri": URI, "position": position},
        "codelaw/editor/references": {"uri": URI, "position": position},
        "codelaw/editor/rename": {"uri": URI, "position": position, "newName": "new"},
        "codelaw/editor/quickFix": {"uri": URI, "range": RANGE},
    }
    assert await ask(editor, "diagnostics") is not None
    assert editor.params("codelaw/editor/diagnostics")[-1] == {}


@pytest.mark.parametrize(
    ("name", "answer", "expected"),
    [
        ("diagnostics", None, []),
        ("definition", None, []),
        ("definition", [], []),
        ("definition", [{"targetUri": URI, "targetRange": RANGE, "originSelectionRange": RANGE}], [URI]),
        ("rename", None, {"documents": [], "operations": []}),
        ("rename", {}, {"documents": [], "operations": []}),
        ("rename", {"documentChanges": [{"textDocument": {"uri": URI, "version": None}, "edits": []}]}, {"documents": [], "operations": []}),
        ("rename", {"documentChanges": [{"kind": "rename", "oldUri": URI, "newUri": "file:///w/b.py"}]}, {"documents": [], "operations": ["rename a.py to b.py"]}),
        ("rename", {"documentChanges": [{"kind": "delete", "uri": URI, "options": {"recursive": True}}]}, {"documents": [], "operations": ["delete a.py"]}),
        ("fixes", None, []),
        ("symbols", None, []),
        ("symbols", [{"name": "area", "kind": 12, "location": {"uri": URI, "range": RANGE}, "tags": [1]}], [{"name": "area", "kind": "function", "place": PLACE, "container": ""}]),
        ("symbols", [{"name": "area", "kind": 99, "location": {"uri": URI}, "containerName": "a.b"}], [{"name": "area", "kind": "symbol", "place": {**PLACE, "span": NOWHERE}, "container": "a.b"}]),
        ("outline", None, []),
        ("outline", [{"name": "S", "kind": 5, "range": WHOLE, "selectionRange": RANGE, "children": [{"name": "a", "kind": 6, "range": RANGE}]}], [{"name": "S", "kind": "class", "place": {**PLACE, "span": WHOLE}, "container": ""}, {"name": "a", "kind": "method", "place": PLACE, "container": "S"}]),
        ("outline", [{"name": "a", "kind": 6, "location": {"uri": URI, "range": RANGE}, "containerName": "S"}], [{"name": "a", "kind": "method", "place": PLACE, "container": "S"}]),
        ("terminal", None, None),
        ("terminal", {"output": "one"}, {"output": "one", "name": "", "command": "", "exit_code": None}),
        ("terminal", {"output": "one", "name": "zsh", "command": "make", "exitCode": 2}, {"output": "one", "name": "zsh", "command": "make", "exit_code": 2}),
    ],
)  # fmt: skip
async def test_every_shape_that_lsp_allows(editor: RawClient, name: str, answer: Any, expected: Any):
    method = "codelaw/editor/quickFix" if name == "fixes" else f"codelaw/editor/{name}"
    editor.answers[method] = answer
    more = {
        "terminal": [],
        "symbols": [],
        "outline": [],
        "diagnostics": [],
        "definition": [[0, 0]],
        "rename": [[0, 0], "x"],
        "fixes": [[[0, 0], [0, 1]]],
    }[name]
    found = await ask(editor, name, *([] if name == "terminal" else [URI, *more]))
    assert ([item["uri"] for item in found] if expected == [URI] else found) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "text",
        7,
        [None],
        [{"uri": URI}],
        [{"uri": URI, "diagnostics": [{"message": "no range"}]}],
        [{"uri": URI, "diagnostics": [{"message": "x", "range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}}]}],
        [{"uri": URI, "diagnostics": [{"message": "x", "range": {**RANGE, "end": {"line": 1.5, "character": 0}}}]}],
        [{"uri": URI, "version": "3", "diagnostics": []}],
        [{"uri": "", "diagnostics": []}],
        [{"uri": URI, "diagnostics": []}] * 2_001,
    ],
    ids=str,
)  # fmt: skip
async def test_nonsense_is_an_error_and_nothing_else(editor: RawClient, answer: Any):
    editor.answers["codelaw/editor/diagnostics"] = answer
    found = await ask(editor, "diagnostics", URI)
    assert found.startswith("EXECUTION_ERROR: The editor's answer makes no sense: ")
    assert len(found) < 300
    editor.answers["codelaw/editor/diagnostics"] = []
    assert await ask(editor, "diagnostics", URI) == []


@pytest.mark.parametrize(
    "answer",
    [
        {"documentChanges": [{"textDocument": {"uri": URI}, "edits": [{"range": RANGE, "snippet": {"value": "$0"}}]}]},
        {"documentChanges": [{"kind": "explode", "uri": URI}]},
        {"changes": {URI: [{"range": RANGE, "newText": None}]}},
        {"changes": [EDIT]},
    ],
    ids=["snippet", "kind", "null", "array"],
)
async def test_a_change_that_is_no_change_of_text_is_an_error(editor: RawClient, answer: Any):
    editor.answers["codelaw/editor/rename"] = answer
    assert (await ask(editor, "rename", URI, [0, 0], "x")).startswith("EXECUTION_ERROR: ")


async def test_an_editor_that_never_answers_is_waited_for_a_while_and_the_question_withdrawn(editor: RawClient):
    editor.answers["codelaw/editor/diagnostics"] = NO_ANSWER
    request = {"text": f"service {json.dumps(['diagnostics', URI, 1, {'seconds': 0.2}])}"}
    _, future = await editor.start("codelaw/chat/send", request)
    asked = await editor.until(lambda message: message.get("method") == "codelaw/editor/diagnostics")
    assert (await editor.wait_for(future))["result"]["answer"].startswith("TIMEOUT: ")
    withdrawn = await editor.method("$/cancelRequest")
    assert withdrawn == {"id": asked["id"]}


async def test_stopping_the_turn_withdraws_the_question(editor: RawClient):
    editor.answers["codelaw/editor/references"] = NO_ANSWER
    _, future = await editor.start("codelaw/chat/send", {"text": f"service {json.dumps(['references', URI, [0, 0]])}"})
    asked = await editor.until(lambda message: message.get("method") == "codelaw/editor/references")
    chat_id = editor.events()[0]["chatId"]
    await editor.request("codelaw/chat/cancel", {"chatId": chat_id})
    assert (await editor.wait_for(future))["result"]["stopReason"] == "cancelled"
    assert await editor.method("$/cancelRequest") == {"id": asked["id"]}
    await asyncio.sleep(0)
    await editor.send({"jsonrpc": "2.0", "id": asked["id"], "result": []})  # too late, and harmless
    assert await editor.request("codelaw/model/list", {})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_places_go_there_and_back(encoding: Encoding):
    text = "a😀é\r\nx\ry\n"
    starts = line_starts(text)
    for place in range(len(text) + 1):
        if text[place - 1 : place + 1] == "\r\n":
            continue  # no place of an editor's
        at = position_of(text, starts, place, encoding)
        assert exact_offset(text, starts, *at, encoding) == place


async def test_a_tree_of_symbols_that_is_too_deep_is_an_error_and_nothing_else(editor: RawClient):
    tree: dict[str, Any] = {"name": "a", "kind": 5, "range": RANGE}
    for _ in range(400):
        tree = {"name": "a", "kind": 5, "range": RANGE, "children": [tree]}
    editor.answers["codelaw/editor/outline"] = [tree]
    found = await ask(editor, "outline", URI)
    assert isinstance(found, list) or found.startswith("EXECUTION_ERROR: The editor's answer makes no sense: ")
    editor.answers["codelaw/editor/outline"] = []
    assert await ask(editor, "outline", URI) == []
