from codelaw.context.builder import after
from codelaw.context.past.projection import deduplicate, project
from codelaw.context.past.strategies import Selection
from codelaw.domain.checkpoints import Aside, Checkpoint, Demotion
from codelaw.domain.messages import Fragment, Message, Metadata
from codelaw.transcript.transcript import Transcript

LAYERED = Selection()


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


def test_a_limit_of_user_turns_shows_the_newest_and_says_so():
    transcript = Transcript()
    for number in range(5):
        transcript = transcript.ended(a_round(number), f"t{number}", 0.0)
    history = project(transcript, Selection(limit=2))
    assert [message.turn_id for message in history.rounds.messages] == ["t3", "t3", "t4", "t4"]
    assert any("historyLimits" in entry.reason for entry in history.dropped)


def test_a_withdrawn_round_is_left_out_and_named_in_the_report():
    transcript = archived(1).ended(a_round(7), "t7", 7.0)
    history = project(transcript.without("t7"), Selection(limit=1))
    assert [message.turn_id for message in history.rounds.messages] == ["t1", "t1"]
    assert ("withdrawn rounds", True) in [(entry.name, "1 round" in entry.reason) for entry in history.dropped]
    assert not any(entry.name == "older rounds" for entry in history.dropped), "the limit counts what is shown"
    assert project(transcript.without("t1").without("t7")).rounds is None


def with_asides(*asides: Aside, turns: int = 3) -> Transcript:
    transcript = Transcript()
    for number in range(turns):
        own = [aside for aside in asides if aside.message_id.endswith(f"_t{number}")]
        transcript = transcript.ended(a_round(number), f"t{number}", 0.0, own)
    return transcript


def standing_in(transcript: Transcript, selection: Selection = LAYERED) -> dict[str, list[str]]:
    history = project(transcript, selection)
    assert history.rounds is not None
    return {
        message.id: [part.text for part in message.metadata.asides]
        for message in history.rounds.messages
        if message.metadata.asides
    }


PROFILE, MEMORIES = Aside("ask_t0", "profile", "who"), Aside("ask_t0", "memories", "what")
LATER = Aside("ask_t1", "profile", "who else")


def test_what_stands_behind_a_message_is_shown_until_its_round_is_cut():
    transcript = with_asides(PROFILE, MEMORIES, LATER)
    assert standing_in(transcript) == {"ask_t0": ["who", "what"], "ask_t1": ["who else"]}
    thinner = transcript.reshaped(None, [Demotion("ask_t0", "aside")])
    assert standing_in(thinner) == {"ask_t1": ["who else"]}
    cut = transcript.reshaped(Checkpoint("c", "t1", 0.0, 1, None, demotions=(Demotion("ask_t1", "aside"),)), ())
    assert standing_in(cut) == {}
    assert standing_in(cut.restored() or cut) == {"ask_t0": ["who", "what"], "ask_t1": ["who else"]}
    assert standing_in(transcript.without("t0")) == {"ask_t1": ["who else"]}
    assert all(not message.metadata.asides for message in transcript.messages), "the record has none"


def test_what_the_newest_of_its_name_says_already_is_not_said_again():
    history = project(with_asides(PROFILE, MEMORIES, LATER))
    again = [Fragment("profile", "who"), Fragment("memories", "what"), Fragment("spans", "what")]
    assert deduplicate(again, history) == (again[0], again[2]), "the newer profile said something else"
    assert deduplicate(again, project(Transcript())) == tuple(again)


def test_a_request_that_follows_a_batch_knows_what_stands_no_more():
    transcript = with_asides(PROFILE, LATER)
    before = project(transcript).rounds
    after_batch = after(project(transcript.reshaped(None, [Demotion("ask_t1", "aside")])), before)
    assert after_batch.rounds is not None
    assert after_batch.rounds.reused == (0, 2), "of what was sent the first two messages are as they were"
