"""Which parts of a reviewed edit were taken, and how an edit is spelt on the wire (F-4, E-1)."""

from __future__ import annotations

import random

import pytest

from codelaw.domain.edits import DocumentEdit, Splice, spliced
from codelaw.lsp.client_calls.edits import accepted, workspace_edit

BEFORE = "alpha\nbeta 😀\r\ngamma\n"


def made(*splices: Splice, before: str = BEFORE, review: bool = True) -> DocumentEdit:
    return DocumentEdit("file:///a.py", 3, before, splices, "Edit a.py", review)


@pytest.mark.parametrize("seed", range(30))
def test_every_choice_of_parts_is_found_again(seed: int) -> None:
    chance = random.Random(seed)
    before = "".join(chance.choice("abx\n") for _ in range(40))
    splices: list[Splice] = []
    place = 0
    while (start := place + chance.randint(1, 8)) < len(before) - 4:
        place = start + chance.randrange(4)
        splices.append(Splice(start, place, "".join(chance.choice("abx\n") for _ in range(chance.randrange(4)))))
    edit = made(*splices, before=before)
    chosen = tuple(splice for splice in splices if chance.random() < 0.5)
    text = spliced(before, chosen)
    found = accepted(edit, text)
    if text == before:
        assert found is None or spliced(before, found) == before
    else:
        assert found is not None
        assert spliced(before, found) == text


def test_a_text_of_the_users_own_is_no_choice_of_parts() -> None:
    edit = made(Splice(0, 5, "ALPHA"))
    assert accepted(edit, BEFORE.replace("gamma", "typed")) is None
    assert accepted(edit, "ALPHA\n") is None


@pytest.mark.parametrize(("encoding", "character"), [("utf-8", 9), ("utf-16", 7), ("utf-32", 6)])
def test_positions_are_in_the_clients_units(encoding: str, character: int) -> None:
    end = BEFORE.index("\r\n")
    params = workspace_edit(made(Splice(end, end, "!"), review=False), encoding)  # type: ignore[arg-type]
    [change] = params["edit"]["documentChanges"]
    place = {"line": 1, "character": character}
    assert change["edits"] == [{"range": {"start": place, "end": place}, "newText": "!"}]
    assert "changeAnnotations" not in params["edit"]
