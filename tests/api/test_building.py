"""Contexts from Python, without a server (B-9)."""

from __future__ import annotations

import doctest
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import codelaw.api
from codelaw.api import (
    PROMPT_LIMITS,
    Refusal,
    build_context,
    build_context_for_request,
    build_simple_context,
    prompt_limit,
)


def chat(rounds: int, words: int = 5) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    for number in range(rounds):
        said.append({"role": "user", "content": f"Question {number}? " + "word " * words})
        said.append({"role": "assistant", "content": f"Answer {number}. " + "word " * words})
    return said


def numbers(messages: list[Any]) -> list[int]:
    texts = [message["content"] for message in messages if message["role"] == "user"]
    return [int(text.split("?")[0].removeprefix("Question ")) for text in texts if text.startswith("Question ")]


def test_the_example_of_the_docstring_is_true():
    result = doctest.testmod(codelaw.api)
    assert result.attempted > 5
    assert result.failed == 0


def test_building_needs_no_server_and_loads_none():
    program = (
        "import sys; from codelaw.api import build_context;"
        "built = build_context([{'role': 'user', 'content': 'a'}, {'role': 'assistant', 'content': 'b'}], 'c');"
        "assert len(built.messages) == 3;"
        "loaded = {'pygls', 'anthropic', 'numpy', 'sqlite3', 'httpx2', 'psycopg'} & set(sys.modules);"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=150)


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("gpt-4", 8_192), ("claude-3", 100_000), ("gpt-3.5", 4_096), ("", 4_096), ("some-model", 4_096),
        ("gpt-3.5-unheard-of", 4_096), ("claude-3-unheard-of", 100_000),
        ("claude-sonnet-4-5", 200_000 - 20_000),
    ],
)  # fmt: skip
def test_the_budget_of_a_model_is_in_the_table_or_in_its_profile(model: str, limit: int):
    assert prompt_limit(model) == limit
    assert PROMPT_LIMITS == {"gpt-4": 8_192, "claude-3": 100_000, "gpt-3.5": 4_096}


def test_the_messages_of_the_chat_come_back_as_the_objects_they_were():
    said = chat(3)
    said[2] = {"role": "user", "content": [{"type": "text", "text": "Question 1?"}], "name": "me", "extra": 1}
    built = build_context(said, "And now?", strategy="full", model="claude-3", system_prompt="S", law="L")
    assert built.messages[0] == {"role": "system", "content": "S"}
    assert built.messages[1] == {"role": "system", "content": "L"}
    assert all(one is other for one, other in zip(built.messages[2:8], said, strict=True))
    assert built.messages[8:] == [{"role": "user", "content": "And now?"}]


def test_the_input_is_there_once_by_identity_and_not_by_its_words():
    said = chat(2)
    again = dict(said[0])
    built = build_context(said, again, strategy="full")
    assert [message["content"] for message in built.messages].count(again["content"]) == 2, "it was asked twice"
    built = build_context([*said, again], again, strategy="full")
    assert built.messages[-1] is again
    assert sum(message is again for message in built.messages) == 1


def test_a_request_ends_with_its_input():
    said = [{"role": "system", "content": "Be terse."}, *chat(3), {"role": "user", "content": "And now?"}]
    built = build_context_for_request(said, model="gpt-4", context_strategy="last-n")
    assert built.messages[0] == {"role": "system", "content": "Be terse."}
    assert built.messages[-1] is said[-1]
    assert built.strategy == "last-n"
    assert built.max_prompt_tokens == 8_192
    for wrong in ([], chat(2), [{"role": "system", "content": "x"}]):
        with pytest.raises(ValueError, match="the user's"):
            build_context_for_request(wrong)


def test_a_simple_context_is_all_of_it_in_order():
    said = chat(1)
    assert build_simple_context("S", "Q", said) == [
        {"role": "system", "content": "S"}, *said, {"role": "user", "content": "Q"}
    ]  # fmt: skip
    assert build_simple_context("", "Q") == [{"role": "user", "content": "Q"}]


def test_calls_and_results_stay_together():
    said: list[dict[str, Any]] = []
    for number in range(20):
        said += [
            {"role": "user", "content": f"Question {number}?"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": {"name": "ls"}}]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "a b c"},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "d"}]},
            {"role": "assistant", "content": f"Answer {number}."},
        ]
    built = build_context(said, "And now?", strategy="last-n", last=7, model="claude-3")
    assert built.metadata.included_message_count == 10
    assert built.messages[:-1] == said[-10:]


def test_a_summary_stands_before_the_recents_and_is_counted():
    built = build_context(
        chat(30), "And now?", strategy="summary+recent", summary="They spoke of words.", summarized=40, model="claude-3"
    )
    assert built.messages[0]["role"] == "system"
    assert "They spoke of words." in built.messages[0]["content"]
    assert (built.metadata.used_summary, built.metadata.summarized_message_count) == (True, 40)
    assert built.token_stats.summary > 0
    assert numbers(built.messages) == list(range(20, 30))
    assert not build_context(chat(5), "?", strategy="last-n", summary="x", summarized=2).metadata.used_summary


def test_spans_are_found_by_words_and_quoted_behind_the_input():
    said = chat(80)
    said[20]["content"] = "Question 10? The zebra database lives on port 5433."
    built = build_context(said, "Which port has the zebra database?", strategy="span-retrieval", model="claude-3")
    assert built.messages[-2]["content"] == "Which port has the zebra database?"
    quoted = built.messages[-1]["content"]
    assert "port 5433" in quoted
    assert quoted.startswith("<earlier-messages>")
    assert built.metadata.retrieved_message_count >= 5
    assert built.token_stats.retrieved > 0
    assert numbers(built.messages) == list(range(70, 80))


def test_a_search_of_the_callers_own_is_asked_for_old_messages_only_and_may_fail():
    said, seen = chat(80), []

    def search(question: str, messages: Any) -> list[tuple[int, float]]:
        seen.append((question, list(messages)))
        return [(7, 0.9), (100, 0.8)]

    built = build_context(said, "?", strategy="span-retrieval", search=search, model="claude-3", span_radius=0)
    assert seen[0] == ("?", said[:140])
    assert "Answer 3." in built.messages[-1]["content"]
    assert "Question 50?" in built.messages[-1]["content"]

    def broken(question: str, messages: Any) -> list[tuple[int, float]]:
        raise OSError("no index")

    built = build_context(said, "?", strategy="span-retrieval", search=broken, model="claude-3")
    assert numbers(built.messages) == list(range(70, 80)), "the recents are there all the same"
    assert any("no index" in entry.reason for entry in built.dropped)


def test_memories_are_told_as_far_as_there_is_room():
    built = build_context(chat(2), "?", memories=["Likes\ntabs.", "Uses vim."], model="claude-3")
    assert "- Likes tabs.\n- Uses vim." in built.messages[-1]["content"]
    assert built.metadata.retrieved_memory_count == 2
    many = [f"memory {number} " + "word " * 100 for number in range(99)]
    built = build_context(chat(2), "?", memories=many, max_prompt_tokens=2_000)
    assert 1 <= built.metadata.retrieved_memory_count < 99
    assert built.token_stats.total <= 2_000
    assert any(entry.name == "memories" for entry in built.dropped)


def test_what_cannot_be_cut_and_does_not_fit_is_refused_with_sizes():
    with pytest.raises(Refusal) as refused:
        build_context(chat(3), "word " * 5_000, system_prompt="S", law="L", max_prompt_tokens=4_000)
    assert refused.value.code == "context_overflow"
    assert "question" in refused.value.message
    assert "4000" in refused.value.message
    with pytest.raises(Refusal):
        build_context(chat(60, 200), "?", strategy="full", max_prompt_tokens=4_000)
    assert build_context(chat(9, 400), "?", max_prompt_tokens=4_000).strategy == "full", "auto gives way"
    huge = build_context(chat(3, 4_000), "?", max_prompt_tokens=4_000)
    assert numbers(huge.messages) == [2], "and keeps the newest round, whatever its size"


def test_a_message_without_a_known_role_is_an_error_that_names_it():
    with pytest.raises(ValueError, match=r"messages\[1\] has the role 'bot'"):
        build_context([{"role": "user", "content": "a"}, {"role": "bot", "content": "b"}], "?")


@given(
    sizes=st.lists(st.integers(0, 80), max_size=40),
    strategy=st.sampled_from(["layered", "last-n", "summary+recent", "span-retrieval", "sliding-window", "auto"]),
    budget=st.integers(400, 5_000),
    summary=st.sampled_from(["", "What was said before. " * 5]),
)
def test_whatever_is_given_the_prompt_fits_but_for_the_newest_round_and_ends_with_the_input(
    sizes: list[int], strategy: Any, budget: int, summary: str
):
    said: list[dict[str, Any]] = []
    for number, words in enumerate(sizes):
        said.append({"role": "user", "content": f"Question {number}? " + "word " * words})
        said.append({"role": "assistant", "content": f"Answer {number}. " + "word " * words})
    options: dict[str, Any] = {"strategy": strategy, "max_prompt_tokens": budget, "summary": summary, "pin_goal": False}
    built = build_context(said, "And word now?", **options)
    kept = numbers(built.messages)
    assert kept == list(range(len(sizes) - len(kept), len(sizes)))
    assert sum(message["content"] == "And word now?" for message in built.messages) == 1
    if len(kept) > 1:
        assert built.token_stats.total <= budget
    assert built.token_stats.total == sum(line.tokens for line in built.budget)
    assert built.token_stats.saved >= 0
    assert build_context(said, "And word now?", **options) == built, "the same in, the same out"
