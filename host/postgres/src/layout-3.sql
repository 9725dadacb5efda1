-- The third layout: many hosts that serve as one. A host that stands alone never reads it.

-- The cell that the database belongs to. `revision` changes with each change of the hosts.
CREATE TABLE wharf.cell (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    name text NOT NULL,
    revision bigint NOT NULL
);

-- The lives of hosts. `beat` counts; times are milliseconds since 1970 by the database's clock.
-- `files` names what files a host has: those of its data directory, or a mount of all hosts.
CREATE TABLE wharf.host (
    incarnation bigint PRIMARY KEY CHECK (incarnation BETWEEN 1 AND 4294967295),
    host text COLLATE "C" NOT NULL,
    address text COLLATE "C" NOT NULL,
    files text COLLATE "C" NOT NULL,
    version text NOT NULL,
    beat bigint NOT NULL,
    beaten bigint NOT NULL,
    draining boolean NOT NULL,
    dead_at bigint,
    sessions bigint NOT NULL,
    calls bigint NOT NULL
) WITH (fillfactor = 50);

-- Which host is the home of a session; 0 where none is, and files of it wait for their host.
CREATE TABLE wharf.home (
    tenant text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    incarnation bigint NOT NULL,
    epoch bigint NOT NULL,
    files text COLLATE "C",
    files_lost boolean NOT NULL,
    used bigint NOT NULL,
    PRIMARY KEY (tenant, session)
);
CREATE INDEX home_incarnation ON wharf.home (incarnation);

-- The members have changed.
CREATE FUNCTION wharf.hosts_changed_1() RETURNS void LANGUAGE sql AS $$
    UPDATE wharf.cell SET revision = revision + 1
$$;

-- Enters a host. `refused` is `taken`, or NULL; `of_cell` is the cell of the database.
CREATE FUNCTION wharf.join_1(
    life bigint, cell_name text, host_name text, at text, has_files text, program text,
    OUT of_cell text, OUT refused text
) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO wharf.cell VALUES (true, cell_name, 0) ON CONFLICT DO NOTHING;
    SELECT c.name INTO of_cell FROM wharf.cell c;
    IF of_cell <> cell_name THEN
        RETURN;
    END IF;
    -- Who listens at the address now has taken it from its earlier lives.
    UPDATE wharf.host h SET dead_at = wharf.now_1() WHERE h.address = at AND h.dead_at IS NULL;
    -- Nobody asks for those that died long ago: what they held is free.
    DELETE FROM wharf.host h WHERE h.dead_at < wharf.now_1() - 86400000;
    INSERT INTO wharf.host VALUES (life, host_name, at, has_files, program, 0, wharf.now_1(), false, NULL, 0, 0)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        refused := 'taken';
        RETURN;
    END IF;
    PERFORM wharf.hosts_changed_1();
END
$$;

-- A host lives: no row where it was declared dead.
CREATE FUNCTION wharf.beat_1(life bigint, has_sessions bigint, has_calls bigint, is_ending boolean)
RETURNS TABLE (draining boolean, revision bigint) LANGUAGE sql AS $$
    UPDATE wharf.host h
    SET beat = h.beat + 1, beaten = wharf.now_1(), sessions = has_sessions, calls = has_calls,
        draining = h.draining OR is_ending
    WHERE h.incarnation = life AND h.dead_at IS NULL
    RETURNING h.draining, (SELECT c.revision FROM wharf.cell c)
$$;

-- Declares a host dead that has not beaten since `seen`; whether it is dead now.
CREATE FUNCTION wharf.declare_dead_1(life bigint, seen bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE wharf.host h SET dead_at = wharf.now_1() WHERE h.incarnation = life AND h.beat = seen AND h.dead_at IS NULL;
    IF FOUND THEN
        PERFORM wharf.hosts_changed_1();
        RETURN true;
    END IF;
    RETURN NOT EXISTS (SELECT FROM wharf.host h WHERE h.incarnation = life AND h.dead_at IS NULL);
END
$$;

-- Has a host take no further session, or take some again; whether one of this name lives.
CREATE FUNCTION wharf.drain_1(host_name text, drains boolean) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE wharf.host h SET draining = drains WHERE h.host = host_name AND h.dead_at IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM wharf.hosts_changed_1();
    RETURN true;
END
$$;

-- Makes a host the home of a session that has none, or whose home has been dead for `patience`
-- milliseconds. `outcome` is `mine` with the epoch, `held` with the home, `dying` with the wait,
-- or `dead` where the claimant is.
CREATE FUNCTION wharf.claim_1(
    of_tenant text, of_session text, life bigint, has_files text, patience bigint,
    OUT outcome text, OUT holder bigint, OUT tenure bigint, OUT wait bigint
) LANGUAGE plpgsql AS $$
DECLARE
    own record;
    died record;
    keeper record;
    now bigint;
BEGIN
    IF NOT EXISTS (SELECT FROM wharf.host h WHERE h.incarnation = life AND h.dead_at IS NULL) THEN
        outcome := 'dead';
        RETURN;
    END IF;
    INSERT INTO wharf.home VALUES (of_tenant, of_session, life, 1, NULL, false, wharf.now_1()) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        outcome := 'mine';
        tenure := 1;
        RETURN;
    END IF;
    SELECT * INTO own FROM wharf.home m WHERE m.tenant = of_tenant AND m.session = of_session FOR UPDATE;
    IF NOT FOUND THEN
        -- It was given up in between: the next claim makes it anew.
        outcome := 'dying';
        wait := 1;
        RETURN;
    END IF;
    now := wharf.now_1();
    IF own.incarnation NOT IN (0, life) THEN
        SELECT h.dead_at INTO died FROM wharf.host h WHERE h.incarnation = own.incarnation;
        IF FOUND AND died.dead_at IS NULL THEN
            outcome := 'held';
            holder := own.incarnation;
            RETURN;
        ELSIF FOUND AND now < died.dead_at + patience THEN
            outcome := 'dying';
            wait := died.dead_at + patience - now;
            RETURN;
        END IF;
    END IF;
    IF own.incarnation <> life AND own.files <> has_files THEN
        SELECT h.incarnation INTO keeper FROM wharf.host h
        WHERE h.files = own.files AND h.dead_at IS NULL AND NOT h.draining ORDER BY h.beaten DESC LIMIT 1;
        IF FOUND THEN
            outcome := 'files';
            holder := keeper.incarnation;
            RETURN;
        END IF;
    END IF;
    outcome := 'mine';
    tenure := own.epoch + 1;
    UPDATE wharf.home m
    SET incarnation = life, epoch = tenure, used = now,
        files_lost = m.files_lost OR (own.incarnation <> life AND m.files <> has_files) IS TRUE,
        files = CASE WHEN own.incarnation <> life AND m.files <> has_files THEN NULL ELSE m.files END
    WHERE m.tenant = of_tenant AND m.session = of_session;
END
$$;

-- Enters that a home keeps files of a session; whether earlier ones were lost, or NULL where the
-- host is not the home.
CREATE FUNCTION wharf.use_files_1(of_tenant text, of_session text, life bigint, removed boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    own record;
BEGIN
    SELECT m.files_lost, h.files INTO own
    FROM wharf.home m JOIN wharf.host h ON h.incarnation = m.incarnation
    WHERE m.tenant = of_tenant AND m.session = of_session AND m.incarnation = life FOR UPDATE OF m;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    IF own.files_lost AND NOT removed THEN
        RETURN true;
    END IF;
    UPDATE wharf.home m SET files = own.files, files_lost = false, used = wharf.now_1()
    WHERE m.tenant = of_tenant AND m.session = of_session;
    RETURN false;
END
$$;

-- Gives up tenures, each where its epoch is still this one. What has files keeps a row.
CREATE FUNCTION wharf.release_1(tenants text[], sessions text[], epochs bigint[], life bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM wharf.home m USING unnest(tenants, sessions, epochs) AS given (tenant, session, epoch)
    WHERE m.tenant = given.tenant AND m.session = given.session AND m.incarnation = life AND m.epoch = given.epoch
      AND m.files IS NULL AND NOT m.files_lost;
    UPDATE wharf.home m SET incarnation = 0 FROM unnest(tenants, sessions, epochs) AS given (tenant, session, epoch)
    WHERE m.tenant = given.tenant AND m.session = given.session AND m.incarnation = life AND m.epoch = given.epoch;
END
$$;

-- Takes a host out, and frees its sessions.
CREATE FUNCTION wharf.leave_1(life bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM wharf.host h WHERE h.incarnation = life;
    DELETE FROM wharf.home m WHERE m.incarnation = life AND m.files IS NULL AND NOT m.files_lost;
    UPDATE wharf.home m SET incarnation = 0 WHERE m.incarnation = life;
    PERFORM wharf.hosts_changed_1();
END
$$;
