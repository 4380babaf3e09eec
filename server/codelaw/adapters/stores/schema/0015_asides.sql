-- What the view shows behind messages, and the record does not hold.

CREATE TABLE asides (
    position   INTEGER PRIMARY KEY,
    chat_id    TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    message_id TEXT NOT NULL,
    name       TEXT NOT NULL,
    body       TEXT NOT NULL,
    about      TEXT NOT NULL,    -- ids of the memories that it tells, one a line
    checksum   INTEGER NOT NULL,
    UNIQUE (chat_id, message_id, name)
);
CREATE INDEX asides_in_order ON asides (chat_id, position);
