-- So that the newest turns of a long chat are read without the rest of it, and deltas merged likewise.

CREATE INDEX turns_in_order ON turns (chat_id, position);
CREATE INDEX messages_of_turns ON messages (chat_id, turn_id, position);
CREATE INDEX events_of_turns ON events (chat_id, turn_id, seq);
