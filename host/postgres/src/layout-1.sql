-- The first layout. A released layout never changes: the next one is a file of its own.

-- Gives every revision. A sequence never takes a number back, whatever becomes of the
-- transaction, so no key ever gets a revision again, and no row is fought over.
CREATE SEQUENCE wharf.revision AS bigint;
-- Numbers contents. `scope.id` names the content of a scope rather than the scope: an expired
-- scope gets another number, which parts it from its content at once, however large that is.
CREATE SEQUENCE wharf.content AS bigint;

-- An absent part of a name is '', which is no legal id; NULLs would not be unique. Times are
-- milliseconds since 1970. `expires` of an empty scope (`expired_at` set) is when its row goes.
CREATE TABLE wharf.scope (
    id bigint PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    plugin text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    assistant text COLLATE "C" NOT NULL,
    thread text COLLATE "C" NOT NULL,
    bucket text COLLATE "C" NOT NULL,
    entries bigint NOT NULL,
    bytes bigint NOT NULL,
    expires bigint,
    expired_at bigint,
    UNIQUE (tenant, plugin, kind, session, assistant, thread, bucket)
) WITH (fillfactor = 70);
CREATE INDEX scope_expires ON wharf.scope (expires) WHERE expires IS NOT NULL;

-- Keys are bytes: PostgreSQL's text has no NUL, which a key may have, and bytes sort as keys do.
CREATE TABLE wharf.kv (
    scope bigint NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    revision bigint NOT NULL,
    PRIMARY KEY (scope, key)
);

-- Contents whose scope has parted from them; sweeps delete them in small steps.
CREATE TABLE wharf.discarded (
    scope bigint PRIMARY KEY,
    entries bigint NOT NULL,
    bytes bigint NOT NULL
);

-- What a tenant holds is the sum of its rows, and '' stands for all tenants. Each connection
-- writes its own stripe, so that writers of one tenant seldom wait for each other.
CREATE TABLE wharf.total (
    tenant text COLLATE "C" NOT NULL,
    stripe integer NOT NULL,
    scopes bigint NOT NULL,
    bytes bigint NOT NULL,
    PRIMARY KEY (tenant, stripe)
) WITH (fillfactor = 50);

-- The database's clock.
CREATE FUNCTION wharf.now_1() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

-- Enters changes of scopes into the totals. Rows are locked in one order, '' first, so that
-- two of these never wait for each other.
CREATE FUNCTION wharf.settle_1(tenants text[], scopes bigint[], bytes bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    change record;
    stripes integer;
BEGIN
    FOR change IN
        SELECT c.tenant, sum(c.scopes)::bigint AS scopes, sum(c.bytes)::bigint AS bytes
        FROM (SELECT * FROM unnest(tenants, scopes, bytes) AS given (tenant, scopes, bytes)
              UNION ALL
              SELECT '', given.scopes, given.bytes FROM unnest(scopes, bytes) AS given (scopes, bytes)
        ) AS c (tenant, scopes, bytes)
        GROUP BY c.tenant HAVING sum(c.scopes) <> 0 OR sum(c.bytes) <> 0
        ORDER BY c.tenant COLLATE "C"
    LOOP
        stripes := CASE change.tenant WHEN '' THEN 64 ELSE 16 END;
        INSERT INTO wharf.total AS t
        VALUES (change.tenant, pg_backend_pid() % stripes, change.scopes, change.bytes)
        ON CONFLICT (tenant, stripe)
        DO UPDATE SET scopes = t.scopes + excluded.scopes, bytes = t.bytes + excluded.bytes;
    END LOOP;
END
$$;

-- Parts up to `most` scopes whose time is over from their content, the oldest first, and says
-- what each tenant held by that. Skips a scope that another transaction uses right now. The
-- caller settles the totals.
CREATE FUNCTION wharf.expire_1(passed bigint, most integer, lifetime bigint)
RETURNS TABLE (tenant text, expired bigint, scopes bigint, bytes bigint)
LANGUAGE sql AS $$
    WITH due AS (
        SELECT s.id, s.tenant, s.entries, s.bytes, s.expires FROM wharf.scope s
        WHERE s.expires <= passed AND s.expired_at IS NULL
        ORDER BY s.expires LIMIT most FOR UPDATE SKIP LOCKED
    ), parted AS (
        UPDATE wharf.scope s
        SET id = nextval('wharf.content'), entries = 0, bytes = 0, expires = passed + lifetime,
            expired_at = due.expires
        FROM due WHERE s.id = due.id
        RETURNING 1
    ), discarded AS (
        INSERT INTO wharf.discarded SELECT due.id, due.entries, due.bytes FROM due WHERE due.entries > 0
        RETURNING 1
    )
    SELECT due.tenant, count(*), count(*) FILTER (WHERE due.entries > 0), sum(due.bytes)::bigint
    FROM due GROUP BY due.tenant
$$;

-- What a tenant holds, and all tenants together.
CREATE FUNCTION wharf.held_1(name text, OUT scopes bigint, OUT bytes bigint, OUT all_bytes bigint)
LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(t.scopes) FILTER (WHERE t.tenant <> ''), 0)::bigint,
           coalesce(sum(t.bytes) FILTER (WHERE t.tenant <> ''), 0)::bigint,
           coalesce(sum(t.bytes) FILTER (WHERE t.tenant = ''), 0)::bigint
    FROM wharf.total t WHERE t.tenant IN (name, '')
$$;

-- Makes all changes of one call or none; `contents` are NULL for keys to delete, `expected`
-- where any revision will do. `passed` is the time by which the caller judges expiry; the
-- database's clock counts where it says less. Where `stamp` is given, both times are the
-- caller's alone, for tests.
--
-- One statement and one transaction: a host that stops in between holds no lock. `outcome` is
-- `done`, or what refuses the changes; a refusal is an answer and no error, so that what
-- expired on the way stays expired.
CREATE FUNCTION wharf.apply_1(
    names text[], keys bytea[], contents bytea[], expected bigint[],
    quota_entries bigint, quota_bytes bigint, idle bigint,
    most_scopes bigint, most_tenant_bytes bigint, most_bytes bigint,
    lifetime bigint, passed bigint, stamp bigint,
    OUT outcome text, OUT at bigint, OUT actual bigint, OUT used bigint, OUT wanted bigint, OUT revision bigint
) LANGUAGE plpgsql AS $$
DECLARE
    puts CONSTANT boolean := EXISTS (SELECT FROM unnest(contents) AS c (content) WHERE c.content IS NOT NULL);
    deletes CONSTANT boolean := EXISTS (SELECT FROM unnest(contents) AS c (content) WHERE c.content IS NULL);
    own record;
    made boolean := false;
    figures record;
    held record;
    due record;
    -- The content before and after the changes.
    entries bigint;
    bytes bigint;
    entries_after bigint;
    bytes_after bigint;
    scopes_change bigint;
    -- What has expired in this transaction, as changes of the totals.
    due_tenants text[] := '{}';
    due_scopes bigint[] := '{}';
    due_bytes bigint[] := '{}';
BEGIN
    LOOP
        SELECT s.id, s.entries, s.bytes, s.expires, s.expired_at INTO own FROM wharf.scope s
        WHERE s.tenant = names[1] AND s.plugin = names[2] AND s.kind = names[3] AND s.session = names[4]
          AND s.assistant = names[5] AND s.thread = names[6] AND s.bucket = names[7]
        FOR UPDATE;
        EXIT WHEN FOUND OR NOT puts;
        INSERT INTO wharf.scope AS s
        VALUES (nextval('wharf.content'), names[1], names[2], names[3], names[4], names[5], names[6], names[7], 0, 0)
        ON CONFLICT DO NOTHING
        RETURNING s.id, s.entries, s.bytes, s.expires, s.expired_at INTO own;
        made := FOUND;
        EXIT WHEN made;
    END LOOP;

    -- Read once the scope is locked, so that hosts agree on the order of their writes.
    IF stamp IS NULL THEN
        stamp := wharf.now_1();
        passed := least(passed, stamp);
    END IF;
    IF own.expired_at IS NULL AND own.expires <= passed THEN
        IF own.entries > 0 THEN
            INSERT INTO wharf.discarded VALUES (own.id, own.entries, own.bytes);
            due_tenants := ARRAY[names[1]];
            due_scopes := ARRAY[-1];
            due_bytes := ARRAY[-own.bytes];
        END IF;
        UPDATE wharf.scope s
        SET id = nextval('wharf.content'), entries = 0, bytes = 0, expires = passed + lifetime, expired_at = s.expires
        WHERE s.id = own.id
        RETURNING s.id, s.entries, s.bytes, s.expires, s.expired_at INTO own;
    END IF;
    entries := coalesce(own.entries, 0);
    bytes := coalesce(own.bytes, 0);

    -- One look-up for each key, whatever the planner knows of the table.
    SELECT min(c.at) FILTER (WHERE c.expected <> coalesce(k.revision, 0)) AS conflict,
           count(k.revision) AS stored,
           coalesce(sum(octet_length(c.key) + k.length) FILTER (WHERE k.revision IS NOT NULL), 0) AS stored_bytes,
           count(c.content) AS put,
           coalesce(sum(octet_length(c.key) + octet_length(c.content)), 0) AS put_bytes
    INTO figures
    FROM unnest(keys, contents, expected) WITH ORDINALITY AS c (key, content, expected, at)
    LEFT JOIN LATERAL (
        SELECT kv.revision, octet_length(kv.value) AS length FROM wharf.kv
        WHERE kv.scope = own.id AND kv.key = c.key OFFSET 0
    ) AS k ON true;
    entries_after := entries - figures.stored + figures.put;
    bytes_after := bytes - figures.stored_bytes + figures.put_bytes;
    scopes_change := (entries_after > 0)::integer - (entries > 0)::integer;

    IF figures.conflict IS NOT NULL THEN
        outcome := 'conflict';
        at := figures.conflict;
        SELECT coalesce(max(kv.revision), 0) INTO actual FROM wharf.kv WHERE kv.scope = own.id AND kv.key = keys[at];
    ELSIF puts AND entries_after > entries AND entries_after > quota_entries THEN
        outcome := 'quota_entries';
        used := entries;
        wanted := entries_after;
    ELSIF puts AND bytes_after > bytes AND bytes_after > quota_bytes THEN
        outcome := 'quota_bytes';
        used := bytes;
        wanted := bytes_after;
    ELSIF puts AND (scopes_change > 0 OR bytes_after > bytes) THEN
        -- Twice at most: expired scopes must not cost a tenant its write.
        FOR attempt IN 1..2 LOOP
            SELECT h.scopes + coalesce(sum(d.scopes) FILTER (WHERE d.tenant = names[1]), 0) AS scopes,
                   h.bytes + coalesce(sum(d.bytes) FILTER (WHERE d.tenant = names[1]), 0) AS bytes,
                   h.all_bytes + coalesce(sum(d.bytes), 0) AS all_bytes
            INTO held
            FROM wharf.held_1(names[1]) AS h
            LEFT JOIN unnest(due_tenants, due_scopes, due_bytes) AS d (tenant, scopes, bytes) ON true
            GROUP BY h.scopes, h.bytes, h.all_bytes;
            outcome := NULL;
            IF scopes_change > 0 AND held.scopes + scopes_change > most_scopes THEN
                outcome := 'tenant_scopes';
            ELSIF bytes_after > bytes AND held.bytes + bytes_after - bytes > most_tenant_bytes THEN
                outcome := 'tenant_bytes';
                used := held.bytes;
                wanted := held.bytes + bytes_after - bytes;
            ELSIF bytes_after > bytes AND held.all_bytes + bytes_after - bytes > most_bytes THEN
                outcome := 'host_bytes';
            END IF;
            EXIT WHEN outcome IS NULL OR attempt = 2;
            FOR due IN SELECT * FROM wharf.expire_1(passed, 1000, lifetime) LOOP
                due_tenants := due_tenants || due.tenant;
                due_scopes := due_scopes || -due.scopes;
                due_bytes := due_bytes || -due.bytes;
            END LOOP;
        END LOOP;
    END IF;

    IF outcome IS NULL THEN
        outcome := 'done';
        revision := nextval('wharf.revision');
        IF puts THEN
            INSERT INTO wharf.kv AS kv
            SELECT own.id, c.key, c.content, apply_1.revision FROM unnest(keys, contents) AS c (key, content)
            WHERE c.content IS NOT NULL
            ON CONFLICT (scope, key) DO UPDATE SET value = excluded.value, revision = excluded.revision;
        END IF;
        IF deletes AND figures.stored > 0 THEN
            DELETE FROM wharf.kv
            WHERE kv.scope = own.id
              AND kv.key = ANY (ARRAY(SELECT c.key FROM unnest(keys, contents) AS c (key, content)
                                      WHERE c.content IS NULL));
        END IF;
        IF entries_after = 0 THEN
            DELETE FROM wharf.scope s WHERE s.id = own.id;
        ELSIF own.expired_at IS NOT NULL
            OR (idle IS NULL) <> (own.expires IS NULL)
            -- A thousandth of the idle time: a burst of writes then spares the index of expiries.
            OR abs(stamp + idle - own.expires) > idle / 1000
        THEN
            UPDATE wharf.scope s
            SET entries = entries_after, bytes = bytes_after, expires = stamp + idle, expired_at = NULL
            WHERE s.id = own.id;
        ELSIF entries_after <> entries OR bytes_after <> bytes THEN
            UPDATE wharf.scope s SET entries = entries_after, bytes = bytes_after WHERE s.id = own.id;
        END IF;
        due_tenants := due_tenants || names[1];
        due_scopes := due_scopes || scopes_change;
        due_bytes := due_bytes || (bytes_after - bytes);
    ELSIF made THEN
        DELETE FROM wharf.scope s WHERE s.id = own.id;
    END IF;
    IF due_tenants <> '{}' THEN
        PERFORM wharf.settle_1(due_tenants, due_scopes, due_bytes);
    END IF;
END
$$;

-- Records that scopes were read, unless they were written, expired or swept since. Skips one
-- that is in use: its use is recorded by that.
CREATE FUNCTION wharf.touch_1(ids bigint[], seen bigint[], later bigint[]) RETURNS void LANGUAGE sql AS $$
    UPDATE wharf.scope s SET expires = locked.later
    FROM (
        SELECT s.id, given.later FROM wharf.scope s
        JOIN unnest(ids, seen, later) AS given (id, seen, later) ON given.id = s.id
        WHERE s.expires IS NOT DISTINCT FROM given.seen AND s.expired_at IS NULL
        ORDER BY s.id FOR UPDATE OF s SKIP LOCKED
    ) AS locked
    WHERE s.id = locked.id
$$;

-- One step of a sweep: parts due scopes, removes rows whose lifetime is over, deletes some
-- content. One host sweeps at a time; another gets `more = false` at once.
CREATE FUNCTION wharf.sweep_1(
    passed bigint, most integer, lifetime bigint, OUT scopes bigint, OUT bytes bigint, OUT more boolean
) LANGUAGE plpgsql AS $$
DECLARE
    due record;
    gone bigint;
    content record;
    deleted bigint;
    -- Bounds of the content that one step deletes, which takes some milliseconds.
    entries_left bigint := 500;
    bytes_left bigint := 4194304;
    average bigint;
    due_tenants text[] := '{}';
    due_scopes bigint[] := '{}';
    due_bytes bigint[] := '{}';
BEGIN
    scopes := 0;
    bytes := 0;
    more := false;
    -- "Whrf", and which duty.
    IF NOT pg_try_advisory_xact_lock(1466462822, 1) THEN
        RETURN;
    END IF;
    FOR due IN SELECT * FROM wharf.expire_1(passed, most, lifetime) LOOP
        scopes := scopes + due.expired;
        bytes := bytes + due.bytes;
        due_tenants := due_tenants || due.tenant;
        due_scopes := due_scopes || -due.scopes;
        due_bytes := due_bytes || -due.bytes;
    END LOOP;
    DELETE FROM wharf.scope s USING (
        SELECT s.id FROM wharf.scope s WHERE s.expires <= passed AND s.expired_at IS NOT NULL
        ORDER BY s.expires LIMIT most FOR UPDATE SKIP LOCKED
    ) AS old WHERE s.id = old.id;
    GET DIAGNOSTICS gone = ROW_COUNT;
    FOR content IN SELECT d.scope, d.entries, d.bytes FROM wharf.discarded d LIMIT most LOOP
        more := true;
        average := content.bytes / greatest(content.entries, 1) + 1;
        DELETE FROM wharf.kv WHERE kv.scope = content.scope AND kv.key IN (
            SELECT kv.key FROM wharf.kv WHERE kv.scope = content.scope
            LIMIT greatest(least(entries_left, bytes_left / average), 1)
        );
        GET DIAGNOSTICS deleted = ROW_COUNT;
        IF deleted < greatest(least(entries_left, bytes_left / average), 1) THEN
            DELETE FROM wharf.discarded d WHERE d.scope = content.scope;
        END IF;
        entries_left := entries_left - deleted;
        bytes_left := bytes_left - deleted * average;
        EXIT WHEN entries_left <= 0 OR bytes_left <= 0;
    END LOOP;
    more := more OR scopes >= most OR gone >= most;
    IF due_tenants <> '{}' THEN
        PERFORM wharf.settle_1(due_tenants, due_scopes, due_bytes);
    END IF;
END
$$;

-- Removes scopes with their content, which sweeps delete, and says what they held.
CREATE FUNCTION wharf.remove_1(ids bigint[], OUT entries bigint, OUT bytes bigint) LANGUAGE plpgsql AS $$
DECLARE
    tenants text[];
    scopes_change bigint[];
    bytes_change bigint[];
BEGIN
    WITH removed AS (
        DELETE FROM wharf.scope s WHERE s.id = ANY (ids) RETURNING s.id, s.tenant, s.entries, s.bytes
    ), discarded AS (
        INSERT INTO wharf.discarded SELECT r.id, r.entries, r.bytes FROM removed r WHERE r.entries > 0
    )
    SELECT coalesce(sum(r.entries), 0), coalesce(sum(r.bytes), 0), array_agg(r.tenant),
           array_agg(-(r.entries > 0)::integer), array_agg(-r.bytes)
    INTO entries, bytes, tenants, scopes_change, bytes_change
    FROM removed r;
    PERFORM wharf.settle_1(tenants, scopes_change, bytes_change);
END
$$;
