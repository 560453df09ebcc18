// Makes a database that a test has used like a new one, which takes a tenth of the time of another copy of its template.

/** Sums up what the schema has, so that one that a test has changed is found. */
const SCHEMA = `SELECT (SELECT coalesce(sum(oid::bigint), 0) FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS relations,
  (SELECT coalesce(sum(relnatts), 0) FROM pg_class WHERE relnamespace = 'public'::regnamespace) AS columns,
  (SELECT coalesce(sum(oid::bigint), 0) FROM pg_trigger) AS triggers, (SELECT coalesce(sum(oid::bigint), 0) FROM pg_constraint) AS constraints`;

/** Executes statements for each table that may have had rows, whose name is `%1$I`. */
const ofEachTable = (statements: string) => `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND pg_relation_size(oid) > 0
  LOOP ${statements} END LOOP; END $$`;

const SEQUENCES = "FROM pg_class WHERE relkind = 'S'";

/** Numbers begin anew in an empty template: opening has drawn some. */
export const FIRST_NUMBERS = `SELECT setval(oid::regclass, 1, false) ${SEQUENCES}`;

/** In the template: keeps what its tables have and its numbers are, beside them. */
export const KEEP_FIRST_ROWS = `CREATE SCHEMA first;
  ${ofEachTable("EXECUTE format('CREATE TABLE first.%1$I AS TABLE %1$I', name);")};
  CREATE TABLE first.numbers AS SELECT oid AS sequence, pg_sequence_last_value(oid) AS last ${SEQUENCES};
  CREATE TABLE first.schema AS ${SCHEMA}`;

/** All columns but those that are computed. */
const PUT_BACK = `EXECUTE format('INSERT INTO %1$I (%2$s) SELECT %2$s FROM first.%1$I', name, (SELECT string_agg(quote_ident(attname), ', ')
  FROM pg_attribute WHERE attrelid = quote_ident(name)::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''));`;

/** In a copy: answers whether it has the schema of its template still. Rows of a table with other columns could not be put back. */
export const HAS_FIRST_SCHEMA = `SELECT count(*) = 1 AS is_so
  FROM (${SCHEMA}) AS now JOIN first.schema USING (relations, triggers, constraints, columns)`;

/** In one that has it: makes its rows and numbers those of the template. Ends the connections of others, and has no triggers fire. */
export const EMPTY = `SET session_replication_role = replica;
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
  ${ofEachTable(`EXECUTE format('DELETE FROM %1$I', name);
    IF to_regclass(format('first.%1$I', name)) IS NOT NULL THEN ${PUT_BACK} END IF;`)};
  RESET session_replication_role;
  SELECT setval(sequence::regclass, coalesce(last, 1), last IS NOT NULL) FROM first.numbers`;
