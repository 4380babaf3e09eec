from codelaw.context.past.projection import in_turn, project
from codelaw.context.past.strategies import Selection
from codelaw.domain.checkpoints import Checkpoint
from codelaw.domain.messages import Call, Message, Metadata
from codelaw.transcript.transcript import Transcript


def a_round(number: int) -> list[Message]:
    turn = f"t{number}"
    return [
        Message(f"ask_{turn}", turn, "user", f"question {number}"),
        Message(f"say_{turn}", turn, "assistant", f"answer {number}", Metadata(answer=f"answer {number}")),
    ]


def archived(count: int, words: int = 10) -> Transcript:
    """One round kept, and before it `count` checkpoints with a summary each."""
    transcript = Transcript()
    for number in range(count + 1):
        transcript = transcript.ended(a_round(number), f"t{number}", float(number))
    for number in range(count):
        summary = Message(f"s{number}", f"t{number}", "summary", f"SUMMARY {number} " + "word " * words)
        transcript = transcript.reshaped(Checkpoint(f"c{number}", f"t{number + 1}", 0.0, 1, summary), ())
    return transcript


def test_the_view_is_the_summaries_and_the_kept_rounds():
    history = project(archived(2))
    assert [message.id for message in history.summaries.messages] == ["s0", "s1"]
    assert [message.turn_id for message in history.rounds.messages] == ["t2", "t2"]
    assert any("archived" in entry.reason for entry in history.dropped)


def test_summaries_stay_verbatim_while_they_fit_into_their_room():
    transcript = archived(3)
    history = project(transcript, Selection(summary_room=10_000))
    assert [message.content for message in history.summaries.messages] == [
        cut.summary.content for cut in transcript.checkpoints
    ]


def test_beyond_their_room_the_oldest_summaries_become_one_line_that_tells_how_to_read_them():
    history = project(archived(30, words=200), Selection(summary_room=1_500))
    first, *others = history.summaries.messages
    assert "archive:1" in first.content
    assert f"archive:{30 - len(others)}" in first.content
    assert others[-1].id == "s29"
    assert sum(len(message.content) for message in history.summaries.messages) < 6_000
    assert any("summaries" in entry.name for entry in history.dropped)


def test_the_newest_summary_stays_whatever_its_size():
    history = project(archived(2, words=5_000), Selection(summary_room=100))
    assert history.summaries.messages[-1].id == "s1"


def test_a_limit_of_user_turns_shows_the_newest_and_says_so():
    transcript = Transcript()
    for number in range(5):
        transcript = transcript.ended(a_round(number), f"t{number}", 0.0)
    history = project(transcript, Selection(limit=2))
    assert [message.turn_id for message in history.rounds.messages] == ["t3", "t3", "t4", "t4"]
    assert any("historyLimits" in entry.reason for entry in history.dropped)


def test_a_running_turn_that_is_well_formed_is_the_same_object():
    question, call = Message("q", "t", "user", "do it"), Call("c1", "LS", {})
    scratchpad = [
        Message("a", "t", "assistant", "Action: LS[{}]", Metadata(step=1, calls=(call,))),
        Message("r", "t", "tool", '{"status": "success", "data": {}}', Metadata(step=1, tool_name="LS", call_id="c1")),
    ]
    assert in_turn(question, scratchpad) is scratchpad
    assert len(in_turn(question, scratchpad[:1])) == 2


def test_a_withdrawn_round_is_left_out_and_named_in_the_report():
    transcript = archived(1).ended(a_round(7), "t7", 7.0)
    history = project(transcript.without("t7"), Selection(limit=1))
    assert [message.turn_id for message in history.rounds.messages] == ["t1", "t1"]
    assert ("withdrawn rounds", True) in [(entry.name, "1 round" in entry.reason) for entry in history.dropped]
    assert not any(entry.name == "older rounds" for entry in history.dropped), "the limit counts what is shown"
    assert project(transcript.without("t1").without("t7")).rounds is None
