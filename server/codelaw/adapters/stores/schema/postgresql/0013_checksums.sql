-- What was written, so that damage on the disk is noticed: checksums of rows (adapters/stores/rows/checks.py), the number of a
-- message in its turn and of a turn in its chat, and how many there are. NULL: written by an earlier codelaw.

ALTER TABLE chats ADD COLUMN begun BIGINT;    -- turns so far
ALTER TABLE chats ADD COLUMN checksum BIGINT; -- of title, mode, model, strategy, chosen and places
ALTER TABLE chats ADD COLUMN todos_checksum BIGINT;
ALTER TABLE turns ADD COLUMN number BIGINT;
ALTER TABLE turns ADD COLUMN said BIGINT;     -- messages so far
ALTER TABLE turns ADD COLUMN checksum BIGINT; -- of id, number and started_at
ALTER TABLE messages ADD COLUMN number BIGINT;
ALTER TABLE messages ADD COLUMN checksum BIGINT;
ALTER TABLE results ADD COLUMN checksum BIGINT;
ALTER TABLE events ADD COLUMN checksum BIGINT;
ALTER TABLE checkpoints ADD COLUMN checksum BIGINT;
ALTER TABLE thread_summaries ADD COLUMN checksum BIGINT;
ALTER TABLE changes ADD COLUMN checksum BIGINT; -- of all but after_text, which its packing guards, and state
ALTER TABLE memories ADD COLUMN checksum BIGINT;
ALTER TABLE grants ADD COLUMN checksum BIGINT;
