"""When the pictures of a result go, and the words about that (M-6, C-5, C-6)."""

from __future__ import annotations

import json
from dataclasses import replace

from codelaw.context.escaping import json_line
from codelaw.context.observations.text import shown
from codelaw.context.past.projection import project
from codelaw.context.pictures import without_pictures
from codelaw.context.sections import message_tokens
from codelaw.context.shortening.compressor import compress
from codelaw.context.shortening.demotion import demoted
from codelaw.context.shortening.scratchpad import given_way, shrink_scratchpad, truncate
from codelaw.domain.checkpoints import Demotion
from codelaw.domain.media.images import image_of
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.domain.results import ToolResult
from codelaw.transcript.transcript import Transcript
from tests.domain.pictures import png

TOOL = "mcp__desk__shot"
IMAGE = image_of(png(750, 1000))
RESULT = ToolResult(
    "success",
    {
        "server": "desk",
        "tool": "shot",
        "text": "Taken.",
        "images": [
            {"media_type": "image/png", "bytes": 33, "size": "750×1000", "sent": True},
            {"media_type": "image/svg+xml", "bytes": 6, "unseen": "it is not a PNG"},
        ],
    },
    "",
)
ENDED = Message("end", "t", "assistant", "done", Metadata(step=2, answer="done"))


def taken(step: int = 1) -> tuple[Message, Message, Message]:
    """A call, its result as the history keeps it, and as its turn shows it."""
    call = Call(f"c{step}", TOOL, {})
    said = Message(f"say{step}", "t", "assistant", f"Action: {TOOL}[{{}}]", Metadata(step=step, calls=(call,)))
    facts = Metadata(
        step=step, tool_name=TOOL, call_id=call.id, ref=f"r{step}", as_text=True, images=(IMAGE,), whole=True
    )
    kept = Message(f"result{step}", "t", "tool", json_line(compress(TOOL, RESULT.envelope(), f"r{step}")), facts)
    full = replace(kept, content=json_line(RESULT.observation()), metadata=replace(facts, whole=False))
    return said, kept, full


SAID, KEPT, FULL = taken()
ASKED = Message("ask", "t", "user", "look")


def test_what_is_said_of_a_picture_while_it_is_shown_and_after() -> None:
    body = shown(FULL)
    assert " image/png, 750×1000, 33 bytes, shown with this result" in body
    assert " image/svg+xml, 6 bytes, not shown: it is not a PNG" in body
    assert " image/png, 750×1000, 33 bytes, not shown any more" in shown(KEPT)
    assert "shown with this result" not in shown(KEPT)
    gone = without_pictures(FULL)
    assert " image/png, 750×1000, 33 bytes, not shown any more" in shown(gone)
    assert gone.metadata.images == ()
    assert without_pictures(gone) is gone
    assert without_pictures(SAID) is SAID


def test_a_line_has_no_picture_and_says_so() -> None:
    for result in (FULL, KEPT):
        (line,) = demoted([result], {Demotion(result.id, "result")})
        assert line.metadata.images == ()
        assert ", 1 image not shown any more" in json.loads(line.content)["shortened"]


def test_a_finished_round_shows_it_until_a_batch_cuts_the_result() -> None:
    transcript = Transcript(messages=(ASKED, SAID, KEPT, ENDED)).recalling({"r1": FULL.content})
    history = project(transcript).rounds
    assert history is not None
    assert history.messages[2].metadata.images == (IMAGE,)
    assert history.messages[2].content == FULL.content
    for part in ("cut", "result"):
        cut = project(transcript.reshaped(None, [Demotion(KEPT.id, part)])).rounds
        assert cut is not None
        assert cut.messages[2].metadata.images == ()
        assert history.tokens - cut.tokens >= IMAGE.tokens


def test_in_a_running_turn_the_oldest_goes_first_and_the_round_goes_on_without_it() -> None:
    steps = [taken(step) for step in (1, 2)]
    record = [message for said, kept, _ in steps for message in (said, kept)]
    scratchpad = [message for said, _, full in steps for message in (said, full)]
    after = shrink_scratchpad(scratchpad, record, to_free=IMAGE.tokens)
    assert [message.metadata.images for message in after if message.role == "tool"] == [(), (IMAGE,)]
    reported = {full.metadata.ref or "": full.content for _, _, full in steps}
    assert given_way(after, record, reported) == (Demotion("result1", "cut"),)


def test_a_result_that_is_too_long_loses_its_pictures_before_its_text() -> None:
    (short,) = truncate([FULL], bound=500)
    assert message_tokens(short) <= 500
    assert short.metadata.images == ()
    assert "Taken." in shown(short)
    assert truncate([FULL], bound=2_000)[0] is FULL
