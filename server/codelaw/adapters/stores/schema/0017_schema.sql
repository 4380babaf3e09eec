-- Text that is not valid Unicode (lone surrogates) is stored as a BLOB of its UTF-8 spelling with surrogates allowed.
-- Times are seconds since the epoch. Checksums (adapters/stores/rows/checks.py) and the numbers of turns and messages tell
-- what the disk has altered or lost.

CREATE TABLE chats (
    id             TEXT PRIMARY KEY,
    title          TEXT NOT NULL,
    kind           TEXT NOT NULL,
    mode           TEXT NOT NULL,
    model          TEXT NOT NULL,
    strategy       TEXT NOT NULL,
    created_at     REAL NOT NULL,
    updated_at     REAL NOT NULL,
    chosen         INTEGER NOT NULL,            -- whether a person chose the model
    places         TEXT NOT NULL,               -- where the chat's text went, one place a line, the newest last
    effort         TEXT NOT NULL,               -- empty: none was chosen
    seq            INTEGER NOT NULL DEFAULT 0,  -- the last one given to an event
    begun          INTEGER NOT NULL DEFAULT 0,  -- turns so far
    generation     INTEGER NOT NULL DEFAULT 0,  -- rises with every change of checkpoints, demotions and withdrawn turns
    settled        TEXT NOT NULL DEFAULT '',    -- the newest turn at the last compaction or restore
    reverting      TEXT NOT NULL DEFAULT '',    -- the server that undoes a turn of it just now
    todos          TEXT NOT NULL DEFAULT '[]',
    todos_checksum INTEGER NOT NULL,
    checksum       INTEGER NOT NULL             -- of title, mode, model, strategy, chosen, places and effort
);
CREATE INDEX chats_newest ON chats (updated_at DESC, id DESC);

-- The workspace folders in which a chat was begun, as addresses.
CREATE TABLE chat_folders (
    chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    folder  TEXT NOT NULL,
    PRIMARY KEY (chat_id, folder)
);

CREATE TABLE turns (
    position    INTEGER PRIMARY KEY,
    chat_id     TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    id          TEXT NOT NULL,
    status      TEXT NOT NULL,
    owner       TEXT NOT NULL,
    started_at  REAL NOT NULL,
    last_usage  TEXT,
    stop_reason TEXT,
    number      INTEGER NOT NULL,
    said        INTEGER NOT NULL, -- messages so far
    checksum    INTEGER NOT NULL, -- of id, number and started_at
    UNIQUE (chat_id, id)
);
CREATE INDEX turns_running ON turns (chat_id, position) WHERE status = 'running';
CREATE INDEX turns_in_order ON turns (chat_id, position);

CREATE TABLE messages (
    position INTEGER PRIMARY KEY,
    chat_id  TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    id       TEXT NOT NULL,
    turn_id  TEXT NOT NULL,
    role     TEXT NOT NULL,
    content  TEXT NOT NULL,
    metadata TEXT NOT NULL,
    number   INTEGER,                    -- in its turn
    checksum INTEGER NOT NULL,
    indexed  INTEGER NOT NULL DEFAULT 0, -- whether it has its passages
    UNIQUE (chat_id, id)
);
CREATE INDEX messages_in_order ON messages (chat_id, position);
CREATE INDEX messages_of_turns ON messages (chat_id, turn_id, position);
CREATE INDEX messages_unindexed ON messages (chat_id, position) WHERE indexed = 0;

CREATE TABLE results (
    chat_id  TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    ref      TEXT NOT NULL,
    body     TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (chat_id, ref)
);

CREATE TABLE events (
    chat_id  TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    seq      INTEGER NOT NULL,
    turn_id  TEXT NOT NULL,
    at       REAL NOT NULL,
    body     TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (chat_id, seq)
);
CREATE INDEX events_of_turns ON events (chat_id, turn_id, seq);

CREATE TABLE notices (
    chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    code    TEXT NOT NULL,
    PRIMARY KEY (chat_id, code)
);

-- Standing permissions: whose, and the folder in which each was given (its real path).
CREATE TABLE grants (
    position INTEGER PRIMARY KEY,
    id       TEXT NOT NULL UNIQUE,
    rule     TEXT NOT NULL,
    scope    TEXT NOT NULL,
    folder   TEXT NOT NULL,
    person   TEXT NOT NULL,
    checksum INTEGER NOT NULL
);

-- Cuts of the view. The record in `messages` stays whole; an undone checkpoint stays here and is not loaded.
CREATE TABLE checkpoints (
    position INTEGER PRIMARY KEY,
    chat_id  TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    id       TEXT NOT NULL,
    undone   INTEGER NOT NULL DEFAULT 0,
    body     TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (chat_id, id)
);
CREATE INDEX checkpoints_in_force ON checkpoints (chat_id, position) WHERE NOT undone;

CREATE TABLE demotions (
    position   INTEGER PRIMARY KEY,
    chat_id    TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    part       TEXT NOT NULL,
    UNIQUE (chat_id, message_id, part)
);
CREATE INDEX demotions_in_order ON demotions (chat_id, position);

-- Turns that were taken out of the view.
CREATE TABLE withdrawn (
    position INTEGER PRIMARY KEY,
    chat_id  TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    turn_id  TEXT NOT NULL,
    UNIQUE (chat_id, turn_id)
);

-- What the view shows behind messages, and the record does not hold.
CREATE TABLE asides (
    position   INTEGER PRIMARY KEY,
    chat_id    TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    body       TEXT NOT NULL,
    about      TEXT NOT NULL,    -- ids of the memories that are in it, one a line
    checksum   INTEGER NOT NULL,
    UNIQUE (chat_id, message_id, name)
);
CREATE INDEX asides_in_order ON asides (chat_id, position);

-- The rolling summary of a chat: one text, replaced as the chat grows.
CREATE TABLE thread_summaries (
    chat_id  TEXT PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    covers   TEXT NOT NULL, -- the newest turn that is in it
    body     TEXT NOT NULL,
    checksum INTEGER NOT NULL
);

-- What turns did to files.
CREATE TABLE changes (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_id     TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    turn_id     TEXT NOT NULL,
    call_id     TEXT NOT NULL,
    path        TEXT NOT NULL,
    uri         TEXT NOT NULL,
    before_text BLOB,             -- zlib of UTF-8 with surrogates allowed; NULL: there was no file
    after_text  BLOB,             -- likewise; NULL: there is no file any more
    encoding    TEXT NOT NULL,
    bom         INTEGER NOT NULL,
    mode        INTEGER,
    state       TEXT NOT NULL,
    checksum    INTEGER NOT NULL  -- of all but after_text, which its packing guards, and state
);
CREATE INDEX changes_in_order ON changes (chat_id, turn_id, number);

-- What was decided: calls, grants, trust, violations. What is about a chat goes with it.
CREATE TABLE audit (
    position INTEGER PRIMARY KEY,
    chat_id  TEXT REFERENCES chats (id) ON DELETE CASCADE,
    at       REAL NOT NULL,
    kind     TEXT NOT NULL,
    tool     TEXT NOT NULL,
    title    TEXT NOT NULL,
    decision TEXT NOT NULL,
    by_whom  TEXT NOT NULL,
    rule     TEXT NOT NULL,
    detail   TEXT NOT NULL,
    folder   TEXT NOT NULL,
    person   TEXT NOT NULL
);
CREATE INDEX audit_of_chats ON audit (chat_id, position);

-- What was said, in passages that are searched for and embedded (B-4, B-5).
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

-- Long-term memory. The words and the vectors follow the entries: whatever deletes an entry, also the end of its chat,
-- deletes both.
CREATE TABLE memories (
    position   INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    text       TEXT NOT NULL,
    category   TEXT NOT NULL,
    scope      TEXT NOT NULL,
    belongs_to TEXT NOT NULL,                                  -- login name, key of the project, or id of the chat
    chat_id    TEXT REFERENCES chats (id) ON DELETE CASCADE,   -- of the scope `session` the chat, else NULL
    confidence REAL NOT NULL,
    created_at REAL NOT NULL,
    used_at    REAL,
    uses       INTEGER NOT NULL DEFAULT 0,
    checksum   INTEGER NOT NULL
);
CREATE INDEX memories_newest ON memories (created_at DESC, id DESC);
CREATE INDEX memories_foremost ON memories (scope, belongs_to, confidence DESC, created_at DESC, category);
CREATE INDEX memories_of_chats ON memories (chat_id) WHERE chat_id IS NOT NULL;

-- Numbers rise and are never used again: who has seen all up to one reads only those behind it.
CREATE TABLE memory_vectors (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    position INTEGER NOT NULL REFERENCES memories (position) ON DELETE CASCADE,
    embedder TEXT NOT NULL,
    size     INTEGER NOT NULL, -- bytes of the vector
    vector   BLOB NOT NULL,
    UNIQUE (position, embedder)
);
CREATE INDEX memory_vectors_in_order ON memory_vectors (embedder, size, number);

CREATE VIRTUAL TABLE memory_words USING fts5 (text, tokenize = 'porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab (memory_words, 'row');

CREATE TRIGGER memories_said AFTER INSERT ON memories BEGIN
    INSERT INTO memory_words (rowid, text) VALUES (new.position, new.text);
END;

CREATE TRIGGER memories_reworded AFTER UPDATE OF text ON memories BEGIN
    UPDATE memory_words SET text = new.text WHERE rowid = new.position;
END;

CREATE TRIGGER memories_forgotten AFTER DELETE ON memories BEGIN
    DELETE FROM memory_words WHERE rowid = old.position;
END;

-- Deleted words leave traces in an index of words until it is put together anew.
CREATE TRIGGER memories_of_chat_forgotten BEFORE DELETE ON chats
WHEN EXISTS (SELECT 1 FROM memories WHERE chat_id = old.id) BEGIN
    DELETE FROM memories WHERE chat_id = old.id;
    INSERT INTO memory_words (memory_words) VALUES ('optimize');
END;

-- What is said, by all its sequences of three characters, so that chats are searched without reading them (D-2). The
-- index holds no text and says where a text may be; the message itself says whether it is there.
CREATE VIRTUAL TABLE message_grams USING fts5 (
    text, chat, content = '', detail = none, columnsize = 0, tokenize = 'trigram case_sensitive 1'
);
CREATE VIRTUAL TABLE message_vocabulary USING fts5vocab (message_grams, 'row');

-- Messages that are not in the index. They are looked through themselves.
CREATE TABLE search_waiting (
    position INTEGER PRIMARY KEY REFERENCES messages (position) ON DELETE CASCADE,
    state    INTEGER NOT NULL DEFAULT 0 -- 0: to be indexed; 1: its chat is being deleted; 2: too long
);
CREATE INDEX search_waiting_next ON search_waiting (position) WHERE state = 0;

CREATE TRIGGER messages_said AFTER INSERT ON messages BEGIN
    INSERT OR IGNORE INTO search_waiting (position) VALUES (new.position);
END;
