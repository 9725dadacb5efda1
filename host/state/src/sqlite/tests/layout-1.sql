-- A store as the first version of Wharf left it. Never changed: it stands for the files of users.
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
PRAGMA application_id = 1466462822;
PRAGMA user_version = 1;
CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    plugin TEXT NOT NULL,
    kind TEXT NOT NULL,
    session TEXT NOT NULL,
    assistant TEXT NOT NULL,
    thread TEXT NOT NULL,
    bucket TEXT NOT NULL,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    expires INTEGER,
    expired_at INTEGER,
    UNIQUE (tenant, plugin, kind, session, assistant, thread, bucket)
) STRICT;
CREATE INDEX scope_expires ON scope (expires) WHERE expires IS NOT NULL;
CREATE TABLE kv (
    scope INTEGER NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE discarded (
    scope INTEGER PRIMARY KEY,
    entries INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE total (
    tenant TEXT NOT NULL PRIMARY KEY,
    scopes INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE counter (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    last_scope INTEGER NOT NULL,
    revision_floor INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (1, 4, 3);
INSERT INTO scope VALUES (1, 'local', 'planning', 'session', 's', '', '', 'main', 2, 17, 2, NULL, NULL);
INSERT INTO scope VALUES (3, 'local', 'planning', 'session', 'expired', '', '', 'main', 0, 0, 1, 9000000000000, 1800000000000);
INSERT INTO kv VALUES (1, 'goal', x'73686970206974', 2);
INSERT INTO kv VALUES (1, 'raw', x'ff00fe', 1);
INSERT INTO kv VALUES (4, 'left', x'00', 1);
INSERT INTO discarded VALUES (4, 1, 5);
INSERT INTO total VALUES ('local', 1, 17);
INSERT INTO total VALUES ('', 1, 17);
