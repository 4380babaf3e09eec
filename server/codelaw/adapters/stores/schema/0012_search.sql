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

-- Likewise all messages between these positions, from the time before there was an index.
CREATE TABLE search_backlog (
    number   INTEGER PRIMARY KEY CHECK (number = 1),
    next     INTEGER NOT NULL,
    last     INTEGER NOT NULL
);
INSERT INTO search_backlog SELECT 1, 1, coalesce(max(position), 0) FROM messages;
