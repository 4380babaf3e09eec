-- What turns did to files, and the turns that were taken out of the view.

ALTER TABLE chats ADD COLUMN reverting TEXT NOT NULL DEFAULT ''; -- the server that undoes a turn of it just now

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
    state       TEXT NOT NULL
);
CREATE INDEX changes_in_order ON changes (chat_id, turn_id, number);

CREATE TABLE withdrawn (
    position INTEGER PRIMARY KEY,
    chat_id  TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    turn_id  TEXT NOT NULL,
    UNIQUE (chat_id, turn_id)
);
