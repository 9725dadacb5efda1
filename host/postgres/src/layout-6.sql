-- The sixth layout: front ends, each connected at one host, whose tools all hosts list.

-- Counts the changes of the front ends of all hosts: a host that has seen fewer looks.
ALTER TABLE wharf.cell ADD COLUMN front_ends bigint NOT NULL DEFAULT 0;

-- The front ends that are connected. `revision` is the change that added one; `tools` are words
-- that the database does not read.
CREATE TABLE wharf.front_end (
    tenant text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    client text COLLATE "C" NOT NULL,
    incarnation bigint NOT NULL,
    revision bigint NOT NULL,
    tools text NOT NULL,
    PRIMARY KEY (tenant, name)
);
CREATE INDEX front_end_incarnation ON wharf.front_end (incarnation);

-- The front ends have changed: the change's number. A change takes this row first.
CREATE FUNCTION wharf.front_ends_changed_1() RETURNS bigint LANGUAGE sql AS $$
    UPDATE wharf.cell SET front_ends = front_ends + 1 RETURNING front_ends
$$;

-- Connects a front end to a host. `own` is the one of this name that the host has: any other row
-- of that host has ended. `outcome` is `taken` with the change, `named`, `client`, `tenant`, or
-- `dead` where the host is.
CREATE FUNCTION wharf.connect_front_end_1(
    of_tenant text, of_name text, of_id text, of_client text, life bigint, has_tools text,
    replaces boolean, own text, per_client bigint, per_tenant bigint,
    OUT outcome text, OUT change bigint
) LANGUAGE plpgsql AS $$
DECLARE
    present record;
    others record;
BEGIN
    -- Held, so that a host that is declared dead meanwhile leaves nothing behind.
    PERFORM FROM wharf.host h WHERE h.incarnation = life AND h.dead_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        outcome := 'dead';
        RETURN;
    END IF;
    PERFORM FROM wharf.cell FOR UPDATE;
    SELECT f.* INTO present FROM wharf.front_end f WHERE f.tenant = of_tenant AND f.name = of_name;
    IF FOUND AND NOT (present.incarnation = life AND present.id IS DISTINCT FROM own)
        AND NOT (replaces AND present.client = of_client) THEN
        outcome := 'named';
        RETURN;
    END IF;
    SELECT count(*) AS of_tenant, count(*) FILTER (WHERE f.client = of_client) AS of_client INTO others
    FROM wharf.front_end f WHERE f.tenant = connect_front_end_1.of_tenant AND f.name <> of_name;
    IF others.of_client >= per_client THEN
        outcome := 'client';
        RETURN;
    ELSIF others.of_tenant >= per_tenant THEN
        outcome := 'tenant';
        RETURN;
    END IF;
    change := wharf.front_ends_changed_1();
    INSERT INTO wharf.front_end VALUES (of_tenant, of_name, of_id, of_client, life, change, has_tools)
    ON CONFLICT (tenant, name) DO UPDATE
    SET id = excluded.id, client = excluded.client, incarnation = excluded.incarnation,
        revision = excluded.revision, tools = excluded.tools;
    outcome := 'taken';
END
$$;

-- Forgets front ends of a host.
CREATE FUNCTION wharf.disconnect_front_ends_1(ids text[], life bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM wharf.cell FOR UPDATE;
    DELETE FROM wharf.front_end f WHERE f.incarnation = life AND f.id = ANY (ids);
    IF FOUND THEN
        PERFORM wharf.front_ends_changed_1();
    END IF;
END
$$;

-- What a host had goes with it, by whichever version it is taken out.
CREATE FUNCTION wharf.host_ended_1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- None is added to a host that has ended.
    IF EXISTS (SELECT FROM wharf.front_end f WHERE f.incarnation = OLD.incarnation) THEN
        PERFORM wharf.front_ends_changed_1();
        DELETE FROM wharf.front_end f WHERE f.incarnation = OLD.incarnation;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER host_died AFTER UPDATE OF dead_at ON wharf.host FOR EACH ROW
    WHEN (OLD.dead_at IS NULL AND NEW.dead_at IS NOT NULL) EXECUTE FUNCTION wharf.host_ended_1();
CREATE TRIGGER host_left AFTER DELETE ON wharf.host FOR EACH ROW EXECUTE FUNCTION wharf.host_ended_1();

-- As beat_3, with the last change of the front ends.
CREATE FUNCTION wharf.beat_4(life bigint, has_sessions bigint, has_calls bigint, is_ending boolean, has_told bigint)
RETURNS TABLE (draining boolean, revision bigint, plugins bigint, front_ends bigint) LANGUAGE sql AS $$
    SELECT b.draining, b.revision, b.plugins, c.front_ends
    FROM wharf.beat_3(life, has_sessions, has_calls, is_ending, has_told) b, wharf.cell c
$$;
