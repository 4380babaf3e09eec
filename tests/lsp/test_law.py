"""The law as a living document, over the wire of the real server (E-5)."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.lsp.raw import RawClient, stdio

PUBLISH = "textDocument/publishDiagnostics"
CAPABILITIES: dict[str, Any] = {
    "textDocument": {
        "publishDiagnostics": {"relatedInformation": True, "versionSupport": True},
        "hover": {"contentFormat": ["markdown"]},
    },
    "workspace": {"workspaceFolders": True, "didChangeWatchedFiles": {"dynamicRegistration": True}},
    "window": {"workDoneProgress": True},
    "experimental": {"codelaw": {"events": {}, "approvals": {}}},
}

Start = Callable[..., AbstractAsyncContextManager[RawClient]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def start(root: Path, home: Path, server: list[str]) -> Start:
    @asynccontextmanager
    async def started(*folders: Path, encoding: str = "utf-16", **options: Any) -> AsyncIterator[RawClient]:
        async with stdio(server, env={**os.environ, "CODELAW_HOME": str(home)}) as client:
            capabilities = {**CAPABILITIES, "general": {"positionEncodings": [encoding]}}
            await client.initialize(capabilities, folders=list(folders) or [root], options=options or None)
            yield client

    return started


async def reported(
    client: RawClient, uri: str, codes: list[str], start: int = 0, version: int | None = None
) -> dict[str, Any]:
    """The first publication about `uri` with exactly these codes."""

    def wanted(message: dict[str, Any]) -> bool:
        if message.get("method") != PUBLISH or message["params"]["uri"] != uri:
            return False
        found = [one["code"] for one in message["params"]["diagnostics"]]
        return found == codes and (version is None or message["params"].get("version") == version)

    return (await client.until(wanted, start))["params"]


def span(diagnostic: dict[str, Any]) -> tuple[int, int, int, int]:
    first, last = diagnostic["range"]["start"], diagnostic["range"]["end"]
    return first["line"], first["character"], last["line"], last["character"]


async def change(client: RawClient, uri: str, version: int, text: str) -> int:
    """The number of messages before the change."""
    mark = len(client.messages)
    await client.notify(
        "textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
    )
    return mark


@pytest.mark.parametrize(("encoding", "columns"), [("utf-8", (5, 13)), ("utf-16", (3, 11)), ("utf-32", (2, 10))])
async def test_a_missing_file_is_told_at_its_place_and_cleared(
    start: Start, root: Path, encoding: str, columns: tuple[int, int]
):
    path = root / "CODE_LAW.md"
    path.write_text("fine\n")
    async with start(encoding=encoding) as client:
        uri = await client.open(path, "# Law\r\n\r\n😀 @gone.md, always.\r\n", 4)
        found = await reported(client, uri, ["law_file_missing"])
        (one,) = found["diagnostics"]
        assert (one["source"], one["severity"], found["version"]) == ("codelaw", 2, 4)
        assert one["message"] == "There is no gone.md in the workspace."
        assert span(one) == (2, columns[0], 2, columns[1])
        mark = len(client.messages)
        await client.open("untitled:gone", "not it")
        await client.open(root / "gone.md", "", 1)  # a new document counts as a file
        await reported(client, uri, [], mark)


async def test_problems_are_seen_without_opening_it_and_go_with_the_file(start: Start, root: Path):
    path = root / "code_LAW.md"
    path.write_text("- Use tabs.\n- use tabs\n")
    async with start() as client:
        found = await reported(client, path.as_uri(), ["law_duplicate"])
        assert "version" not in found
        (one,) = found["diagnostics"]
        assert span(one) == (1, 0, 1, 10)
        (related,) = one["relatedInformation"]
        assert related["location"]["uri"] == path.as_uri()
        assert related["location"]["range"] == {
            "start": {"line": 0, "character": 0},
            "end": {"line": 0, "character": 11},
        }
        mark = len(client.messages)
        path.write_text("- Use tabs.\n")
        changed = {"changes": [{"uri": path.as_uri(), "type": 2}]}
        await client.notify("workspace/didChangeWatchedFiles", changed)
        await reported(client, path.as_uri(), [], mark)
        mark = len(client.messages)
        path.write_bytes(b"caf\xe9 @gone/x\n")
        await client.notify("workspace/didChangeWatchedFiles", changed)
        await reported(client, path.as_uri(), ["law_unreadable", "law_file_missing"], mark)
        mark = len(client.messages)
        path.unlink()
        await client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": path.as_uri(), "type": 3}]})
        await reported(client, path.as_uri(), [], mark)


async def test_unsaved_text_counts_and_closing_brings_the_disk_back(start: Start, root: Path):
    path = root / "CODE_LAW.md"
    path.write_text("- one rule here\n- one rule here\n")
    async with start() as client:
        await reported(client, path.as_uri(), ["law_duplicate"])
        uri = await client.open(path, "- one rule here\n", 1)
        await reported(client, uri, [], 1)
        mark = await change(client, uri, 2, "@a/b @a/c\n")
        await reported(client, uri, ["law_file_missing", "law_file_missing"], mark, 2)
        mark = await change(client, uri, 3, "@a/c\n")
        await reported(client, uri, ["law_file_missing"], mark, 3)
        mark = len(client.messages)
        await client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        found = await reported(client, uri, ["law_duplicate"], mark)
        assert "version" not in found


@pytest.mark.parametrize("how", ["folder", "nul", "outside", "fifo"])
async def test_a_law_that_cannot_be_read_is_told_at_its_beginning(start: Start, root: Path, how: str):
    path = root / "CODE_LAW.md"
    match how:
        case "folder":
            path.mkdir()
        case "nul":
            path.write_bytes(b"a\0b")
        case "fifo":
            os.mkfifo(path)
        case _:
            (root.parent / "other.md").write_text("x")
            path.symlink_to(root.parent / "other.md")
    async with start() as client:
        found = await reported(client, path.as_uri(), ["law_unreadable"])
        assert span(found["diagnostics"][0]) == (0, 0, 0, 0)
        assert found["diagnostics"][0]["message"]


async def test_a_long_law_names_tokens_and_share_and_the_window_of_the_settings(start: Start, root: Path):
    path = root / "CODE_LAW.md"
    path.write_text("".join(f"- Rule {number} is to be kept at any time.\n" for number in range(400)))
    async with start(model={"contextWindow": 30_000}) as client:
        found = await reported(client, path.as_uri(), ["law_long"])
        assert "of the window of 30000" in found["diagnostics"][0]["message"]
        sections = (await client.request("codelaw/context/inspect", {"text": "x"}))["sections"]
        (tokens,) = [section["tokens"] for section in sections if section["layer"] == "L2"]
        assert f"about {tokens} tokens, {100 * tokens / 30_000:.0f} %" in found["diagnostics"][0]["message"]
        mark = len(client.messages)
        await client.notify("workspace/didChangeConfiguration", {"settings": {"codelaw": {"model": {}}}})
        await client.notify(
            "workspace/didChangeConfiguration", {"settings": {"codelaw": {"model": {"contextWindow": 200_000}}}}
        )
        await reported(client, path.as_uri(), [], mark)


async def test_of_two_spellings_the_one_that_does_not_count_is_told(start: Start, root: Path):
    (root / "CODE_LAW.md").write_text("exact\n")
    (root / "code_law.md").write_text("@gone/file\n")
    async with start() as client:
        found = await reported(client, (root / "code_law.md").as_uri(), ["law_shadowed"])
        assert found["diagnostics"][0]["severity"] == 3
        assert "CODE_LAW.md counts in this folder" in found["diagnostics"][0]["message"]
        await client.request("codelaw/context/law", {})
        assert not any(params["uri"].endswith("CODE_LAW.md") for params in client.params(PUBLISH))


async def test_a_folder_that_goes_takes_its_diagnostics_with_it(start: Start, root: Path):
    other = root.parent / "lib"
    other.mkdir()
    (other / "CODE_LAW.md").write_text("@gone/file and @lib/CODE_LAW.md, @CODE_LAW.md\n")
    async with start(root, other) as client:
        uri = (other / "CODE_LAW.md").as_uri()
        await reported(client, uri, ["law_file_missing"])
        mark = len(client.messages)
        removed = [{"uri": other.as_uri(), "name": "lib"}]
        await client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": removed}})
        await reported(client, uri, [], mark)
        mark = len(client.messages)
        await client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": removed, "removed": []}})
        await reported(client, uri, ["law_file_missing"], mark)


# -------------------------------------------------------------------------------------------------------------- hover


async def hover(client: RawClient, uri: str, line: int, character: int) -> Any:
    return await client.request(
        "textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
    )


async def test_hover_tells_tokens_share_and_the_last_turn(start: Start, root: Path):
    path = root / "CODE_LAW.md"
    path.write_text("# Law\n\n- Be kind to all of them.\n")
    async with start() as client:
        uri = await client.open(path, "# Law\n\n- 😀 Be kind to all of them.\n", 1)
        found = await hover(client, uri, 2, 6)
        assert found["contents"]["kind"] == "markdown"
        value = found["contents"]["value"]
        assert value.startswith("This rule takes about ")
        assert "% of the window of" in value
        assert "No turn has been shown this text" in value
        assert found["range"] == {"start": {"line": 2, "character": 0}, "end": {"line": 2, "character": 28}}
        await client.request("codelaw/chat/send", {"text": "What is the law?\nmore"})
        value = (await hover(client, uri, 0, 0))["contents"]["value"]
        assert value.startswith("This part takes about ")
        assert "in the chat “What is the law?”" in value
        await change(client, uri, 2, "another\n")
        assert "No turn has been shown this text" in (await hover(client, uri, 0, 0))["contents"]["value"]


async def test_hover_tells_what_the_whole_costs_in_each_step(start: Start, root: Path):
    text = "# How we work\n\n- Be kind to all of them.\n\nA sentence.\n"
    async with start(model={"name": "claude-sonnet-4-5", "apiKey": "sk-test"}) as client:
        for name in ("AGENTS.md", "CODE_LAW.md"):
            uri = await client.open(root / name, text, 1)
            value = (await hover(client, uri, 0, 3))["contents"]["value"]
            assert f"{name} takes about 19 tokens, 0.0 % of the window of " in value
            assert "Each step of a turn sends it again: about 19 tokens, 0.00001 USD where they are read" in value
            assert "0.00007 USD where they are written" in value
            rule = (await hover(client, uri, 4, 3))["contents"]["value"]
            assert rule.startswith("This rule takes about 4 tokens.")
            assert "sends it again" not in rule


async def test_files_beside_the_law_are_documents_like_it(start: Start, root: Path):
    (root / "sub").mkdir()
    (root / "AGENTS.md").write_text("- Use tabs.\n- use tabs\n")
    async with start() as client:
        await reported(client, (root / "AGENTS.md").as_uri(), ["law_duplicate"])
        below = await client.open(root / "sub" / "Agents.md", "@gone/file and @sub/\n@su", 1)
        await reported(client, below, ["law_file_missing"], 0, 1)
        value = (await hover(client, below, 0, 12))["contents"]["value"]
        assert value.startswith("This rule takes about ")
        offered = await client.request(
            "textDocument/completion", {"textDocument": {"uri": below}, "position": {"line": 1, "character": 3}}
        )
        assert [item["label"] for item in offered["items"]] == ["sub/"]
        beaten = await client.open(root / "CLAUDE.md", "- one\n", 1)
        value = (await hover(client, beaten, 0, 2))["contents"]["value"]
        assert value == "AGENTS.md counts in this folder; this file does not."
        report = await client.request("codelaw/context/law", {})
        assert [(one["name"], one["source"]) for one in report["documents"]] == [("AGENTS.md", "disk")]
        mark = len(client.messages)
        await client.notify("textDocument/didClose", {"textDocument": {"uri": below}})
        await reported(client, below, [], mark)


async def test_other_names_are_registered_when_the_setting_changes(start: Start, root: Path):
    (root / "RULES.md").write_text("- Use tabs.\n- use tabs\n")

    def watches(message: dict[str, Any]) -> list[str]:
        if message.get("method") != "client/registerCapability":
            return []
        options = message["params"]["registrations"][0]["registerOptions"]
        return [watcher["globPattern"] for watcher in options.get("watchers", [])]

    async with start() as client:
        first = await client.until(lambda message: bool(watches(message)))
        assert watches(first)[1:3] == ["**/[aA][gG][eE][nN][tT][sS].[mM][dD]", "**/[cC][lL][aA][uU][dD][eE].[mM][dD]"]
        mark = len(client.messages)
        settings = {"settings": {"codelaw": {"law": {"files": ["RULES.md"]}}}}
        await client.notify("workspace/didChangeConfiguration", settings)
        later = await client.until(lambda message: bool(watches(message)), mark)
        assert watches(later)[1:3] == ["**/[rR][uU][lL][eE][sS].[mM][dD]", "**/.codelaw/config.toml"]
        await reported(client, (root / "RULES.md").as_uri(), ["law_duplicate"])


async def test_hover_on_a_path_tells_whether_it_is_there_and_how_large(start: Start, root: Path):
    (root / "a.md").write_text("word " * 100)
    (root / "docs").mkdir()
    async with start() as client:
        uri = await client.open(root / "CODE_LAW.md", "@a.md @docs/x @docs/\n", 1)
        value = (await hover(client, uri, 0, 2))["contents"]["value"]
        assert value.startswith("`a.md`: 500 bytes, about ")
        assert value.endswith(" tokens.")
        found = await hover(client, uri, 0, 6)
        assert found["contents"]["value"] == "There is no `docs/x` in the workspace."
        assert found["range"] == {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 13}}
        other = await client.open(root / "b.md", "@a.md", 1)
        assert await hover(client, other, 0, 2) is None
        assert await hover(client, "file:///nowhere/CODE_LAW.md", 0, 2) is None


# --------------------------------------------------------------------------------------------------------- completion


async def complete(client: RawClient, uri: str, line: int, character: int) -> Any:
    return await client.request(
        "textDocument/completion", {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
    )


def texts(answer: Any) -> list[str]:
    return [item["textEdit"]["newText"] for item in answer["items"]]


async def test_paths_are_completed_with_exact_ranges(start: Start, root: Path):
    (root / "docs" / "deep").mkdir(parents=True)
    (root / "docs" / "style.md").write_text("")
    (root / "docs" / "deep" / "stylish.md").write_text("")
    (root / "my file.md").write_text("")
    (root / "my docs").mkdir()
    async with start() as client:
        result = next(message["result"] for message in client.messages if "result" in message)
        assert "@" in result["capabilities"]["completionProvider"]["triggerCharacters"]
        uri = await client.open(
            root / "CODE_LAW.md", '😀 @\r\n@docs/st\r\n@sty and me@docs\r\n@"my "\r\n@"my fi\r\n', 1
        )
        every = await complete(client, uri, 0, 4)
        assert every["isIncomplete"] is True
        assert texts(every) == ["@docs/", '@"my docs/', "@CODE_LAW.md", '@"my file.md"']
        where = every["items"][0]["textEdit"]["range"]
        assert where == {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 4}}
        assert [item["kind"] for item in every["items"]] == [19, 19, 17, 17]

        below = await complete(client, uri, 1, 8)
        assert (texts(below), below["isIncomplete"]) == (["@docs/style.md"], False)
        assert below["items"][0]["filterText"].startswith("@docs/st")

        anywhere = await complete(client, uri, 2, 4)
        assert sorted(texts(anywhere)) == ["@docs/deep/stylish.md", "@docs/style.md"]
        assert {item["filterText"] for item in anywhere["items"]} == {"@sty"}
        assert await complete(client, uri, 2, 16) is None, "an address is not a mention"
        assert await complete(client, uri, 2, 6) is None, "nor is what comes after one"

        quoted = await complete(client, uri, 3, 5)
        assert texts(quoted) == ['@"my docs/', '@"my file.md"']
        folder, file = (item["textEdit"]["range"]["end"]["character"] for item in quoted["items"])
        assert (folder, file) == (5, 6), "the closing quote stays behind a folder and is written anew for a file"
        assert texts(await complete(client, uri, 4, 7)) == ['@"my file.md"']


async def test_chat_files_have_it_too_and_others_have_not(start: Start, root: Path):
    (root / "a.md").write_text("")
    (root / "文档.md").write_text("")
    async with start() as client:
        chat = await client.open(root / "talk.chat.md", "Look at @a", 1)
        assert texts(await complete(client, chat, 0, 10)) == ["@a.md"]
        cjk = await client.open(root / "cjk.chat.md", "请阅读@a\nファイル@a.を\n@文\nme@a", 1)
        assert texts(await complete(client, cjk, 0, 5)) == ["@a.md"], "right behind a Chinese character"
        assert texts(await complete(client, cjk, 1, 7)) == ["@a.md"]
        assert texts(await complete(client, cjk, 2, 2)) == ['@"文档.md"'], "a bare mention cannot hold it"
        assert await complete(client, cjk, 3, 4) is None
        other = await client.open(root / "b.md", "Look at @a", 1)
        assert await complete(client, other, 0, 10) is None
        assert await complete(client, "file:///nowhere/x.chat.md", 0, 0) is None
        assert texts(await complete(client, chat, 99, 99)) == ["@a.md"], "past the end means the end"


async def test_a_chat_file_completes_commands_where_its_question_begins_with_a_slash(start: Start, root: Path):
    (root / ".codelaw" / "commands" / "git").mkdir(parents=True)
    (root / ".codelaw" / "commands" / "review.md").write_text("---\nargument-hint: '[path]'\n---\nLook at it.\n")
    (root / ".codelaw" / "commands" / "git" / "commit.md").write_text("")
    async with start() as client:
        listed = await client.request("codelaw/command/list", {})
        review = {"name": "review", "description": "Look at it.", "arguments": "[path]"}
        commit = {"name": "git:commit", "description": "", "source": ".codelaw/commands/git/commit.md"}
        assert listed == {"commands": [commit, review | {"source": ".codelaw/commands/review.md"}]}
        chat = await client.open(root / "talk.chat.md", "/re\nor /re\n//re", 1)
        found = await complete(client, chat, 0, 3)
        assert texts(found) == ["/git:commit ", "/review "]
        where = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 3}}
        assert found["items"][1]["textEdit"]["range"] == where
        assert (found["items"][1]["detail"], found["isIncomplete"]) == ("Look at it.", False)
        assert await complete(client, chat, 1, 6) is None
        assert await complete(client, chat, 2, 4) is None
        law = await client.open(root / "CODE_LAW.md", "/re", 1)
        assert await complete(client, law, 0, 3) is None


async def test_a_chat_file_completes_skills_behind_commands_and_the_client_is_told_which_count(
    start: Start, root: Path
):
    for path, text in {
        ".codelaw/commands/review.md": "Look.",
        ".codelaw/skills/review/SKILL.md": "---\ndescription: Look closely\n---\n",
        ".codelaw/skills/pdf/SKILL.md": "---\ndescription: Fill forms\n---\n",
        ".github/skills/pdf/SKILL.md": "Fill.",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    async with start() as client:
        listed = (await client.request("codelaw/skill/list", {}))["skills"]
        first, second, third = listed
        pdf = ".codelaw/skills/pdf/SKILL.md"
        assert first == {"name": "pdf", "description": "Fill forms", "uri": (root / pdf).as_uri(), "source": pdf}
        assert (second["source"], second["shadowed"]) == (".github/skills/pdf/SKILL.md", pdf)
        assert second["problem"] == "It has no description: a model cannot tell when to use it."
        assert (third["name"], third["description"]) == ("review", "Look closely")
        chat = await client.open(root / "talk.chat.md", "/", 1)
        found = await complete(client, chat, 0, 1)
        assert [(item["label"], item["detail"]) for item in found["items"]] == [
            ("/review", "Look."),
            ("/pdf", "Fill forms"),
        ]


async def test_the_client_is_told_which_kinds_of_subagents_there_are_and_why_a_file_does_not_count(
    start: Start, root: Path
):
    head = "description: Reviews.\ntools: Read, mcp__x\ndisallowedTools: LS\nmodel: claude-x\nmaxTurns: 3"
    for path, text in {
        ".codelaw/agents/reviewer.md": f"---\n{head}\n---\nBe brief.",
        ".claude/agents/reviewer.md": "---\ndescription: Other\n---\nBe long.",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    async with start() as client:
        listed = await client.request("codelaw/agent/list", {})
    assert listed["enabled"] is True
    explore, _, general, *others = listed["agents"]
    assert explore == {"name": "explore", "description": "Finds things out.", "mode": "ask"}
    assert (general["name"], "mode" in general) == ("general", False)
    own = ".codelaw/agents/reviewer.md"
    first, second = others
    assert first == {
        "name": "reviewer",
        "description": "Reviews.",
        "uri": (root / own).as_uri(),
        "source": own,
        "tools": ["Read", "mcp__x"],
        "disallowedTools": ["LS"],
        "model": "offline",
        "maxTurns": 3,
    }
    assert (second["source"], second["refused"]) == (".claude/agents/reviewer.md", True)
    assert second["problem"] == f"The kind reviewer is told by {own} already, which counts."


async def test_several_folders_are_completed_and_a_question_names_the_right_one(start: Start, root: Path):
    other = root.parent / "other" / root.name
    for folder in (root, other):
        (folder / "src").mkdir(parents=True)
        (folder / "src" / "app.md").write_text("one\ntwo\n")
    async with start(root, other) as client:
        chat = await client.open(root / "talk.chat.md", "@\n看@src/a\n@work-2/s", 1)
        every = ["@work/", "@work-2/", "@work/src/", "@work/talk.chat.md", "@work-2/src/"]
        begun = texts(await complete(client, chat, 0, 1))
        assert begun == [*every, "@problems:", "@git:diff", "@terminal:last", "@symbol:", "@git:"]
        below = await complete(client, chat, 1, 7)
        assert texts(below) == ["@work/src/app.md", "@work-2/src/app.md"]
        assert {item["filterText"] for item in below["items"]} == {"@src/a"}, "which an editor does not hide"
        assert texts(await complete(client, chat, 2, 9)) == ["@work-2/src/"]
        second = (other / "src" / "app.md").as_uri()
        where = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
        asked = await client.command("codelaw.editor.ask", {"uri": second, "range": where})
        text = Path(asked["uri"].removeprefix("file://")).read_text()
        assert "About @work-2/src/app.md, line 1:" in text


async def test_a_client_that_can_is_told_for_which_documents_they_are(root: Path, home: Path, server: list[str]):
    document = {
        **CAPABILITIES["textDocument"],
        "hover": {"dynamicRegistration": True},
        "completion": {"dynamicRegistration": True},
    }
    async with stdio(server, env={**os.environ, "CODELAW_HOME": str(home)}) as client:
        result = await client.initialize({**CAPABILITIES, "textDocument": document}, folders=[root])
        assert "hoverProvider" not in result["capabilities"]
        assert "completionProvider" not in result["capabilities"]

        def wanted(message: dict[str, Any]) -> bool:
            return message.get("method") == "client/registerCapability" and len(message["params"]["registrations"]) == 2

        hovering, completing = (await client.until(wanted))["params"]["registrations"]
        assert hovering["method"] == "textDocument/hover"
        laws = hovering["registerOptions"]["documentSelector"]
        assert laws == [
            {"pattern": "**/[cC][oO][dD][eE]_[lL][aA][wW].[mM][dD]"},
            {"pattern": "**/[aA][gG][eE][nN][tT][sS].[mM][dD]"},
            {"pattern": "**/[cC][lL][aA][uU][dD][eE].[mM][dD]"},
        ]
        assert completing["registerOptions"]["documentSelector"] == [*laws, {"pattern": "**/*.chat.md"}]
        assert completing["registerOptions"]["triggerCharacters"] == ["@", "/"]
        uri = await client.open(root / "CODE_LAW.md", "- kind\n", 1)
        assert await hover(client, uri, 0, 0) is not None
