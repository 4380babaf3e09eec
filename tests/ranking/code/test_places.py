"""Places in code in the order in which they answer a question (X-5)."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codelaw.ports.code import Place, PlaceKind, Symbol
from codelaw.ranking.code import frame as module
from codelaw.ranking.code.digest import LINES, Digest, chunks, digested, unpacked
from codelaw.ranking.code.frame import Frame, framed
from codelaw.ranking.code.question import asked
from codelaw.ranking.code.scoring import best_files, places
from codelaw.ranking.code.symbols import read

FILES = {
    "shop/basket.py": (
        "class Basket:\n"
        '    """What a customer wants to buy."""\n\n'
        "    def total_price(self):\n"
        "        return sum(item.price for item in self.items)\n\n"
        "    def add_item(self, item):\n"
        "        self.items.append(item)\n"
    ),
    "shop/checkout.py": (
        "from shop.basket import Basket\n\n\n"
        "def pay(basket: Basket, card):\n"
        "    # Money is moved only once.\n"
        "    card.charge(basket.total_price())\n"
    ),
    "shop/mailing.py": "def send_receipt(address):\n    connect(address).send('thank you')\n",
    "README.md": "# Shop\n\nSells things.\n\n## Receipts\n\nA receipt is sent by mail after the checkout.\n",
}
MANY = "".join(f"def one_of_many_{at}(value):\n" + "    value.use()\n" * 8 for at in range(50))


@pytest.fixture(scope="module")
def frame() -> Frame:
    return framed({path: digested(path, text) for path, text in FILES.items()})


def found(
    frame: Frame, text: str, *, limit: int = 5, below: tuple[str, ...] = (), kind: PlaceKind = "any"
) -> list[Place]:
    return places(frame, asked(text), limit=limit, below=below, kind=kind)


def test_a_definition_stands_above_its_uses(frame: Frame) -> None:
    first, *others = found(frame, "total_price")
    assert (first.path, first.symbol, first.kind) == ("shop/basket.py", "total_price", "function")
    assert FILES[first.path].split("\n")[first.start].lstrip().startswith("def total_price")
    assert "shop/checkout.py" in [one.path for one in others]
    assert "total_price" in first.why


def test_parts_of_identifiers_and_other_forms_of_words_are_found(frame: Frame) -> None:
    assert found(frame, "where are the totals of prices computed")[0].symbol == "total_price"
    assert found(frame, "sending a receipt", kind="definition")[0].path == "shop/mailing.py"
    assert found(frame, "money")[0].path == "shop/checkout.py"


def test_the_kind_narrows_what_is_found(frame: Frame) -> None:
    assert {one.path for one in found(frame, "total_price", kind="definition")} == {"shop/basket.py"}
    assert {one.path for one in found(frame, "total_price", kind="use")} == {"shop/checkout.py"}
    assert found(frame, "receipts", kind="doc")[0].path == "README.md"


def test_a_folder_and_a_limit_narrow_what_is_found(frame: Frame) -> None:
    assert {one.path for one in found(frame, "receipt", below=("README.md",))} == {"README.md"}
    assert {one.path.split("/")[0] for one in found(frame, "receipt", below=("shop",))} == {"shop"}
    assert not found(frame, "receipt", below=("sho",))
    assert len(found(frame, "item price receipt", limit=2)) == 2


def test_nothing_is_found_for_nothing(frame: Frame) -> None:
    assert found(frame, "") == found(frame, "zebra quagga") == []
    assert places(framed({}), asked("basket"), limit=5) == []


def test_the_first_line_and_names_written_as_code_weigh_more() -> None:
    question = asked("parser: keep comments\n\nThe `tokenizer` reads them")
    weights = {word: question.weights[term] for term, word in question.words.items() if term in question.weights}
    assert weights["parser"] > weights["keep"] > weights["tokenizer"] > weights["reads"]
    assert question.names == {"tokenizer"}


def test_a_digest_comes_back_from_the_disk_as_it_was() -> None:
    one = digested("shop/basket.py", FILES["shop/basket.py"])
    two = unpacked(one.packed())
    assert (one.chunks, one.symbols) == (two.chunks, two.symbols)
    for name in ("terms", "owners", "counts", "lengths", "defined", "used"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name


@pytest.mark.parametrize("digest", [digested("a.py", MANY), unpacked(digested("a.py", MANY).packed())])
def test_the_garbage_collector_does_not_visit_chunks_and_symbols(digest: Digest) -> None:
    """It would stop every thread for as long as that takes, hundreds of thousands of them at a million lines."""
    assert (digest.size, len(digest.symbols)) == (50, 50)
    gc.collect()
    assert [one for one in gc.get_referents(digest) if gc.is_tracked(one) and not isinstance(one, type)] == []
    known = framed({f"a{number}.py": digest for number in range(40)})
    gc.collect()
    assert [
        one for one in gc.get_referents(known.stems.files, known.holders.files, known.paths) if gc.is_tracked(one)
    ] == []


@given(st.binary(max_size=200))
def test_what_is_no_digest_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        unpacked(data)


@given(st.lists(st.tuples(st.integers(0, 120), st.integers(1, 90), st.sampled_from(["function", "class", "variable"]))))
def test_chunks_cover_every_line_and_none_is_long(spans: list[tuple[int, int, str]]) -> None:
    symbols = [Symbol(f"s{at}", kind, start, start + size) for at, (start, size, kind) in enumerate(sorted(spans))]
    found = chunks(130, sorted(symbols, key=lambda one: (one.start, -one.end)))
    assert {line for one in found for line in range(one.start, one.end)} == set(range(130))
    assert all(0 < one.end - one.start <= LINES for one in found)
    assert [one.start for one in found] == sorted(one.start for one in found)


@given(st.text(max_size=300), st.sampled_from(["a.py", "a.rs", "a.md", "a.txt", "a"]))
def test_any_text_can_be_digested(text: str, path: str) -> None:
    one = digested(path, text)
    assert read(path, text).symbols == one.symbols
    assert unpacked(one.packed()).chunks == one.chunks
    assert framed({path: one}).paths == (path,)


def test_a_small_frame_over_a_large_one_says_what_has_changed(frame: Frame) -> None:
    moved = FILES["shop/basket.py"].replace("total_price", "sum_of_all")
    over = framed({"shop/basket.py": digested("shop/basket.py", moved)}, frame, frozenset({"shop/mailing.py"}))
    assert found(over, "sum_of_all")[0].path == "shop/basket.py"
    assert "total_price" not in {one.symbol for one in found(over, "total_price")}
    assert "shop/mailing.py" not in {one.path for one in found(over, "send receipt")}
    same = framed({"shop/basket.py": digested("shop/basket.py", FILES["shop/basket.py"])}, frame)
    scores = [(one.path, one.start, round(one.score, 6)) for one in found(same, "item total price")]
    assert scores == [(one.path, one.start, round(one.score, 6)) for one in found(frame, "item total price")]


def test_a_frame_that_is_made_in_many_parts_is_the_same(frame: Frame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLAB", 3)
    monkeypatch.setattr(module, "TOGETHER", 2)
    other = framed({path: digested(path, text) for path, text in reversed(FILES.items())})
    assert other.paths == frame.paths == tuple(sorted(FILES))
    for which in ("chunks", "files"):
        one, two = getattr(frame, which), getattr(other, which)
        for name in ("terms", "begins", "owners", "weights", "fields"):
            assert np.array_equal(getattr(one, name), getattr(two, name)), (which, name)


def test_a_file_is_named_once_before_others_as_good_are_named() -> None:
    body = "".join(f"def stored_{at}(record):\n" + "    record.store(record)\n" * 8 for at in range(3))
    files = dict.fromkeys(("one.py", "two.py", "three.py"), body) | {f"filler_{at}.py": "pass\n" for at in range(9)}
    known = framed({path: digested(path, text) for path, text in files.items()})
    order = [one.path for one in found(known, "store record", limit=5)]
    assert set(order[:3]) == {"one.py", "two.py", "three.py"}
    assert len(order) == 5


def test_tests_stand_behind_the_code_unless_they_are_asked_for() -> None:
    text = "def open_drawer(drawer):\n    drawer.open()\n"
    files = {"tests/test_drawers.py": text * 2, "shop/furniture.py": text}
    known = framed({path: digested(path, text) for path, text in files.items()})
    assert best_files(known, asked("how a drawer is opened"), 1) == ["shop/furniture.py"]
    assert best_files(known, asked("tests of the drawer"), 1) == ["tests/test_drawers.py"]


def test_what_the_users_of_a_file_say_counts_for_an_edited_one_too() -> None:
    files = {
        "cash.py": "class Till:\n    pass\n",
        "clock.py": "class Watch:\n    pass\n",
        "sale.py": "from cash import Till\n\n\ndef refund(customer):\n    Till()\n",
        "shift.py": "from clock import Watch\n\n\ndef begin(worker):\n    Watch()\n",
    }
    known = framed({path: digested(path, text) for path, text in files.items()})
    edited = {path: digested(path, files[path] + "\n# refund\n") for path in ("cash.py", "clock.py")}
    for one in (known, framed(edited, known)):
        scores = {place.path: place.score for place in found(one, "refund pass")}
        assert scores["cash.py"] > scores["clock.py"]


def test_a_question_how_is_answered_by_documents_and_one_where_by_code(frame: Frame) -> None:
    assert found(frame, "How do I get a receipt?")[0].path == "README.md"
    assert found(frame, "Where is the receipt sent?")[0].path == "shop/mailing.py"
