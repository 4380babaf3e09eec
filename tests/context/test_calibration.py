"""Weights of kinds of text, learnt from what models report (W-4)."""

from __future__ import annotations

import random

import pytest

from codelaw.context.calibration import LEAST, MOST, Calibration, Mixture, mixture
from codelaw.context.sections import message_section, text_section
from codelaw.domain.messages import Call, Message, Metadata

PROSE, CODE, WIDE = Mixture(prose=1000), Mixture(code=1000), Mixture(wide=1000)


def taught(*calls: tuple[Mixture, int]) -> Calibration:
    known = Calibration()
    for made_of, reported in calls:
        known = known.observed("m", made_of, reported)
    return known


def billed(made_of: Mixture, prose: float, code: float, wide: float) -> int:
    return round(made_of.prose * prose + made_of.code * code + made_of.wide * wide + made_of.calls * 1.3)


def test_nothing_is_corrected_before_a_model_has_reported():
    known = taught((PROSE, 800))
    assert Calibration().apply("m", 1000, PROSE) == 1000
    assert known.apply("other", 1000, PROSE) == 1000
    assert known.apply("m", 0) == 0
    assert Calibration().models == {}


def test_one_report_corrects_its_own_kind_and_leaves_the_others():
    known = taught((CODE, 1300))
    assert known.ratio("m", CODE) == pytest.approx(1.3, abs=0.01)
    assert known.ratio("m", PROSE) == pytest.approx(1.0)
    assert known.ratio("m") == known.ratio("m", CODE), "without a mixture, that of the newest call"


@pytest.mark.parametrize("weights", [(0.8, 0.8, 1.5), (0.75, 1.1, 2.4), (1.0, 1.2, 0.9), (0.7, 1.4, 1.7)])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.7])
def test_three_calls_of_a_growing_mixture_are_enough_for_five_percent(weights: tuple[float, ...], share: float):
    for seed in range(20):
        chance, known = random.Random(seed), Calibration()
        prose, code, wide, calls = 400.0, 600.0, 0.0, 0.0
        for call in range(10):
            size = chance.randint(800, 3_000)
            prose, calls = prose + 200, calls + 111
            code, wide = code + size * (1 - share), wide + size * share
            made_of = Mixture(prose, code, wide, calls)
            true = billed(made_of, *weights)
            if call >= 3:
                assert known.apply("m", round(made_of.tokens), made_of) == pytest.approx(true, rel=0.05)
            known = known.observed("m", made_of, true)


def test_a_report_that_was_foreseen_need_not_be_taken_in():
    assert not taught(*[(CODE, 1300)] * 4).foreseen("m", 2000, 2600), "it may be right by chance"
    known = taught(*[(CODE, 1300)] * 5)
    assert known.foreseen("m", 2000, 2595)
    assert known.foreseen("m", 2000, 2610)
    assert not known.foreseen("m", 2000, 2700)
    assert not known.foreseen("m", 2000, 0)
    assert not known.foreseen("other", 2000, 2000)


def test_what_makes_no_sense_moves_nothing_beyond_its_bounds():
    assert taught((CODE, 0)) == taught((Mixture(), 50)) == Calibration()
    assert taught((CODE, 10**9)).ratio("m", CODE) == pytest.approx(MOST, rel=0.02)
    assert taught((CODE, 1)).ratio("m", CODE) == pytest.approx(LEAST, rel=0.05)
    chance, known = random.Random(1), Calibration()
    for _ in range(500):
        made_of = Mixture(*(chance.choice((0.0, 1.0, 50.0, 100_000.0)) for _ in range(4)))
        known = known.observed("m", made_of, chance.choice((0, 1, 500, 10**7)))
        for one in (PROSE, CODE, WIDE, made_of):
            assert LEAST <= known.ratio("m", one) <= MOST or made_of.tokens == 0


def test_a_mixture_is_that_of_the_texts_as_they_are_sent():
    call = Call("c", "Read", {"path": "a.py"})
    messages = [
        Message("u", "t", "user", "Please have a look at what stands there and tell me about it in a few words."),
        Message("a", "t", "assistant", 'Thought: x\nAction: Read[{"path": "a.py"}]', Metadata(calls=(call,))),
        Message("r", "t", "tool", "汉字" * 100, Metadata(call_id="c")),
    ]
    sections = [text_section("L2", "law", "f(x) = {y: [z]};" * 20), message_section("L3", "history", messages)]
    found = mixture(sections)
    assert found.calls == 111
    assert found.tokens == pytest.approx(sum(section.tokens for section in sections), abs=4)
    assert found.wide == pytest.approx(200 / 1.8)
    assert found.code > 100
    assert mixture([]) == Mixture()
