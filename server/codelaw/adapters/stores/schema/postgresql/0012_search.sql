-- What is said, by all its sequences of two and of three characters, so that chats are searched without reading them
-- (D-2). They are numbers of 16 bits, of which several sequences share one: the index says where a text may be; the
-- message itself says whether it is there.

CREATE TABLE message_grams (
    position BIGINT PRIMARY KEY REFERENCES messages (position) ON DELETE CASCADE,
    grams    SMALLINT[] NOT NULL
);
CREATE INDEX message_grams_held ON message_grams USING gin (grams);

-- Messages that are not in the index. They are looked through themselves.
CREATE TABLE search_waiting (
    position BIGINT PRIMARY KEY REFERENCES messages (position) ON DELETE CASCADE,
    state    BIGINT NOT NULL DEFAULT 0 -- 0: to be indexed; 2: too long
);
CREATE INDEX search_waiting_next ON search_waiting (position) WHERE state = 0;

CREATE FUNCTION message_said() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO search_waiting (position) VALUES (new.position) ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
CREATE TRIGGER messages_said AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION message_said();

-- Likewise all messages between these positions, from the time before there was an index.
CREATE TABLE search_backlog (
    number BIGINT PRIMARY KEY CHECK (number = 1),
    next   BIGINT NOT NULL,
    last   BIGINT NOT NULL
);
INSERT INTO search_backlog SELECT 1, 1, coalesce(max(position), 0) FROM messages;
