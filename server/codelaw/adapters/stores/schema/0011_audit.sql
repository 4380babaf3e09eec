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
