"""Errors of the server, as a person reads them."""

from __future__ import annotations

from codelaw.cli.client import RemoteError


def test_an_internal_error_says_where_its_log_is():
    reported = RemoteError({"code": -32603, "message": "Internal error; the server's log has the details"}).reported()
    assert reported.endswith("\nRun it again with --verbose to see that log.")


def test_other_errors_have_their_own_hint_alone():
    error = RemoteError({"code": -32001, "message": "There is no chat.", "data": {"hint": "List them."}})
    assert error.reported() == "There is no chat.\nList them."
