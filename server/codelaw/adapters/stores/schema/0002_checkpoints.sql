-- Cuts of the view. The record in `messages` stays whole; an undone checkpoint stays here and is not loaded.

ALTER TABLE chats ADD COLUMN generation INTEGER NOT NULL DEFAULT 0; -- rises with every change of the tables below
ALTER TABLE chats ADD COLUMN settled TEXT NOT NULL DEFAULT '';      -- the newest turn at the last compaction or restore

CREATE TABLE checkpoints (
    position INTEGER PRIMARY KEY,
    chat_id  TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    id       TEXT NOT NULL,
    undone   INTEGER NOT NULL DEFAULT 0,
    body     TEXT NOT NULL,
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
