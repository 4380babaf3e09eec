-- Text that is not valid Unicode (lone surrogates) is stored as a BLOB of its UTF-8 spelling with surrogates allowed.

CREATE TABLE chats (
    id         TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    kind       TEXT NOT NULL,
    mode       TEXT NOT NULL,
    model      TEXT NOT NULL,
    strategy   TEXT NOT NULL,
    created_at REAL NOT NULL,              -- seconds since the epoch, as all times here
    updated_at REAL NOT NULL,
    seq        INTEGER NOT NULL DEFAULT 0, -- the last one given to an event
    todos      TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX chats_newest ON chats (updated_at DESC, id DESC);

CREATE TABLE turns (
    position    INTEGER PRIMARY KEY,
    chat_id     TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    id          TEXT NOT NULL,
    status      TEXT NOT NULL,
    owner       TEXT NOT NULL,
    started_at  REAL NOT NULL,
    last_usage  TEXT,
    stop_reason TEXT,
    UNIQUE (chat_id, id)
);
CREATE INDEX turns_running ON turns (chat_id, position) WHERE status = 'running';

CREATE TABLE messages (
    position INTEGER PRIMARY KEY,
    chat_id  TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    id       TEXT NOT NULL,
    turn_id  TEXT NOT NULL,
    role     TEXT NOT NULL,
    content  TEXT NOT NULL,
    metadata TEXT NOT NULL,
    UNIQUE (chat_id, id)
);
CREATE INDEX messages_in_order ON messages (chat_id, position);

CREATE TABLE results (
    chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    ref     TEXT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (chat_id, ref)
);

CREATE TABLE events (
    chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    seq     INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    at      REAL NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (chat_id, seq)
);

CREATE TABLE notices (
    chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    code    TEXT NOT NULL,
    PRIMARY KEY (chat_id, code)
);

CREATE TABLE grants (
    position INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    rule     TEXT NOT NULL,
    scope    TEXT NOT NULL
);
