-- What was said, in passages that are searched for and embedded (B-4, B-5).

ALTER TABLE messages ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX messages_unindexed ON messages (chat_id, position) WHERE indexed = 0;

-- Numbers rise and are never used again: who has seen all up to one reads only those behind it.
CREATE TABLE passages (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_id          TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    message_id       TEXT NOT NULL,
    part             INTEGER NOT NULL,
    turn_position    INTEGER NOT NULL,
    message_position INTEGER NOT NULL,
    role             TEXT NOT NULL,
    said_at          REAL NOT NULL,    -- when the turn began
    tells_time       INTEGER NOT NULL, -- whether the message speaks of a time
    chars            INTEGER NOT NULL,
    words            BLOB NOT NULL,    -- the terms in order, 32 bits each, little-endian
    body             TEXT NOT NULL,
    UNIQUE (chat_id, message_id, part)
);
CREATE INDEX passages_of_chat ON passages (chat_id, id);

CREATE TABLE vectors (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_id    TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    passage_id INTEGER NOT NULL REFERENCES passages (id) ON DELETE CASCADE,
    embedder   TEXT NOT NULL,
    vector     BLOB NOT NULL,          -- 32-bit floats, little-endian, of length 1
    UNIQUE (passage_id, embedder)
);
CREATE INDEX vectors_of_chat ON vectors (chat_id, embedder, id);

CREATE TABLE claims (                  -- passages that a server embeds just now
    passage_id INTEGER NOT NULL REFERENCES passages (id) ON DELETE CASCADE,
    embedder   TEXT NOT NULL,
    owner      TEXT NOT NULL,
    PRIMARY KEY (passage_id, embedder)
);
CREATE INDEX claims_of_owner ON claims (owner);
