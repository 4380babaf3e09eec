"""Cursors of lists that are in the order of a time and an id: the place behind which the next page begins (D-2)."""

from __future__ import annotations

import base64
import json

from codelaw.domain.errors import Refusal


def cursor(at: float, row_id: str) -> str:
    """The place of a row."""
    return base64.urlsafe_b64encode(json.dumps([at, row_id]).encode()).decode()


def place(given: str) -> tuple[float, str]:
    """The time and the id of a place.

    Raises:
        Refusal: `invalid_text` when no list can have given it.
    """
    try:
        at, row_id = json.loads(base64.urlsafe_b64decode(given.encode()))
        return float(at), str(row_id)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise Refusal("invalid_text", "The cursor is not one that an earlier list gave.", "List without it.") from error
