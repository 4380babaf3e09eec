-- The workspace folders in which a chat was begun, as addresses.

CREATE TABLE chat_folders (
    chat_id TEXT COLLATE "C" NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
    folder  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (chat_id, folder)
);
