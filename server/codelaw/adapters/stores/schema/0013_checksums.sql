-- What was written, so that damage on the disk is noticed: checksums of rows (adapters/stores/rows/checks.py), the number of a
-- message in its turn and of a turn in its chat, and how many there are. NULL: written by an earlier codelaw.

ALTER TABLE chats ADD COLUMN begun INTEGER;    -- turns so far
ALTER TABLE chats ADD COLUMN checksum INTEGER; -- of title, mode, model, strategy, chosen and places
ALTER TABLE chats ADD COLUMN todos_checksum INTEGER;
ALTER TABLE turns ADD COLUMN number INTEGER;
ALTER TABLE turns ADD COLUMN said INTEGER;     -- messages so far
ALTER TABLE turns ADD COLUMN checksum INTEGER; -- of id, number and started_at
ALTER TABLE messages ADD COLUMN number INTEGER;
ALTER TABLE messages ADD COLUMN checksum INTEGER;
ALTER TABLE results ADD COLUMN checksum INTEGER;
ALTER TABLE events ADD COLUMN checksum INTEGER;
ALTER TABLE checkpoints ADD COLUMN checksum INTEGER;
ALTER TABLE thread_summaries ADD COLUMN checksum INTEGER;
ALTER TABLE changes ADD COLUMN checksum INTEGER; -- of all but after_text, which its packing guards, and state
ALTER TABLE memories ADD COLUMN checksum INTEGER;
ALTER TABLE grants ADD COLUMN checksum INTEGER;
