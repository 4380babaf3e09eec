"""Cursors of lists (D-2)."""

from __future__ import annotations

import base64

import pytest

from codelaw.adapters.stores.rows.database import cursor_at, cursor_place
from codelaw.domain.errors import Refusal


def test_a_cursor_leads_back_to_its_place():
    assert cursor_place(cursor_at(12.5, "an id \ud800")) == (12.5, "an id \ud800")


@pytest.mark.parametrize(
    "text", ["", "x", "[1]", '["a", "b"]', "[1" + "0" * 400 + ', "b"]', "[" * 100_000, "{}", "[null, null]", "\ud800"]
)
def test_what_no_list_has_given_is_refused(text):
    given = base64.urlsafe_b64encode(text.encode("utf-8", "surrogatepass")).decode() if text else text
    with pytest.raises(Refusal, match="not one that an earlier list gave"):
        cursor_place(given)
