-- The fifth layout: hosts tell each other of changes, and a session of the protocol keeps what its
-- client has set.

-- The oldest layout whose hosts may use the database as it is with this one: those that know no
-- later one start beside it, so that a host of the version before can start again in the middle
-- of an upgrade.
ALTER TABLE wharf.layout ADD COLUMN serves integer;

-- How many batches of changes a host has told. A host that has heard fewer knows that it missed one.
ALTER TABLE wharf.host ADD COLUMN told bigint NOT NULL DEFAULT 0;

-- As beat_2, with the batches that were told.
CREATE FUNCTION wharf.beat_3(life bigint, has_sessions bigint, has_calls bigint, is_ending boolean, has_told bigint)
RETURNS TABLE (draining boolean, revision bigint, plugins bigint) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE wharf.host h SET told = has_told WHERE h.incarnation = life AND h.told <> has_told;
    RETURN QUERY SELECT b.draining, b.revision, b.plugins FROM wharf.beat_2(life, has_sessions, has_calls, is_ending) b;
END
$$;

-- What the client of a session has set: words that the database does not read.
ALTER TABLE wharf.protocol_session ADD COLUMN settings text NOT NULL DEFAULT '';
