// Statements of verbs in the words of PostgreSQL.
import { expect, test } from 'vitest';
import { translate } from '../../../../../src/store/engine/postgres/sql/dialect.ts';

test.each([
  [
    'parameters are numbered, but not in text',
    'SELECT \'?\', "?", ? -- ?\n WHERE a = ?',
    'SELECT \'?\', "?", $1 -- ?\n WHERE a = $2',
  ],
  [
    'names keep their capitals',
    'SELECT a AS isLeft, "b" AS "cD" WHERE isLeft',
    'SELECT a AS "isLeft", "b" AS "cD" WHERE "isLeft"',
  ],
  [
    'rows are deleted up to a number of them',
    'DELETE FROM events WHERE run_seq = ? ORDER BY id LIMIT ?',
    'DELETE FROM events WHERE ctid = ANY (ARRAY(SELECT ctid FROM events WHERE run_seq = $1 ORDER BY id LIMIT $2))',
  ],
  [
    'and answered',
    'DELETE FROM files WHERE seq = ? RETURNING sha256 AS blob LIMIT 5',
    'DELETE FROM files WHERE ctid = ANY (ARRAY(SELECT ctid FROM files WHERE seq = $1 LIMIT 5)) RETURNING sha256 AS blob',
  ],
  [
    'or found by a list',
    'WITH some (no) AS (SELECT 1) DELETE FROM events WHERE id IN (SELECT no FROM some) LIMIT ?',
    'WITH some (no) AS (SELECT 1) DELETE FROM events WHERE ctid = ANY (ARRAY(SELECT ctid FROM events WHERE id IN (SELECT no FROM some) LIMIT $1))',
  ],
  [
    'rows are changed up to a number of them',
    "UPDATE steps SET text = (SELECT '' LIMIT 1) WHERE run_seq = ? LIMIT ?",
    "UPDATE steps SET text = (SELECT '' LIMIT 1) WHERE ctid = ANY (ARRAY(SELECT ctid FROM steps WHERE run_seq = $1 LIMIT $2))",
  ],
  ['a lone row is no list of some', 'SELECT a FROM b WHERE c = ? LIMIT 1', 'SELECT a FROM b WHERE c = $1 LIMIT 1'],
  [
    'hints are left out',
    'SELECT 1 FROM a x INDEXED BY i CROSS JOIN b AS y ON y.c = x.c LIMIT +?',
    'SELECT 1 FROM a x JOIN b AS y ON y.c = x.c LIMIT $1',
  ],
  ['joins of all rows stay', 'SELECT 1 FROM a CROSS JOIN b WHERE c', 'SELECT 1 FROM a CROSS JOIN b WHERE c'],
  [
    'tables that are read from other tables get a name',
    "SELECT x FROM (SELECT count(*) AS x FROM (SELECT 1 WHERE ')' = ?)) WHERE x IN (SELECT 2)",
    "SELECT x FROM (SELECT count(*) AS x FROM (SELECT 1 WHERE ')' = $1) AS unnamed_0) AS unnamed_1 WHERE x IN (SELECT 2)",
  ],
  [
    'but not those that have one',
    'SELECT 1 FROM (SELECT 1) AS a JOIN (SELECT 2) b ON 1 = 1',
    'SELECT 1 FROM (SELECT 1) AS a JOIN (SELECT 2) b ON 1 = 1',
  ],
  [
    'members of JSON are found in its text',
    "SELECT e.payload ->> '$.runId'",
    `SELECT substring(e.payload from '"runId":"([^"]*)"')`,
  ],
  [
    'a row that begins others is a number',
    'WITH n (no) AS (SELECT ? UNION ALL SELECT no + 1 FROM n WHERE no < ?) SELECT no FROM n',
    'WITH n (no) AS (SELECT CAST($1 AS BIGINT) UNION ALL SELECT no + 1 FROM n WHERE no < $2) SELECT no FROM n',
  ],
  [
    'a computed column is its expression',
    'SELECT min(lane) FROM runs b WHERE b.lane = ?',
    'SELECT min(coalesce(key_seq, -user_seq)) FROM runs b WHERE coalesce(b.key_seq, -b.user_seq) = $1',
  ],
  ['numbers have 64 bits', 'SELECT CAST(max(a, (b)) AS INTEGER)', 'SELECT CAST(max(a, (b)) AS BIGINT)'],
  [
    'bytes as text',
    'VALUES (CAST(? AS TEXT), CAST(CAST(? AS BLOB) AS TEXT))',
    "VALUES (CAST($1 AS TEXT), convert_from($2, 'UTF8'))",
  ],
  [
    'text as bytes',
    'SELECT CAST(m.text AS BLOB), hex(k.secret)',
    "SELECT convert_to(m.text, 'UTF8'), upper(encode(k.secret, 'hex'))",
  ],
])('%s', (_, sqlite, postgres) => {
  expect(translate(sqlite)).toBe(postgres);
});
