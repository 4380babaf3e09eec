"""The client library of an editor, with what Visual Studio Code declares, against the real server (F-4, E-1)."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

SERVER = [sys.executable, "-m", "codelaw", "serve", "--stdio"]
READ = 'Thought: look\nAction: Read[{"path": "a.py"}]'
EDIT = "Thought: mend\nAction: Edit[" + json.dumps({"path": "a.py", "old_string": "1", "new_string": "11"}) + "]"
DONE = "Thought: done\nAction: Finish[mended]"


class Workbench:
    """One document, changed as the workbench does: refused when the version is another."""

    def __init__(self) -> None:
        self.text = "x = 1\n"
        self.version = 4
        self.edits: list[types.ApplyWorkspaceEditParams] = []
        self.uri = ""


BENCH = Workbench()


def make_client() -> LanguageClient:
    client = make_test_lsp_client()

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams) -> None:
        del params

    @client.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        BENCH.edits.append(params)
        [change] = params.edit.document_changes or []
        assert isinstance(change, types.TextDocumentEdit)
        if change.text_document.version != BENCH.version:
            return types.ApplyWorkspaceEditResult(applied=False)
        changes: list[types.TextDocumentContentChangeEvent] = []
        for edit in reversed(change.edits):
            assert isinstance(edit, types.TextEdit | types.AnnotatedTextEdit)
            assert edit.range.start.line == edit.range.end.line == 0
            start, end = edit.range.start.character, edit.range.end.character
            BENCH.text = BENCH.text[:start] + edit.new_text + BENCH.text[end:]
            changes.append(types.TextDocumentContentChangePartial(edit.range, edit.new_text))
        BENCH.version += 1
        identifier = types.VersionedTextDocumentIdentifier(version=BENCH.version, uri=BENCH.uri)
        client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, changes))
        return types.ApplyWorkspaceEditResult(applied=True)

    @client.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
    def choose(params: types.ShowMessageRequestParams) -> types.MessageActionItem:
        return next(iter(params.actions or ()))

    return client


@pytest_lsp.fixture(config=ClientServerConfig(server_command=SERVER, client_factory=make_client))
async def editor(lsp_client: LanguageClient, home: Path, tmp_path: Path):
    root = tmp_path / "work"
    root.mkdir()
    (root / "a.py").write_text(BENCH.text)
    BENCH.uri = (root / "a.py").as_uri()
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"replies": [{"text": text} for text in (READ, EDIT, DONE)]}))
    options: dict[str, Any] = {"model": {"provider": "scripted", "script": str(script)}, "editor": {"review": True}}
    folder = types.WorkspaceFolder(root.as_uri(), "work")
    await lsp_client.initialize_session(
        types.InitializeParams(
            capabilities=client_capabilities("visual-studio-code"),
            workspace_folders=[folder],
            initialization_options=options,
            process_id=None,
        )
    )
    yield
    await lsp_client.shutdown_session()


@pytest.mark.blocking
async def test_an_edit_in_visual_studio_code(editor: LanguageClient) -> None:
    item = types.TextDocumentItem(BENCH.uri, "python", BENCH.version, BENCH.text)
    editor.text_document_did_open(types.DidOpenTextDocumentParams(item))
    result = await editor.protocol.send_request_async("codelaw/chat/send", {"text": "mend it"})
    assert (result.stopReason, result.answer) == ("finished", "mended")
    [params] = BENCH.edits
    assert BENCH.text == "x = 11\n"
    assert params.edit.change_annotations is not None
    assert [note.needs_confirmation for note in params.edit.change_annotations.values()] == [True]
    assert Path(BENCH.uri.removeprefix("file://")).read_text() == "x = 1\n"
