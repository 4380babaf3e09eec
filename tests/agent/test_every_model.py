"""What an agent does, with models of each kind and an account that is as strict as the vendor's, in both dialects.

A model of 4.5 thinks only when asked to, one of 5 thinks, one of 5.5 thinks and binds its thinking to all that stood in
front of it, and an endpoint that only speaks the same language knows nothing of any of it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.agent.conftest import Bench, open_session
from tests.agent.test_compaction_call import (  # noqa: F401 - run here once more
    test_it_repeats_what_was_sent_up_to_the_cut_and_then_asks,
)
from tests.agent.test_control import (  # noqa: F401
    test_a_broken_stream_goes_on_from_where_it_stopped,
    test_a_call_cut_by_the_output_limit_is_never_run,
    test_a_crash_in_mid_turn_loses_no_finished_step,
    test_a_refusal_is_told_to_the_model_with_the_users_words,
    test_a_refusing_model,
    test_a_steer_is_stored_once_and_reaches_the_next_step,
    test_an_answer_cut_by_the_output_limit_is_continued,
    test_an_empty_reply_is_asked_again_once_with_a_hint,
    test_cancel_while_the_model_streams_keeps_and_marks_the_partial_answer,
    test_the_users_own_edit_is_told_before_the_next_step,
)
from tests.agent.test_same_bytes import (  # noqa: F401
    test_a_fork_begins_with_the_same_bytes,
    test_a_restart_shows_the_same_bytes,
)
from tests.agent.test_steering import test_a_steer_that_comes_with_the_answer_becomes_the_next_turn  # noqa: F401
from tests.agent.test_turn import (  # noqa: F401
    test_a_result_comes_back_by_its_ref,
    test_law_is_looked_up_at_every_step,
    test_limits_of_steps_and_tokens,
    test_read_then_answer,
    test_the_breaker_warns_and_then_ends_the_turn,
    test_three_unreadable_replies_end_the_turn,
    test_todo_recap_stands_last_when_it_changes_stays_there_and_is_never_stored,
    test_unknown_tool_bad_json_and_wrong_arguments_can_be_mended,
)
from tests.loopback.claude import Account
from tests.loopback.server import LoopbackVendor


@pytest.fixture(params=["claude-sonnet-5-5", "claude-sonnet-4-5", "claude-opus-5", "some-local-model"])
def model(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def bench(dialect: str, model: str, tmp_path: Path, home: Path) -> AsyncIterator[Bench]:
    root = tmp_path / "work"
    root.mkdir()
    async with LoopbackVendor(account=Account()) as vendor:
        made = Bench(dialect, root, home, vendor, None, model=model)  # type: ignore[arg-type]
        made.session = await open_session(made, {})
        yield made
        await made.session.close()
        assert vendor.refused == []
        assert [one for request in vendor.messages for one in request.transformed] == []
