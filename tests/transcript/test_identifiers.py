"""The index of an archive's names (K-5)."""

from __future__ import annotations

import json

import pytest

from codelaw.context.tokens import estimate
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.transcript.summaries.identifiers import folded, index, names_by_place


def user(text: str) -> Message:
    return Message("u", "t", "user", text)


def thought(text: str, *calls: Call) -> Message:
    return Message("a", "t", "assistant", text, Metadata(calls=calls))


def result(**data: object) -> Message:
    return Message("r", "t", "tool", json.dumps({"status": "success", "data": data}), Metadata(call_id="c"))


def symbols(text: str) -> list[str]:
    line = next((line for line in text.split("\n") if line.startswith("Symbols: ")), "")
    return line.removeprefix("Symbols: ").strip("`").split()


def test_what_the_agent_wrote_counts_more_than_what_tools_showed():
    shown = [result(content=f"shown_name_{n % 3}") for n in range(5)]
    assert symbols(index([*shown, thought("see agent_name_1")], 400, estimate))[0] == "agent_name_1"


def test_the_newer_and_the_more_frequent_comes_first():
    old = [thought("old_name_1")] + [thought("idle") for _ in range(80)]
    assert symbols(index([*old, thought("new_name_1")], 400, estimate)) == ["new_name_1", "old_name_1"]
    assert symbols(index([thought("rare_name_1"), *[thought("much_name_1")] * 2], 400, estimate))[0] == "much_name_1"


@pytest.mark.parametrize("budget", [5, 20, 60, 300, 700])
def test_the_budget_is_kept(budget: int):
    messages = [thought(f"name_{n}_of_many src/part{n % 9}/file_{n}.py") for n in range(400)]
    text = index(messages, budget, estimate)
    assert estimate(text) <= budget
    assert budget < 60 or estimate(text) > budget * 0.9


def test_paths_symbols_and_commands_have_a_line_each():
    call = Call("c", "Bash", {"command": "cd x && go test ./... | head; git rebase main"})
    names = " ".join(f"symbol_{n}" for n in range(30))
    text = index([thought(f"look at server/codelaw/context/tokens.py {names}", call)], 700, estimate)
    assert text.startswith("Paths: `context/tokens.py`\nSymbols: `symbol_0")
    assert text.endswith("Commands: `go test`, `git rebase main`")


def test_what_stands_above_is_not_repeated():
    messages = [thought("known_name other_name src/room/known.py")]
    text = index(messages, 300, estimate, known="`src/room/known.py`: edited (`known_name`)")
    assert text == "Symbols: `other_name`"


def test_a_name_inside_a_better_one_comes_late_but_whole():
    said = [thought("load_state"), thought("other_name"), *[thought("Session.load_state")] * 3]
    assert symbols(index(said, 300, estimate)) == ["Session.load_state", "other_name", "load_state"]
    assert symbols(index(said, 12, estimate)) == ["Session.load_state"]
    assert symbols(index([thought("x"), thought("load_state")], 300, estimate, known="`Session.load_state`")) == [
        "load_state"
    ]


def test_what_the_kept_messages_show_comes_last():
    said = [thought("both_name both_name both_name"), thought("rare_name_1"), thought("idle"), thought("rare_name_2")]
    kept = [result(content="both_name stays"), thought("never_archived")]
    assert symbols(index(said, 300, estimate)) == ["both_name", "rare_name_2", "rare_name_1"]
    assert symbols(index(said, 300, estimate, kept=kept)) == ["rare_name_2", "rare_name_1", "both_name"]


def test_spellings_of_one_path_are_one_and_neighbours_stand_together():
    texts = [f"/home/me/w/server/app/room/{name}.py server/app/room/{name}.py" for name in ("one", "two", "six")]
    text = index([thought(line) for line in texts], 300, estimate)
    assert text == "Paths: `server/app/{room/six.py room/two.py room/one.py}`"


def names_in(messages: list[Message]) -> set[str]:
    return set(symbols(index(messages, 300, estimate)))


def test_words_numbers_noise_and_earlier_summaries_are_no_names():
    noise = "plain words and/or 2026-01-02 12.5.1 ______ " + "a1B2" * 20 + " \\nreal_name\\t"
    old = Message("s", "t", "summary", "archived_name")
    assert names_in([old, thought(noise)]) == {"real_name"}


def test_names_by_place_belong_to_the_text_they_stand_in():
    found = names_by_place([("a.py", "first_name"), ("b.py", "other_name"), ("a.py", "second_name first_name")])
    assert found == {"a.py": ("first_name", "second_name"), "b.py": ("other_name",)}


def test_folding_loses_no_path():
    paths = ["a/b/c/x.py", "top.md", "a/b/d/y.py", "with space/b/c/z.py", "a/b/c/w.py", "q/r/s.py"]
    assert folded(paths) == ["a/b/{c/x.py d/y.py c/w.py}", "top.md", "with space/b/c/z.py", "q/r/s.py"]
