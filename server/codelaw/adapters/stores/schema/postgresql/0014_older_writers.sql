-- An earlier codelaw that has the database open goes on writing rows without their checksums (0013): a row that changes
-- while its checksum does not has none any more, so that it is not taken for damaged.

CREATE FUNCTION checksum_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    new.checksum := NULL;
    RETURN new;
END
$$;
CREATE FUNCTION todos_checksum_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    new.todos_checksum := NULL;
    RETURN new;
END
$$;

CREATE TRIGGER chats_written BEFORE UPDATE OF title, mode, model, strategy, chosen, places ON chats FOR EACH ROW
WHEN (new.checksum = old.checksum AND (new.title, new.mode, new.model, new.strategy, new.chosen, new.places)
    IS DISTINCT FROM (old.title, old.mode, old.model, old.strategy, old.chosen, old.places))
EXECUTE FUNCTION checksum_gone();
CREATE TRIGGER todos_written BEFORE UPDATE OF todos ON chats FOR EACH ROW
WHEN (new.todos_checksum = old.todos_checksum AND new.todos IS DISTINCT FROM old.todos)
EXECUTE FUNCTION todos_checksum_gone();
CREATE TRIGGER results_written BEFORE UPDATE OF body ON results FOR EACH ROW
WHEN (new.checksum = old.checksum AND new.body IS DISTINCT FROM old.body)
EXECUTE FUNCTION checksum_gone();
CREATE TRIGGER events_written BEFORE UPDATE OF body ON events FOR EACH ROW
WHEN (new.checksum = old.checksum AND new.body IS DISTINCT FROM old.body)
EXECUTE FUNCTION checksum_gone();
CREATE TRIGGER thread_summaries_written BEFORE UPDATE OF covers, body ON thread_summaries FOR EACH ROW
WHEN (new.checksum = old.checksum AND (new.covers, new.body) IS DISTINCT FROM (old.covers, old.body))
EXECUTE FUNCTION checksum_gone();
CREATE TRIGGER memories_written BEFORE UPDATE OF text, category, scope, belongs_to, confidence ON memories FOR EACH ROW
WHEN (new.checksum = old.checksum AND (new.text, new.category, new.scope, new.belongs_to, new.confidence)
    IS DISTINCT FROM (old.text, old.category, old.scope, old.belongs_to, old.confidence))
EXECUTE FUNCTION checksum_gone();
CREATE TRIGGER grants_written BEFORE UPDATE OF rule, scope, folder, person ON grants FOR EACH ROW
WHEN (new.checksum = old.checksum AND (new.rule, new.scope, new.folder, new.person)
    IS DISTINCT FROM (old.rule, old.scope, old.folder, old.person))
EXECUTE FUNCTION checksum_gone();
