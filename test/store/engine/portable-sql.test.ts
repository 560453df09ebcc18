// SQL that only SQLite takes is an exception, and each has its reason in decision 1.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const STORE = new URL('../../../src/store', import.meta.url).pathname;

/** What other engines don't have, or call by another name; `max` and `min` of a column alone are everybody's. */
const OF_SQLITE =
  /->>?\s*'|\bjson_\w+\(|(?<!Math\.)\b(?:max|min)\([^()]*(?:\([^()]*\)[^()]*)*,|\bINSERT OR\b|\bREPLACE INTO\b|\bIS(?: NOT)? \?/gi;

/** The exceptions: file and words. */
const ALLOWED: readonly (readonly [file: string, words: string])[] = [
  // An index on the few events that name a run without being of one.
  ['journal/session-events.ts', "->> '"],
  ['journal/session-events.ts', "->> '"],
  ['runs/run-timeline.ts', "->> '"],
  // Erasures empty a text in place.
  ['sessions/erasures.ts', 'json_set('],
  ['sessions/erasures.ts', "->> '"],
  ['sessions/erasures.ts', 'json_set('],
];

const foreignIn = (source: string) => [...source.matchAll(OF_SQLITE)].map(([words]) => words);

test("the store's SQL is not SQLite's alone, but for named exceptions", () => {
  // A released migration never changes, and another engine would have its own. Copies of rows speak to one engine each.
  const files = readdirSync(STORE, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/^(engine|copies\/rows)\//.test(name))
    .sort();
  expect(files.length).toBeGreaterThan(50);
  const found = files.flatMap((file) =>
    foreignIn(readFileSync(join(STORE, file), 'utf8')).map((words) => [file, words] as const),
  );
  expect(found).toEqual(ALLOWED);
});

test.each([
  "payload ->> '$.runId'",
  "payload -> '$.runId'",
  "json_extract(payload, '$.runId')",
  'max(a.quarter, excluded.quarter)',
  'sum(min(octet_length(d.text), ?))',
  'INSERT OR REPLACE INTO runs',
  'INSERT or ignore INTO runs',
  'REPLACE INTO runs',
  'user_seq IS ?',
  'user_seq IS NOT ?',
])('%s is found', (sql) => {
  expect(foreignIn(sql).length).toBeGreaterThan(0);
});

test.each([
  'SELECT max(seq), min(seq) FROM runs',
  'Math.max(1, 2)',
  'user_seq IS NOT DISTINCT FROM ?',
  'a IS NOT NULL',
])('%s is everybody’s', (sql) => {
  expect(foreignIn(sql)).toEqual([]);
});
