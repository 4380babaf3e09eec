-- The workspace folders in which a chat was begun, as addresses.

CREATE TABLE chat_folders (
    chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    folder  TEXT NOT NULL,
    PRIMARY KEY (chat_id, folder)
);
