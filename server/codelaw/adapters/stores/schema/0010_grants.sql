-- Whose a standing permission is, and the folder in which it was given (its real path); both empty for one that an
-- earlier version kept, which allows nothing any more.

ALTER TABLE grants ADD COLUMN folder TEXT NOT NULL DEFAULT '';
ALTER TABLE grants ADD COLUMN person TEXT NOT NULL DEFAULT '';
