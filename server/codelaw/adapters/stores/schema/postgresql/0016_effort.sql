-- The effort that was chosen for the chat; empty: none was. No part of the checksum, which an earlier codelaw that has
-- the database open writes without it.

ALTER TABLE chats ADD COLUMN effort TEXT COLLATE "C" NOT NULL DEFAULT '';
