-- What the caller asked for, as JSON: a run that goes on goes on so.
ALTER TABLE runs ADD COLUMN options TEXT NOT NULL DEFAULT '{}';

-- The step of the run, the place in it, and what more is known of a failure. A step that is carried out again after a
-- kill keeps each attempt once.
ALTER TABLE attempts ADD COLUMN step INTEGER;
ALTER TABLE attempts ADD COLUMN place INTEGER;
ALTER TABLE attempts ADD COLUMN code TEXT;
ALTER TABLE attempts ADD COLUMN facts TEXT NOT NULL DEFAULT '[]';
CREATE UNIQUE INDEX attempts_by_place ON attempts (run, step, transformation, place);

-- Answers of a run, kept before they are used. The same request may come more than once in a step: `number` counts.
DROP TABLE completions;
CREATE TABLE answers (
  run        INTEGER NOT NULL REFERENCES runs (id),
  step       INTEGER NOT NULL,
  key        TEXT NOT NULL,
  number     INTEGER NOT NULL,
  prompt     TEXT NOT NULL REFERENCES blobs (hash),
  completion TEXT NOT NULL REFERENCES blobs (hash),
  provider   TEXT NOT NULL,
  model      TEXT,
  created_at TEXT NOT NULL,
  PRIMARY KEY (run, step, key, number)
) WITHOUT ROWID;

-- What a run did, in order: steps that ended, and decisions.
CREATE TABLE journal (
  run        INTEGER NOT NULL REFERENCES runs (id),
  position   INTEGER NOT NULL,
  kind       TEXT NOT NULL,
  place      TEXT NOT NULL,
  value      TEXT NOT NULL,
  checkpoint INTEGER REFERENCES checkpoints (id),
  created_at TEXT NOT NULL,
  PRIMARY KEY (run, position)
) WITHOUT ROWID;
