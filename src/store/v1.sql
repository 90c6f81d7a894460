-- Texts and JSON by content: contexts, prompts, completions, artifacts.
CREATE TABLE blobs (
  hash  TEXT PRIMARY KEY NOT NULL,
  bytes BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  workflow    TEXT NOT NULL,
  kernel      TEXT NOT NULL,
  backend     TEXT NOT NULL,
  runtime     TEXT NOT NULL,
  device      TEXT NOT NULL,
  provider    TEXT NOT NULL,
  status      TEXT NOT NULL,
  started_at  TEXT NOT NULL,
  finished_at TEXT
);

CREATE TABLE checkpoints (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  run            INTEGER NOT NULL REFERENCES runs (id),
  name           TEXT NOT NULL,
  parent         INTEGER REFERENCES checkpoints (id),
  context        TEXT NOT NULL,
  blob           TEXT NOT NULL REFERENCES blobs (hash),
  step           INTEGER NOT NULL,
  transformation TEXT,
  verdict        TEXT NOT NULL,
  verified_by    TEXT NOT NULL,
  created_at     TEXT NOT NULL,
  UNIQUE (run, name)
);
CREATE INDEX checkpoints_by_name ON checkpoints (name);
CREATE INDEX checkpoints_by_context ON checkpoints (context);

-- One row for each input size of a checkpoint.
CREATE TABLE results (
  checkpoint     INTEGER NOT NULL REFERENCES checkpoints (id),
  position       INTEGER NOT NULL,
  inputs         TEXT NOT NULL,
  configuration  TEXT NOT NULL,
  time_ns_median REAL,
  time_ns_p20    REAL,
  time_ns_p80    REAL,
  speedup_step   REAL,
  speedup_total  REAL,
  PRIMARY KEY (checkpoint, position)
) WITHOUT ROWID;

CREATE TABLE measurements (
  key        TEXT PRIMARY KEY NOT NULL,
  value      TEXT NOT NULL,
  created_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE attempts (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  run            INTEGER REFERENCES runs (id),
  transformation TEXT NOT NULL,
  pass           TEXT NOT NULL,
  region         TEXT NOT NULL,
  number         INTEGER NOT NULL,
  class          TEXT,
  message        TEXT NOT NULL,
  prompt         TEXT NOT NULL REFERENCES blobs (hash),
  completion     TEXT REFERENCES blobs (hash),
  provider       TEXT NOT NULL,
  created_at     TEXT NOT NULL
);

CREATE TABLE completions (
  key        TEXT PRIMARY KEY NOT NULL,
  prompt     TEXT NOT NULL REFERENCES blobs (hash),
  completion TEXT NOT NULL REFERENCES blobs (hash),
  provider   TEXT NOT NULL,
  model      TEXT NOT NULL,
  created_at TEXT NOT NULL
) WITHOUT ROWID;

-- Single values, such as the current checkpoint.
CREATE TABLE settings (
  name  TEXT PRIMARY KEY NOT NULL,
  value TEXT NOT NULL
) WITHOUT ROWID;
