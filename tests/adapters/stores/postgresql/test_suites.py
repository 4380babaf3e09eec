"""What every store promises, and how text lies in PostgreSQL (D-3)."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codelaw.adapters.stores.postgres.session import spelt, translated, unspelt
from tests.adapters.stores.asides_suite import AsidesSuite
from tests.adapters.stores.changes_suite import ChangesSuite
from tests.adapters.stores.forks_suite import ForksSuite
from tests.adapters.stores.index_suite import IndexSuite
from tests.adapters.stores.memory_suite import MemorySuite
from tests.adapters.stores.pages_suite import PagesSuite
from tests.adapters.stores.search_suite import SearchSuite
from tests.adapters.stores.suite import StoreSuite
from tests.adapters.stores.threads_suite import ThreadsSuite


class TestPostgres(StoreSuite):
    pass


class TestPostgresChanges(ChangesSuite):
    pass


class TestPostgresForks(ForksSuite):
    pass


class TestPostgresPages(PagesSuite):
    pass


class TestPostgresSearch(SearchSuite):
    pass


class TestPostgresAsides(AsidesSuite):
    pass


class TestPostgresThreads(ThreadsSuite):
    pass


class TestPostgresIndex(IndexSuite):
    pass


class TestPostgresMemories(MemorySuite):
    pass


@settings(deadline=None)
@given(st.text(st.one_of(st.characters(), st.sampled_from("\0\x10\ud800\udfff\U000f0000\U000f0800"))))
def test_any_text_comes_back_as_it_was(text):
    stored = spelt(text)
    assert unspelt(stored) == text
    assert "\0" not in stored
    stored.encode()


def test_marks_are_translated_outside_of_quotes_only():
    assert translated("SELECT '?', '%''?', a % ? FROM b WHERE c = ?") == (
        b"SELECT '?', '%%''?', a %% %s FROM b WHERE c = %s"
    )
