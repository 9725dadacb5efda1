-- The second layout: cheaper calls on the tables of the first, whose functions hosts of the version
-- before go on calling. A released layout never changes: the next one is a file of its own.

-- The database's clock, as `now_1`, which counts in numbers of any length and takes longer.
CREATE FUNCTION wharf.now_2() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT (date_part('epoch', clock_timestamp()) * 1000)::bigint
$$;

-- As `apply_1`, with a short way for the commonest write: one entry of a scope that has others,
-- is in use and stays below all limits. Every other write, and every refusal, is left to
-- `apply_1`, before anything has changed.
CREATE FUNCTION wharf.apply_2(
    names text[], keys bytea[], contents bytea[], expected bigint[],
    quota_entries bigint, quota_bytes bigint, idle bigint,
    most_scopes bigint, most_tenant_bytes bigint, most_bytes bigint,
    lifetime bigint, passed bigint, stamp bigint,
    OUT outcome text, OUT at bigint, OUT actual bigint, OUT used bigint, OUT wanted bigint, OUT revision bigint
) LANGUAGE plpgsql AS $$
DECLARE
    put_key CONSTANT bytea := keys[1];
    put_content CONSTANT bytea := contents[1];
    own bigint;
    own_entries bigint;
    own_bytes bigint;
    own_expires bigint;
    -- The entry before the write.
    stored_revision bigint;
    stored_bytes bigint;
    growth bigint;
    used_at bigint;
    fits boolean := true;
BEGIN
    IF cardinality(keys) = 1 AND put_content IS NOT NULL THEN
        -- The scope's row is the latest one, since it is locked. The entry may be one that another
        -- host has replaced meanwhile: it is written below only where its revision is still this.
        SELECT s.id, s.entries, s.bytes, s.expires, kv.revision, octet_length(kv.key) + octet_length(kv.value)
        INTO own, own_entries, own_bytes, own_expires, stored_revision, stored_bytes
        FROM wharf.scope s LEFT JOIN wharf.kv ON kv.scope = s.id AND kv.key = put_key
        WHERE s.tenant = names[1] AND s.plugin = names[2] AND s.kind = names[3] AND s.session = names[4]
          AND s.assistant = names[5] AND s.thread = names[6] AND s.bucket = names[7]
          AND s.entries > 0 AND s.expired_at IS NULL
        FOR UPDATE OF s;
        -- Read once the scope is locked, so that hosts agree on the order of their writes.
        used_at := coalesce(stamp, wharf.now_2());
        growth := octet_length(put_key) + octet_length(put_content) - coalesce(stored_bytes, 0);

        -- A scope that is not there makes this NULL. What lives on after `used_at` has expired by
        -- no clock.
        IF (own_expires > used_at AND abs(used_at + idle - own_expires) <= idle / 1000
            OR own > 0 AND own_expires IS NULL AND idle IS NULL)
            AND coalesce(expected[1] = coalesce(stored_revision, 0), true)
            AND (stored_revision IS NOT NULL OR own_entries < quota_entries)
            AND (growth <= 0 OR own_bytes + growth <= quota_bytes)
        THEN
            IF growth > 0 THEN
                SELECT h.bytes + growth <= most_tenant_bytes AND h.all_bytes + growth <= most_bytes
                INTO fits FROM wharf.held_1(names[1]) AS h;
            END IF;
            IF fits AND stored_revision IS NULL THEN
                INSERT INTO wharf.kv AS kv VALUES (own, put_key, put_content, nextval('wharf.revision'))
                ON CONFLICT DO NOTHING RETURNING kv.revision INTO revision;
            ELSIF fits THEN
                UPDATE wharf.kv SET value = put_content, revision = nextval('wharf.revision')
                WHERE kv.scope = own AND kv.key = put_key AND kv.revision = stored_revision
                RETURNING kv.revision INTO revision;
            END IF;
        END IF;
        IF revision IS NOT NULL THEN
            outcome := 'done';
            IF growth <> 0 OR stored_revision IS NULL THEN
                UPDATE wharf.scope s
                SET entries = own_entries + (stored_revision IS NULL)::integer, bytes = own_bytes + growth
                WHERE s.id = own;
                -- In the order and the stripes of `settle_1`.
                INSERT INTO wharf.total AS t
                VALUES ('', pg_backend_pid() % 64, 0, growth), (names[1], pg_backend_pid() % 16, 0, growth)
                ON CONFLICT (tenant, stripe) DO UPDATE SET bytes = t.bytes + excluded.bytes;
            END IF;
            RETURN;
        END IF;
    END IF;
    SELECT a.outcome, a.at, a.actual, a.used, a.wanted, a.revision
    INTO outcome, at, actual, used, wanted, revision
    FROM wharf.apply_1(names, keys, contents, expected, quota_entries, quota_bytes, idle, most_scopes,
                       most_tenant_bytes, most_bytes, lifetime, passed, stamp) AS a;
END
$$;
