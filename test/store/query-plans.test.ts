// The plans of the statements: none may cost more as the store grows, and none is planned twice.
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openStore } from '../support/store/open-store.ts';
import { callEveryVerb } from '../support/store/every-verb.ts';
import { work } from '../support/store/schedules.ts';
import { fakeClock } from '../support/time/fake-clock.ts';
import { storeFixture } from '../support/store/store-fixture.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

/** Tables that grow with people and definitions, or with what is in progress, not with what was done; and what a statement makes of its own values. */
const SHORT =
  /^(users|u|budgets|b|api_keys|k|teams|signing_keys|worker_nodes|webhooks|w|webhook_planning|scheduled_tasks|task|definition_ids|answered_endpoints|office_logins|login|connections|cleanups|workspace_copies|audit_head|audit_start|retention_(clock|places)|disk_samples|calls_in_progress|c|discarded_texts|publish_removals|loose_objects|waiting|active|seen|old|latest|sums|heads|open_work|page|stretches|CONSTANT ROW|\(subquery-\d+\)|\d+)$/;
/** Indexes of what is in progress: a row leaves them when it is done. */
const UNDER_WAY =
  /USING (COVERING )?INDEX (runs_(live|claimable|claimable_background|waiting_background|unfinished_background|executing|executing_background|unfinished|to_collect)|sessions_stopping|workspace_exports_pending|user_inputs_pending|webhook_deliveries_due|publish_(jobs_due|versions_drafts|versions_to_clear|versions_expiring|pages_deleted))\b/;
/** Rows of a day, read from its beginning; and the sessions that changed last, which end after a few. */
const OF_A_DAY =
  / INDEX (runs_ended \(finished_at>\?\)|sessions_deleted \(deleted_at>\?\))$|^SEARCH usage_quarters USING PRIMARY KEY \(quarter>\?( AND quarter<\?)?\)$/;
/** That something has a time at all is no beginning. */
const SINCE = /\b(finished_at|deleted_at|quarter) >=? \+\?/;
const CHANGED_LAST = /FROM sessions WHERE deleted_at IS NULL ORDER BY updated_at DESC LIMIT \d+\)/;
/** Lists over all users, for operators: they count all rows, and read their page from the nearer end. */
const COUNTED =
  /^SELECT \(SELECT count\(\*\) FROM (sessions|runs r)\b.*\) AS counted,|count\(\*\) AS total FROM (user_inputs q|insights i) JOIN sessions s ON s.seq = [qi].session_seq WHERE s.deleted_at IS NULL$/;
const OF_EVERYBODY = /^SCAN (sessions|runs|[rsqi])( USING (COVERING )?INDEX \w+)?$/;

/** Runs that failed, for operators: an index has them, and they are few among all. */
const FAILED = /^SCAN r USING INDEX runs_failed$/;

/** A page of the audit log ends when it is full; the newest entry, or the last before a time, is read first. */
const AUDIT_PAGE =
  /^SELECT (\* FROM audit_entries WHERE id > \+\? AND id <= \+\? ORDER BY id (DE|A)SC LIMIT \+\?|.* FROM audit_entries (WHERE at < \+\? )?ORDER BY (at DESC, )?id DESC LIMIT 1)$/;

/** Deliveries of all users, for operators: one page, counted up to a limit; the oldest, a few per commit. */
const DELIVERIES =
  /^SELECT (count\(\*\) AS total FROM \(SELECT 1|d\.\*, s\.id AS session_id) FROM webhook_deliveries d (?!.* d\.(owner|webhook_id|event_id) =).* LIMIT \+\?( OFFSET \+\?)?\)?$|^SELECT id FROM webhook_deliveries WHERE ended_at < \+\? ORDER BY ended_at LIMIT \+\?$/s;
/** The board: its newest pages in the index alone. */
const BOARD = /^(SEARCH|SCAN) publish_pages USING COVERING INDEX publish_pages_board\b/;
/** Pages and shares of all users, for operators: one page, counted up to a limit. */
const PUBLISHED =
  /^SELECT (count\(\*\) AS total FROM \(SELECT 1|[pv]\.).* FROM publish_(pages p|versions v)\b(?!.* [pv]\.(user_seq|page_id) = \+).* LIMIT \+\?( OFFSET \+\?)?\)?$/s;
/** What is old, from its oldest row on: a portion of each commit. */
const OLDEST =
  / INDEX (runs_ended|\w+_by_age|firings_ended|sessions_(scheduled|idle|throw_away)|publish_pages_by_versions) \(\w+[<>]\?( AND \w+<\?)?\)$|^SEARCH audit_entries USING INTEGER PRIMARY KEY \(rowid([<>]\?)( AND rowid<\?)?\)$/;
const OF_A_PORTION = / LIMIT \+\?(\)|$)| LIMIT 1$|^DELETE FROM audit_entries WHERE id <= \+\?$/;
/** What a portion selects by other rows, its limit doesn't count: it may pass thousands before the first that it finds. */
const passesOthers = (sql: string) =>
  /\bWHERE\b(?!.*\bWHERE\b).*\bEXISTS\b/s.test(sql.replaceAll(/EXISTS \((?:[^()]|\([^()]*\))*\)/g, 'EXISTS'));
/** A slice of the ledger: between two numbers. */
const SLICE = /^SEARCH (x|usage_records) USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)$/;
/** The first or the last row of a table, by its key. */
const END_OF_TABLE =
  /^SELECT \w+( AS at)? FROM (events ORDER BY id|audit_entries ORDER BY id|usage_records ORDER BY seq)( DESC)? LIMIT 1$/;
/** The ledger from a line on, some at a time. */
const SOME_LINES = /FROM usage_records l .* WHERE l\.seq > \+\? ORDER BY l\.seq LIMIT \+\?$/s;

/** Small blobs behind a key, in their index: a portion of a sweep. */
const SOME_BLOBS = /FROM small_blobs WHERE key > \+\? ORDER BY key LIMIT \+\?$/s;

interface Prepared {
  readonly connection: Connection.Database;
  readonly sql: string;
}

/** Every statement that reaches SQLite while `work` is done, by its text as it is prepared. */
async function statementsOf<Result>(work: () => Promise<Result>) {
  const statements = new Map<string, Prepared>();
  const { prepare } = Connection.prototype;
  const spy = vi.spyOn(Connection.prototype, 'prepare').mockImplementation(function (
    this: Connection.Database,
    sql: string,
  ) {
    statements.set(sql, { connection: this, sql });
    return prepare.call(this, sql) as never;
  });
  const result = await work().finally(() => spy.mockRestore());
  return { result, statements: [...statements.values()] };
}

function planOf(connection: Connection.Database, sql: string): string[] {
  const parameters = Array.from({ length: sql.split('?').length - 1 }, () => null);
  const plan = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as { detail: string }[];
  return plan.map(({ detail }) => detail);
}

/** Lines of a statement's plan that read more of a growing table the more it has. */
function growingReads({ connection, sql }: Prepared): string[] {
  if (!/^\s*(SELECT|UPDATE|DELETE|WITH)/i.test(sql) || /sqlite_master/.test(sql)) return [];
  return (
    planOf(connection, sql)
      // A search without an equality reads all on one side of a value.
      .filter((detail) => detail.startsWith('SCAN ') || (detail.startsWith('SEARCH ') && !detail.includes('=?')))
      .filter((detail) => !SHORT.test(detail.replace(/^(SCAN|SEARCH) /, '').replace(/ (USING|VIRTUAL|LEFT).*/, '')))
      .filter(
        (detail) =>
          !UNDER_WAY.test(detail) &&
          !(OF_A_DAY.test(detail) && (SINCE.test(sql) || COUNTED.test(sql))) &&
          !(CHANGED_LAST.test(sql) && detail.endsWith(' sessions_recent')) &&
          !FAILED.test(detail) &&
          !AUDIT_PAGE.test(sql) &&
          !(DELIVERIES.test(sql) && /^(SCAN|SEARCH) (d|webhook_deliveries)\b/.test(detail)) &&
          !(BOARD.test(detail) && sql.includes('LIMIT 10000) AS page')) &&
          !(PUBLISHED.test(sql) && /^SCAN [pv]\b/.test(detail)) &&
          !(OLDEST.test(detail) && OF_A_PORTION.test(sql) && !passesOthers(sql)) &&
          !SLICE.test(detail) &&
          !END_OF_TABLE.test(sql) &&
          !(SOME_LINES.test(sql) && /^SEARCH l\b/.test(detail)) &&
          !(SOME_BLOBS.test(sql) && /^SEARCH small_blobs\b/.test(detail)),
      )
      .filter((detail) => !(BETWEEN.test(detail) && sql.endsWith('LIMIT +?')))
      .filter((detail) => !(COUNTED.test(sql) || OPERATORS_PAGE.test(sql)) || !OF_EVERYBODY.test(detail))
      .map((detail) => `${detail}: ${sql}`)
  );
}

/** Ids with a prefix: between two values, and no more of them than the limit. */
const BETWEEN = /^SEARCH t USING (COVERING )?INDEX \S+ \(id>\? AND id<\?\)$/;

/** The page that goes with such a count ends where it is full. */
const OPERATORS_PAGE = /ORDER BY [rsqi.]*\bseq (DE|A)SC LIMIT \+\? OFFSET \+\?/;

/** A file with the statistics that a store with one row in each table leaves behind. */
async function fileWithStatistics(): Promise<string> {
  const file = join(temporaryDirectory(), 'errand.db');
  await openStore(file, fakeClock()).close();
  const connection = new Connection(file);
  connection.exec(`ANALYZE; DELETE FROM sqlite_stat1;
    INSERT INTO sqlite_stat1 SELECT tbl_name, name, '1 1 1 1 1 1 1' FROM sqlite_master WHERE type = 'index'`);
  connection.close();
  return file;
}

function statisticsOf(file: string): unknown[] {
  const connection = new Connection(file, { readonly: true });
  try {
    return connection.prepare("SELECT name FROM sqlite_master WHERE name LIKE 'sqlite_stat%'").all();
  } finally {
    connection.close();
  }
}

test.each([
  ['a new store', async () => join(temporaryDirectory(), 'errand.db')],
  ['a store with statistics of one row a table', fileWithStatistics],
])('no statement of any verb reads a growing table from end to end: %s', async (_, makeFile) => {
  const fixture = await storeFixture(await makeFile());
  const { result: uncalled, statements } = await statementsOf(() => callEveryVerb(fixture));
  expect(uncalled).toEqual([]);
  expect(statements.length).toBeGreaterThan(150);
  expect(statements.flatMap(growingReads)).toEqual([]);
});

test('no store has statistics of its rows: a new one makes none, an old one loses them when it is opened', async () => {
  const file = await fileWithStatistics();
  expect(statisticsOf(file)).not.toEqual([]);
  const fixture = await storeFixture(file);
  expect(statisticsOf(file)).toEqual([]);
  await callEveryVerb(fixture);
  await fixture.store.close();
  expect(statisticsOf(file)).toEqual([]);
});

test('no statement of any verb has a parameter that SQLite may plan by', async () => {
  const fixture = await storeFixture();
  const { statements } = await statementsOf(() => callEveryVerb(fixture));
  const withParameters = statements.filter(({ sql }) => sql.includes('?'));
  expect(withParameters.length).toBeGreaterThan(150);
  expect(withParameters.filter(({ sql }) => /(?<!\+)\?/.test(sql)).map(({ sql }) => sql)).toEqual([]);
});

test('sessions are read only for what the short list of clean-ups names, whatever statistics say of them', async () => {
  const fixture = await storeFixture();
  const { statements } = await statementsOf(() => fixture.store.sessions.listCleanups(0, 9));
  const connection = new Connection(await fileWithStatistics());
  onTestFinished(() => void connection.close());
  const plan = statements.flatMap(({ sql }) => planOf(connection, sql));
  expect(plan[0]).toMatch(/^(SCAN|SEARCH) cleanups\b/);
});

test('sums, errors and pictures of a long session are found without looking through its runs', async () => {
  const fixture = await storeFixture();
  const { sessionSeq } = await fixture.accept();
  const { statements } = await statementsOf(async () => {
    await fixture.store.office.getOverview(sessionSeq);
    await fixture.store.office.getSummary(sessionSeq);
    await fixture.store.screenshots.find(sessionSeq, 'x');
  });
  const plan = statements.flatMap(({ connection, sql }) => planOf(connection, sql)).join('\n');
  for (const index of ['runs_unfinished', 'runs_failed', 'screenshots_by_session', 'messages_by_session'])
    expect(plan).toContain(`INDEX ${index} (session_seq=?`);
  // The newest run alone is the last entry of the session's index.
  const uses = (text: string, what: RegExp) => (text.match(what) ?? []).length;
  for (const { connection, sql } of statements)
    expect(uses(planOf(connection, sql).join('\n'), /runs_by_session/g)).toBe(
      uses(sql, /\(SELECT max\(seq\) FROM runs WHERE session_seq = s\.seq\)/g),
    );
});

test("a run's events of its session are found without looking through the session's", async () => {
  const fixture = await storeFixture();
  const { sessionSeq, seq, id } = await fixture.accept();
  const { statements } = await statementsOf(async () => {
    const range = { afterId: 0, beforeId: null, order: 'asc', limit: 9 } as const;
    await fixture.store.events.listOfRunInSession({ seq, id }, { range, fromStreamSeq: null });
    await fixture.store.runs.timelineRest(await fixture.store.runs.get(seq), []);
    await fixture.store.erasures.eraseSession(sessionSeq);
  });
  const plans = statements
    .filter(({ sql }) => /\bevents\b.* AND run_seq IS NULL/s.test(sql))
    .map(({ connection, sql }) => planOf(connection, sql).join('\n'));
  expect(plans.filter((plan) => plan.includes('events_beside_runs (session_seq=? AND <expr>=?'))).toHaveLength(2);
  expect(plans.filter((plan) => plan.includes('events_beside_runs (session_seq=?)'))).toHaveLength(plans.length - 2);
});

test('streamed text is found by stretch and run, in order without sorting', async () => {
  const fixture = await storeFixture();
  const { statements } = await statementsOf(() => callEveryVerb(fixture));
  const plans = statements
    .filter(({ sql }) => sql.includes('stretches'))
    .map(({ connection, sql }) => planOf(connection, sql).join('\n'));
  expect(plans.length).toBeGreaterThanOrEqual(3);
  for (const plan of plans) {
    expect(plan).toMatch(/INDEX events_of_text \(<expr>=\? AND run_seq=\?/);
    expect(plan).not.toContain('TEMP B-TREE');
  }
});

test('a run that no task made asks nothing of the tables of scheduled tasks', async () => {
  const fixture = await storeFixture();
  const { statements } = await statementsOf(async () => {
    await fixture.accept();
    await work(fixture);
    const { sessionSeq } = await fixture.accept();
    await fixture.claim();
    await fixture.store.runs.stopSession(sessionSeq, 'user_requested_stop');
  });
  expect(statements.map(({ sql }) => sql).filter((sql) => /\b(firings|scheduled_\w+|task_plans)\b/.test(sql))).toEqual(
    [],
  );
});
