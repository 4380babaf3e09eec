-- The rolling summary of a chat: one text, replaced as the chat grows.

CREATE TABLE thread_summaries (
    chat_id TEXT PRIMARY KEY REFERENCES chats (id) ON DELETE CASCADE,
    covers  TEXT NOT NULL, -- the newest turn that is in it
    body    TEXT NOT NULL
);
