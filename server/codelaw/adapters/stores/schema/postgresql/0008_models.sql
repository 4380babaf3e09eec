-- Whether a person chose the chat's model, and where the chat's text went, one place a line, the newest last.

ALTER TABLE chats ADD COLUMN chosen INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chats ADD COLUMN places TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Until now every chat kept its first model, and the offline one gave way to any other.
UPDATE chats SET chosen = 1 WHERE model <> 'offline';
UPDATE chats SET places = 'offline'
    WHERE model = 'offline' AND EXISTS (SELECT 1 FROM turns WHERE turns.chat_id = chats.id);
