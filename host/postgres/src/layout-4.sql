-- The fourth layout: plugins that all hosts of a cluster have, and sessions of the protocol that
-- outlive their hosts.

-- What is installed, in the words of the hosts, and how often it was written.
CREATE TABLE wharf.plugin_set (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    revision bigint NOT NULL,
    text text NOT NULL
);
INSERT INTO wharf.plugin_set VALUES (true, 0, '');

-- Components by their digest, in pieces. The server does not compress them: hosts read them whole.
CREATE TABLE wharf.component_chunk (
    digest text COLLATE "C" NOT NULL,
    n integer NOT NULL,
    bytes bytea NOT NULL CHECK (octet_length(bytes) <= 1048576),
    kept bigint NOT NULL,
    PRIMARY KEY (digest, n)
);
ALTER TABLE wharf.component_chunk ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- As beat_1, with the revision of what is installed.
CREATE FUNCTION wharf.beat_2(life bigint, has_sessions bigint, has_calls bigint, is_ending boolean)
RETURNS TABLE (draining boolean, revision bigint, plugins bigint) LANGUAGE sql AS $$
    SELECT b.draining, b.revision, (SELECT s.revision FROM wharf.plugin_set s)
    FROM wharf.beat_1(life, has_sessions, has_calls, is_ending) b
$$;

-- Keeps a piece of a component. One that is there is as new as one that was kept just now.
CREATE FUNCTION wharf.keep_chunk_1(of_digest text, at integer, piece bytea) RETURNS void LANGUAGE sql AS $$
    INSERT INTO wharf.component_chunk VALUES (of_digest, at, piece, wharf.now_1())
    ON CONFLICT (digest, n) DO UPDATE SET kept = excluded.kept
$$;

-- Writes what is installed where nobody has since `expected`, and every component that it names
-- is there. Others are removed, but for those of the last hour: somebody may be about to name them.
CREATE FUNCTION wharf.install_1(expected bigint, set_text text, named text[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE wharf.plugin_set s SET revision = s.revision + 1, text = set_text
    WHERE s.revision = expected
        AND NOT EXISTS (
            SELECT FROM unnest(named) AS wanted
            WHERE NOT EXISTS (SELECT FROM wharf.component_chunk c WHERE c.digest = wanted)
        );
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM wharf.component_chunk c WHERE c.digest <> ALL (named) AND c.kept < wharf.now_1() - 3600000;
    RETURN true;
END
$$;

-- Sessions of the protocol of 2025-11-25, by a digest of their ids, with the host that goes on with
-- each. `used` is when a host took it over last, or ended in order.
CREATE TABLE wharf.protocol_session (
    name text COLLATE "C" PRIMARY KEY,
    owner text NOT NULL,
    parameters text NOT NULL,
    incarnation bigint NOT NULL,
    used bigint NOT NULL
);
CREATE INDEX protocol_session_incarnation ON wharf.protocol_session (incarnation);

-- The host that goes on with a session: the one that has it, while that lives, and else the one
-- that asks. NULL where there is no such session, or who asks is dead.
CREATE FUNCTION wharf.adopt_session_1(of_name text, life bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    holder bigint;
BEGIN
    SELECT s.incarnation INTO holder FROM wharf.protocol_session s WHERE s.name = of_name FOR UPDATE;
    IF holder IS NULL OR NOT EXISTS (SELECT FROM wharf.host h WHERE h.incarnation = life AND h.dead_at IS NULL) THEN
        RETURN NULL;
    END IF;
    IF EXISTS (SELECT FROM wharf.host h WHERE h.incarnation = holder AND h.dead_at IS NULL) THEN
        RETURN holder;
    END IF;
    UPDATE wharf.protocol_session s SET incarnation = life, used = wharf.now_1() WHERE s.name = of_name;
    RETURN life;
END
$$;

-- As join_1. Sessions of hosts that ended a day ago are forgotten: nobody came for them.
CREATE FUNCTION wharf.join_2(
    life bigint, cell_name text, host_name text, at text, has_files text, program text,
    OUT of_cell text, OUT refused text
) LANGUAGE plpgsql AS $$
BEGIN
    SELECT j.of_cell, j.refused INTO of_cell, refused
    FROM wharf.join_1(life, cell_name, host_name, at, has_files, program) j;
    IF of_cell = cell_name AND refused IS NULL THEN
        DELETE FROM wharf.protocol_session s
        WHERE s.used < wharf.now_1() - 86400000
            AND NOT EXISTS (SELECT FROM wharf.host h WHERE h.incarnation = s.incarnation);
    END IF;
END
$$;

-- As leave_1. Its sessions of the protocol are remembered from now on.
CREATE FUNCTION wharf.leave_2(life bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE wharf.protocol_session s SET used = wharf.now_1() WHERE s.incarnation = life;
    PERFORM wharf.leave_1(life);
END
$$;
