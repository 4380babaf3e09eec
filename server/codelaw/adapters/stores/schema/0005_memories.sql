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
    uses       INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX memories_newest ON memories (created_at DESC, id DESC);
CREATE INDEX memories_foremost ON memories (scope, belongs_to, confidence DESC, created_at DESC, category);
CREATE INDEX memories_of_chats ON memories (chat_id) WHERE chat_id IS NOT NULL;

-- Numbers rise and are never used again: who has seen all up to one reads only those behind it.
CREATE TABLE memory_vectors (
    number    INTEGER PRIMARY KEY AUTOINCREMENT,
    position  INTEGER NOT NULL REFERENCES memories (position) ON DELETE CASCADE,
    embedder  TEXT NOT NULL,
    size      INTEGER NOT NULL, -- bytes of the vector
    signature BLOB NOT NULL,    -- of fixed size; vectors that are near have many bits in common
    vector    BLOB NOT NULL,
    UNIQUE (position, embedder)
);
CREATE INDEX memory_signatures ON memory_vectors (embedder, size, number, position, signature);

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
