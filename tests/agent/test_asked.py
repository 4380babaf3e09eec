"""What the user is told of a call before they answer (S-2, S-8)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agent.conftest import Bench


async def asked_about(bench: Bench, tool: str, arguments: dict[str, Any]) -> Any:
    bench.user.answer = "reject"
    bench.vendor.play(bench.act(tool, arguments), bench.finish("ok"))
    await bench.turn("Go.")
    (question,) = bench.user.asked
    return question


async def test_a_command_is_named_by_what_it_runs(bench: Bench):
    command = "git push\x1b[8m --force\u202e\nrm -rf x"
    question = await asked_about(bench, "Bash", {"command": command, "description": "List\nfiles \u200b" + "x" * 300})
    assert question.command == command
    assert question.title == "git push⟨U+001B⟩[8m --force⟨U+202E⟩ …"
    assert question.description == "List …"
    assert {call.title for call in bench.kinds("tool_call")} == {question.title}


async def test_a_change_is_asked_about_whole_and_told_in_part(bench: Bench):
    content = "\n".join(f"line {number} {'x' * 40}" for number in range(4_000))
    question = await asked_about(bench, "Write", {"path": "long.txt", "content": content})
    assert question.diff.endswith("\n\\ No newline at end of file")
    assert "+line 3999" in question.diff
    assert all(len(call.diff or "") <= 60_000 for call in bench.kinds("tool_call"))


@pytest.mark.parametrize(
    ("path", "program"), [(".envrc", "direnv"), (".vscode/settings.json", "Visual Studio Code"), (".gitmodules", "git")]
)
async def test_a_file_that_a_program_obeys_is_called_so(bench: Bench, path: str, program: str):
    question = await asked_about(bench, "Write", {"path": path, "content": "x"})
    assert question.why == f"{program} obeys this file: what is written there may run outside of codelaw."


async def test_a_title_hides_nothing(bench: Bench):
    bench.vendor.play(bench.act("Read", {"path": "a\u202e\u200b\x1b.py"}), bench.finish("ok"))
    await bench.turn("Go.")
    assert {call.title for call in bench.kinds("tool_call")} == {"Read a⟨U+202E⟩⟨U+200B⟩⟨U+001B⟩.py"}
