-- An earlier codelaw that has the database open goes on writing rows without their checksums (0013): a row that changes
-- while its checksum does not has none any more, so that it is not taken for damaged.

CREATE TRIGGER chats_written AFTER UPDATE OF title, mode, model, strategy, chosen, places ON chats
WHEN new.checksum = old.checksum AND (new.title, new.mode, new.model, new.strategy, new.chosen, new.places)
    IS NOT (old.title, old.mode, old.model, old.strategy, old.chosen, old.places)
BEGIN
    UPDATE chats SET checksum = NULL WHERE id = new.id;
END;
CREATE TRIGGER todos_written AFTER UPDATE OF todos ON chats
WHEN new.todos_checksum = old.todos_checksum AND new.todos IS NOT old.todos
BEGIN
    UPDATE chats SET todos_checksum = NULL WHERE id = new.id;
END;
CREATE TRIGGER results_written AFTER UPDATE OF body ON results
WHEN new.checksum = old.checksum AND new.body IS NOT old.body
BEGIN
    UPDATE results SET checksum = NULL WHERE chat_id = new.chat_id AND ref = new.ref;
END;
CREATE TRIGGER events_written AFTER UPDATE OF body ON events
WHEN new.checksum = old.checksum AND new.body IS NOT old.body
BEGIN
    UPDATE events SET checksum = NULL WHERE chat_id = new.chat_id AND seq = new.seq;
END;
CREATE TRIGGER thread_summaries_written AFTER UPDATE OF covers, body ON thread_summaries
WHEN new.checksum = old.checksum AND (new.covers, new.body) IS NOT (old.covers, old.body)
BEGIN
    UPDATE thread_summaries SET checksum = NULL WHERE chat_id = new.chat_id;
END;
CREATE TRIGGER memories_written AFTER UPDATE OF text, category, scope, belongs_to, confidence ON memories
WHEN new.checksum = old.checksum AND (new.text, new.category, new.scope, new.belongs_to, new.confidence)
    IS NOT (old.text, old.category, old.scope, old.belongs_to, old.confidence)
BEGIN
    UPDATE memories SET checksum = NULL WHERE id = new.id;
END;
CREATE TRIGGER grants_written AFTER UPDATE OF rule, scope, folder, person ON grants
WHEN new.checksum = old.checksum AND (new.rule, new.scope, new.folder, new.person)
    IS NOT (old.rule, old.scope, old.folder, old.person)
BEGIN
    UPDATE grants SET checksum = NULL WHERE id = new.id;
END;
