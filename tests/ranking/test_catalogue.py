"""Which entries of a catalogue answer a question (X-11)."""

from __future__ import annotations

import pytest

from codelaw.ranking.catalogue import VOCABULARY, Catalogue, CatalogueEntry

ENTRIES = [
    CatalogueEntry("search_movies", "tmdb", "Search for movies by title or keywords", "query", "Words of the title"),
    CatalogueEntry("delete_message", "gmail", "Delete a message for good", "message_id", "Which message"),
    CatalogueEntry("list_messages", "gmail", "List messages of the mailbox", "label", "Only those of a label"),
    CatalogueEntry(
        "delete_message", "slack", "Delete a message of a channel", "channel, timestamp", "Where it was said"
    ),
    CatalogueEntry("createPullRequest", "github", "Open a pull request", "base, head", "Branches"),
    CatalogueEntry("chroma_cqt", "audio", "Compute the chroma of a recording", "path"),
    CatalogueEntry("get_nft_transfers", "chain", "Track transfers of NFTs", "collection"),
    *(CatalogueEntry(f"other_{number}", "misc", "Something else entirely", "a") for number in range(50)),
]
CATALOGUE = Catalogue(ENTRIES)


def best(question: str, most: int = 5) -> list[str]:
    return [f"{ENTRIES[place].server}/{ENTRIES[place].name}" for place in CATALOGUE.best(question, most)]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which films have blade in the title?", "tmdb/search_movies"),
        ("remove this mail", "gmail/delete_message"),
        ("drop the Slack message", "slack/delete_message"),
        ("pull_request", "github/createPullRequest"),
        ("open PRs, I mean a pull request", "github/createPullRequest"),
        ("make a chromagram", "audio/chroma_cqt"),
        ("who sold these NFTs", "chain/get_nft_transfers"),
        ("label", "gmail/list_messages"),
        ("SEARCHMOVIES", "tmdb/search_movies"),
    ],
)
def test_the_best_entry_comes_first(question: str, first: str):
    assert best(question)[0] == first


def test_what_shares_nothing_is_not_found():
    assert best("zzqq xxyy") == []
    assert best("") == []
    assert Catalogue([]).best("anything", 5) == []


@pytest.mark.parametrize("question", ["the news", "News of today", "headlines"])
def test_news_are_not_what_is_new(question: str):
    two = Catalogue(
        [
            CatalogueEntry("make_new_block", description="Make a new block"),
            CatalogueEntry("getBBCNews"),
            CatalogueEntry("get-bbc-news"),
        ]
    )
    assert 0 not in two.best(question, 5)
    assert len(two.best(question, 5)) == 2


def test_an_endless_vocabulary_is_bounded():
    words = [" ".join(f"w{at}x{number}" for number in range(700)) for at in range(50)]
    catalogue = Catalogue(
        [*(CatalogueEntry("n", description=one) for one in words), CatalogueEntry("late", description="w0x1 unheard")]
    )
    assert sorted(catalogue.best("w0x1", 5)) == [0, 50]
    assert catalogue.best("unheard", 5) == []
    assert VOCABULARY < 50 * 700
