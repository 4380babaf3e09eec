-- The rolling summary of a chat: one text, replaced as the chat grows.

CREATE TABLE thread_summaries (
    chat_id TEXT COLLATE "C" PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    covers  TEXT COLLATE "C" NOT NULL, -- the newest turn that is in it
    body    TEXT COLLATE "C" NOT NULL
);
