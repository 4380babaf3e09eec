"""Random histories: well-formed ones, damaged ones, and heaps of anything."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from codelaw.domain.messages import Call, Fragment, Message, Metadata

MARK = "\u00b6"
"""Encloses what a user said, so that it can be found again."""


def asked(turn: str, text: str = "", **facts: Any) -> Message:
    """The user's message that begins a turn."""
    return Message(f"ask_{turn}", turn, "user", text or f"{MARK}question of {turn}{MARK}", Metadata(**facts))


def noted(turn: str, number: int, text: str = "") -> Message:
    """A steer inside a turn."""
    said = text or f"{MARK}steer {number} of {turn}{MARK}"
    return Message(f"steer_{turn}_{number}", turn, "user", said, Metadata(note="steer"))


def acted(turn: str, step: int, *ids: str, tool: str = "Read", **facts: Any) -> Message:
    """An assistant's message that calls a tool once for every id, or only speaks."""
    calls = tuple(Call(call_id, tool, {"path": f"{turn}.py"}) for call_id in ids)
    thought = f"Thought: step {step}"
    # The text dialect calls one tool a step and spells it; more calls in one message are the native one's.
    spelt = "".join(f"\nAction: {tool}[{json.dumps(call.arguments)}]" for call in calls if len(calls) == 1)
    return Message(f"say_{turn}_{step}", turn, "assistant", thought + spelt, Metadata(step=step, calls=calls, **facts))


def observed(turn: str, call_id: str, tool: str = "Read", data: str = "", **facts: Any) -> Message:
    """A call's result; its content tells whose it is."""
    content = json.dumps({"status": "success", "data": {"of": f"{turn}/{call_id}", "text": data}})
    return Message(f"result_{call_id}", turn, "tool", content, Metadata(tool_name=tool, call_id=call_id, **facts))


def answered(turn: str) -> Message:
    """The last message of a turn."""
    text = f"Answer of {turn}"
    return Message(f"end_{turn}", turn, "assistant", f"Thought: done\nAction: Finish[{text}]", Metadata(answer=text))


def whole_turn(turn: str, *steps: Iterable[str]) -> list[Message]:
    """A finished turn; each step is the ids of its calls."""
    said = [asked(turn)]
    for number, ids in enumerate(steps, 1):
        said.append(acted(turn, number, *ids))
        said.extend(observed(turn, call_id) for call_id in ids)
    return [*said, answered(turn)]


@st.composite
def wellformed(draw: st.DrawFn) -> list[Message]:
    """Up to six turns with parallel calls, steers, interruptions and summaries."""
    said: list[Message] = []
    summaries = range(draw(st.integers(0, 2)))
    said += [Message(f"summary{place}", f"s{place}", "summary", "## Archived") for place in summaries]
    for number in range(draw(st.integers(0, 6))):
        turn = f"t{number}"
        said.append(draw(st.sampled_from([asked(turn), asked(turn, fragments=(Fragment("environment", "<e>"),))])))
        for step in range(1, draw(st.integers(1, 4))):
            ids = [f"{turn}-{step}-{place}" for place in range(draw(st.integers(1, 3)))]
            said.append(acted(turn, step, *ids))
            said.extend(observed(turn, call_id, ref=f"r{len(said)}") for call_id in ids)
            if draw(st.booleans()):
                said.append(noted(turn, step))
        if draw(st.booleans()):
            said.append(answered(turn))
        else:
            mark = "Half\n[interrupted: cancelled by the user]"
            said.append(Message(f"end_{turn}", turn, "assistant", mark, Metadata(interrupted=True)))
    return said


IDS = st.sampled_from(["a", "b", "c", "call:1", "call_1", "x" * 200, "é", "a\n"])
TURNS = st.sampled_from(["t1", "t2", "t3", ""])


@st.composite
def heap(draw: st.DrawFn) -> list[Message]:
    """Messages of any role in any order, with few ids and turns, so that they collide in all ways."""
    said: list[Message] = []
    for place in range(draw(st.integers(0, 14))):
        turn = draw(TURNS)
        match draw(st.integers(0, 9)):
            case 0:
                said.append(
                    replace(asked(turn, f"{MARK}said {place}{MARK}"), id=draw(st.sampled_from(["same", f"{place}"])))
                )
            case 1:
                said.append(noted(turn, place))
            case 2:
                said.append(Message(f"summary{place}", turn, "summary", "## Archived"))
            case 3:
                said.append(answered(turn))
            case 4 | 5 | 6:
                ids = draw(st.lists(IDS, max_size=3))
                tool = draw(st.sampled_from(["Read", "Read", "Bash", "Fly.away", "no name", ""]))
                said.append(acted(turn, place, *ids, tool=tool, interrupted=draw(st.booleans())))
            case _:
                ref = draw(st.sampled_from([None, "r1"]))
                said.append(observed(turn, draw(IDS), draw(st.sampled_from(["Read", "Bash"])), str(place), ref=ref))
    return said


@st.composite
def damaged(draw: st.DrawFn) -> list[Message]:
    """A well-formed history in which some messages were lost, doubled, displaced or merged with others' ids."""
    said = list(draw(wellformed()))
    for _ in range(draw(st.integers(1, 6)) if said else 0):
        place = draw(st.integers(0, len(said) - 1))
        message: Any = said[place]
        match draw(st.integers(0, 6)):
            case 0 if message.role != "user":
                del said[place]
            case 1:
                said.insert(draw(st.integers(0, len(said))), message)
            case 2:
                said.insert(draw(st.integers(0, len(said) - 1)), said.pop(place))
            case 3 if message.metadata.calls:
                calls = tuple(replace(call, id="again") for call in message.metadata.calls)
                said[place] = replace(message, metadata=replace(message.metadata, calls=calls))
            case 4 if message.role == "tool":
                said[place] = replace(message, metadata=replace(message.metadata, call_id="again"))
            case 5 if message.role != "user":
                said[place] = replace(message, content=draw(st.sampled_from(["", " \n", "torn"])))
            case _:
                said[place] = replace(message, id="same")
        if not said:
            break
    return said


misplaced = st.one_of(damaged(), heap())
anything = st.one_of(wellformed(), damaged(), heap())
