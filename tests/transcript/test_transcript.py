from codelaw.domain.checkpoints import Checkpoint, Demotion
from codelaw.domain.messages import Message, Metadata
from codelaw.transcript.transcript import Transcript, rounds


def a_round(number: int) -> list[Message]:
    turn = f"t{number}"
    return [
        Message(f"ask_{turn}", turn, "user", f"question {number}"),
        Message(f"say_{turn}", turn, "assistant", f"answer {number}", Metadata(answer=f"answer {number}")),
    ]


def of(count: int) -> Transcript:
    transcript = Transcript()
    for number in range(count):
        transcript = transcript.ended(a_round(number), f"t{number}", float(number))
    return transcript


def checkpoint(id_: str, first_kept: str, **more) -> Checkpoint:
    summary = Message(f"summary_{id_}", "t0", "summary", f"what was done before {first_kept}")
    return Checkpoint(id_, first_kept, 0.0, 1, summary, **more)


def test_every_turn_is_one_round_in_order():
    transcript = of(3)
    assert [round_.turn_id for round_ in transcript.kept] == ["t0", "t1", "t2"]
    assert [len(round_.messages) for round_ in rounds(transcript.messages)] == [2, 2, 2]
    assert transcript.newest_turn == "t2"
    assert transcript.started == {"t0": 0.0, "t1": 1.0, "t2": 2.0}


def test_a_checkpoint_cuts_the_view_and_leaves_the_record():
    before = of(4)
    after = before.reshaped(checkpoint("a", "t2"), ())
    assert after.messages == before.messages
    assert [round_.turn_id for round_ in after.kept] == ["t2", "t3"]
    assert [summary.content for summary in after.summaries] == ["what was done before t2"]


def test_restoring_undoes_the_newest_with_what_was_thinned_with_it():
    thinned = Demotion("say_t3", "result")
    saved = Demotion("say_t0", "result")
    first = of(5).reshaped(checkpoint("a", "t1"), ()).reshaped(None, (saved,))
    second = first.reshaped(checkpoint("b", "t3", demotions=(thinned,)), ())
    assert second.demoted == {thinned, saved}
    back = second.restored()
    assert back is not None
    assert (back.kept[0].turn_id, back.demoted, back.checkpoints) == ("t1", {saved}, first.checkpoints)


def test_restoring_an_older_one_undoes_those_after_it_too():
    cut = of(6).reshaped(checkpoint("a", "t1"), ()).reshaped(checkpoint("b", "t3"), ())
    back = cut.restored("a")
    assert back is not None
    assert back.checkpoints == ()
    assert len(back.kept) == 6


def test_a_checkpoint_whose_rounds_are_gone_archives_nothing():
    cut = of(3).reshaped(checkpoint("a", "lost"), ())
    assert len(cut.kept) == 3
    assert cut.summaries == ()


def test_a_withdrawn_turn_is_in_the_record_and_not_in_what_is_kept():
    transcript = of(4).without("t1").without("t3")
    assert [round_.turn_id for round_ in transcript.kept] == ["t0", "t2"]
    assert {message.turn_id for message in transcript.shown} == {"t0", "t2"}
    assert transcript.messages == of(4).messages
    assert transcript.newest_turn == "t3"


def test_a_withdrawn_turn_stays_so_whatever_is_cut_or_restored():
    cut = of(5).without("t2").reshaped(checkpoint("a", "t2"), ())
    assert [round_.turn_id for round_ in cut.kept] == ["t3", "t4"], "the cut is where it was decided"
    back = cut.restored()
    assert back is not None
    assert [round_.turn_id for round_ in back.kept] == ["t0", "t1", "t3", "t4"]
    assert [round_.turn_id for round_ in back.ended(a_round(9), "t9", 9.0).kept][-1] == "t9"
