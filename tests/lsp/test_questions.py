"""What a person sees in a message box before they allow something (S-2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from codelaw.domain.permissions import ApprovalOption, ApprovalQuestion
from codelaw.lsp.client_calls.approver import NEXT, SHOW, SHOWN_CHARACTERS, SHOWN_LINES, parts, unshown, whole
from tests.lsp.raw import RawClient

OPTIONS = (
    ApprovalOption("once", "Allow once", "allow_once"),
    ApprovalOption("chat", "Allow in this chat: Bash(ls:*)", "allow_chat", "Bash(ls:*)"),
    ApprovalOption("no", "Reject", "reject"),
)
ALLOWING = {"once", "chat"}
DOCUMENTS = {"window": {"showDocument": {"support": True}}}
LONG = "echo start\n" + "# quiet\n" * 400 + "rm -rf ~/work"


def asked(command: str | None = None, **more: Any) -> ApprovalQuestion:
    given = {"tool": "Bash", "title": command or "Edit a.py", "options": OPTIONS, "risk": "execute", **more}
    return ApprovalQuestion("c", "t", "call", command=command, **given)


def test_what_is_run_comes_first_and_the_models_words_behind_it():
    box = whole(asked("git push --force", description="List the files"))
    assert box is not None
    lines = box.text.split("\n")
    assert lines[0] == "Run: git push --force"
    assert "The model's words for it: “List the files”" in lines[1:]
    assert list(box.buttons.values()) == ["once", "chat", "no"]


def test_nothing_in_it_is_hidden():
    command = "echo \x1b[8mquiet\x1b[0m \u202etxt.exe \u200b\U000e0041\xa0x\u3164"
    box = whole(asked(command, description="nice\nRun: \u202els"))
    assert box is not None
    shown = "echo ⟨U+001B⟩[8mquiet⟨U+001B⟩[0m ⟨U+202E⟩txt.exe ⟨U+200B⟩⟨U+E0041⟩⟨U+00A0⟩x⟨U+3164⟩"
    assert box.text.startswith(f"Run: {shown}\n")
    assert "“nice⟨U+000A⟩Run: ⟨U+202E⟩ls”" in box.text
    assert "Characters that cannot be seen are written like ⟨U+200B⟩." in box.text


@pytest.mark.parametrize(
    "command",
    ["echo " + "a" * SHOWN_CHARACTERS, "\n".join(["ls"] * SHOWN_LINES), "\u202e" * (SHOWN_CHARACTERS // 5), LONG],
    ids=["long", "many lines", "long by its codes", "both"],
)
def test_what_does_not_fit_is_not_offered_but_shown(command: str):
    question = asked(command)
    assert whole(question) is None
    box = unshown(question)
    assert len(box.text) <= SHOWN_CHARACTERS
    assert box.buttons == {SHOW: None, "Reject": "no"}
    boxes = parts(question)
    assert all(len(one.text) <= SHOWN_CHARACTERS for one in boxes)
    assert all(one.buttons == {NEXT: None, "Reject": "no"} for one in boxes[:-1])
    assert set(boxes[-1].buttons.values()) == {"once", "chat", "no"}


def test_the_parts_are_the_whole():
    reported = "".join(one.text.partition(":\n")[2].split("\n\nTo allow it")[0] for one in parts(asked(LONG)))
    assert reported.replace("\n", "") == LONG.replace("\n", "")


async def begin(client: RawClient, capabilities: dict[str, Any], answers: list[str]) -> list[dict[str, Any]]:
    """Open the client, whose user presses `answers`; gives the boxes that will have been shown."""
    shown: list[dict[str, Any]] = []

    def press(params: dict[str, Any]) -> dict[str, str]:
        shown.append(params)
        return {"title": answers[len(shown) - 1]}

    await client.initialize(capabilities)
    client.answers["window/showMessageRequest"] = press
    return shown


def titles(box: dict[str, Any]) -> list[str]:
    return [action["title"] for action in box["actions"]]


async def test_a_long_command_is_a_document_before_it_can_be_allowed(fresh: RawClient):
    shown = await begin(fresh, DOCUMENTS, ["Show", "Allow once"])
    documents: list[str] = []

    def show(params: dict[str, Any]) -> dict[str, bool]:
        documents.append(Path(unquote(urlsplit(params["uri"]).path)).read_text())
        return {"success": True}

    fresh.answers["window/showDocument"] = show
    result = await fresh.request("codelaw/chat/send", {"text": f"ask {LONG}"})
    assert result["answer"] == "once|"
    assert titles(shown[0]) == ["Show", "Reject"]
    assert documents == [LONG + "\n"]
    assert titles(shown[1])[0] == "Allow once"
    assert len(shown) == 2


@pytest.mark.parametrize(
    ("capabilities", "answer"), [({}, None), (DOCUMENTS, {"success": False}), (DOCUMENTS, None)], ids=str
)
async def test_a_client_without_documents_is_shown_every_part(fresh: RawClient, capabilities: dict, answer: Any):
    number = len(parts(asked(LONG)))
    shown = await begin(fresh, capabilities, ["Show", *[NEXT] * (number - 1), "Allow once"])
    fresh.answers["window/showDocument"] = answer
    assert (await fresh.request("codelaw/chat/send", {"text": f"ask {LONG}"}))["answer"] == "once|"
    assert len(shown) == number + 1
    assert not any("Allow once" in titles(box) for box in shown[:-1])
    assert "rm -rf ~/work" in shown[-1]["message"]


@pytest.mark.parametrize("answers", [["Reject"], ["Allow once"], ["Show", "Reject"], ["Show", "Allow once"]])
async def test_nothing_allows_what_was_not_shown(fresh: RawClient, answers: list[str]):
    await begin(fresh, {}, answers)
    taken = (await fresh.request("codelaw/chat/send", {"text": f"ask {LONG}"}))["answer"]
    assert taken == ("no|" if answers[-1] == "Reject" else "None|")
