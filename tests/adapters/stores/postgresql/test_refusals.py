"""Databases that cannot be had, and what is said about it; never the password (D-3, S-5)."""

from __future__ import annotations

import asyncio
import socket
import time

import psycopg
import pytest

from codelaw.adapters.stores.opening import PostgresStore
from codelaw.adapters.stores.postgres import connection as connection_module
from codelaw.domain.errors import Refusal
from tests.adapters.stores.suite import a_chat, said
from tests.fakes.postgres import PASSWORD


async def refused(url, *words):
    started = time.monotonic()
    with pytest.raises(Refusal) as caught:
        await (await PostgresStore.open(url)).close()
    assert caught.value.code == "store_unavailable"
    assert caught.value.hint
    reported = f"{caught.value.message} {caught.value.hint}"
    assert PASSWORD not in reported
    for word in words:
        assert word in reported
    assert time.monotonic() - started < connection_module.CONNECT_SECONDS + 120
    return reported


async def test_wrong_password_user_and_database_are_told_apart(postgres):
    said = await refused(postgres.url(password="wrong-SECRET"), "does not accept this user and password")
    assert "wrong-SECRET" not in said
    await refused(postgres.url(user="nobody_here"), "does not accept this user and password")
    await refused(postgres.url("not_there"), "no such database", "createdb", "127.0.0.1")


async def test_a_server_that_is_not_there_is_refused_with_its_place():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    await refused(f"postgresql://me:{PASSWORD}@127.0.0.1:{port}/db", "cannot be reached", f"127.0.0.1:{port}")
    await refused(f"postgresql://me:{PASSWORD}@no-such-host.invalid/db", "cannot be reached")


async def test_a_host_that_says_nothing_is_given_up_in_time_while_the_loop_runs_on(monkeypatch):
    monkeypatch.setattr(connection_module, "CONNECT_SECONDS", 2.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        opening = asyncio.ensure_future(
            refused(f"postgresql://me:{PASSWORD}@127.0.0.1:{silent.getsockname()[1]}/db", "timeout")
        )
        beats = 0
        while not opening.done():
            await asyncio.sleep(0.01)
            beats += 1
        await opening
    assert beats > 5


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:{PASSWORD}/x@host/db",
        f"postgresql://me:a@{PASSWORD}@host/db",
        f"postgresql://me:a@b/{PASSWORD}@host/db",
        f"postgresql://me:x@host:{PASSWORD}/db",
        f"postgresql://me:x@host/db?{PASSWORD}=1",
        f"postgresql://me:%zz{PASSWORD}@host/db",
    ],
)
async def test_a_url_that_cannot_be_read_is_not_repeated(url):
    await refused(url, "percent-encoded")


async def test_a_database_without_pgvector_says_how_to_get_it(postgres, postgres_url, behind):
    name = postgres_url.rpartition("/")[2]
    behind(f"ALTER DATABASE {name} SET extension_control_path = '/nowhere'")
    await refused(postgres_url, "pgvector is not installed", "postgresql-NN-pgvector")
    assert behind("SELECT 1 FROM pg_namespace WHERE nspname = 'codelaw'") == []


async def test_who_may_not_add_pgvector_or_a_schema_learns_what_to_ask_for(postgres, postgres_url, behind):
    name = postgres_url.rpartition("/")[2]
    behind(f"CREATE ROLE poor LOGIN PASSWORD '{PASSWORD}'")
    try:
        poor = postgres.url(name, user="poor")
        await refused(poor, "CREATE SCHEMA codelaw")
        behind(f"GRANT CREATE ON DATABASE {name} TO poor")
        await refused(poor, "CREATE EXTENSION vector")
        assert behind("SELECT 1 FROM pg_namespace WHERE nspname = 'codelaw'") == [], "all or nothing"
        behind(
            "CREATE SCHEMA elsewhere; GRANT USAGE ON SCHEMA elsewhere TO poor; CREATE EXTENSION vector SCHEMA elsewhere"
        )
        store = await PostgresStore.open(poor)
        await store.create(a_chat())
        vector = await store.database.read(lambda session: session.execute("SELECT '[1,2]'::vector::text").fetchone())
        assert vector == ("[1,2]",)
        await store.close()
        behind("CREATE ROLE stranger LOGIN PASSWORD '" + PASSWORD + "'")
        await refused(postgres.url(name, user="stranger"), "GRANT")
    finally:
        behind("DROP OWNED BY poor CASCADE; DROP ROLE poor; DROP ROLE IF EXISTS stranger")


async def test_a_database_of_another_version_is_refused_and_untouched(open_store, postgres_url, behind):
    await (await open_store()).close()
    behind("INSERT INTO codelaw.migrations VALUES (999, 'later', 0)")
    await refused(postgres_url, "newer codelaw", "999")
    assert behind("SELECT count(*) FROM codelaw.migrations WHERE version = 999") == [(1,)]
    behind("DELETE FROM codelaw.migrations")
    behind("INSERT INTO codelaw.migrations VALUES (1, 'chats', 0), (16, 'effort', 0)")
    await refused(postgres_url, "older codelaw", "16", "codelaw chats --export ID")


@pytest.mark.parametrize(
    "theirs",
    [
        "CREATE TABLE codelaw.theirs (a int)",
        "CREATE TABLE codelaw.migrations (id int, app text)",
        "CREATE TABLE codelaw.migrations (version bigint, name text, at float)",
        "CREATE TABLE codelaw.migrations AS SELECT 1 AS version, 'theirs' AS name, 0 AS at",
    ],
)
async def test_a_schema_of_another_program_is_refused_and_kept(postgres_url, behind, theirs):
    behind("CREATE SCHEMA codelaw")
    behind(theirs)
    await refused(postgres_url, "another program", "search_path")
    assert len(behind("SELECT 1 FROM pg_class WHERE relnamespace = 'codelaw'::regnamespace AND relkind = 'r'")) == 1


async def test_a_url_may_name_another_schema(postgres_url, behind):
    behind("CREATE SCHEMA codelaw; CREATE TABLE codelaw.theirs (a int)")
    store = await PostgresStore.open(f"{postgres_url}?options=-csearch_path%3Dours")
    await store.create(a_chat())
    await store.close()
    assert behind("SELECT id FROM ours.chats") == [("c1",)]


async def test_a_database_in_another_encoding_is_refused(postgres):
    postgres.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    try:
        await refused(postgres.url("latin"), "LATIN1", "UTF8")
    finally:
        postgres.run("DROP DATABASE latin WITH (FORCE)")


async def test_our_own_mistakes_are_not_refusals_and_tell_no_words_of_a_chat(open_store):
    store = await open_store()
    await store.create(a_chat())
    for wrong in (
        said("m1", "unmistakable-words", turn=None),  # pyright: ignore[reportArgumentType]
        said("m1", "unmistakable-words", role=None),  # pyright: ignore[reportArgumentType]
    ):
        with pytest.raises(psycopg.IntegrityError) as caught:
            await store.append("c1", [wrong])
        assert "unmistakable" not in str(caught.value)
        assert caught.value.__cause__ is None


async def test_a_chat_that_another_program_holds_is_a_readable_refusal(monkeypatch, open_store, postgres_url):
    quick = connection_module._SETTINGS.replace(b"'5s'", b"'200ms'")
    monkeypatch.setattr(connection_module, "_SETTINGS", quick)
    store = await open_store()
    await store.create(a_chat())
    with psycopg.connect(postgres_url) as other:
        other.execute("SELECT 1 FROM codelaw.chats FOR UPDATE")
        with pytest.raises(Refusal, match="another server holds"):
            await store.append("c1", [said("m")])
        assert (await store.load("c1")).messages == (), "who reads does not wait"
    await store.append("c1", [said("m")])
