// The plans of the statements on PostgreSQL: none reads more of a growing table the more it has.
import { Client } from 'pg';
import { expect, test, vi } from 'vitest';
import { clientConfig } from '../../../../src/store/engine/postgres/connections/address.ts';
import { SETTINGS } from '../../../../src/store/engine/postgres/connections/settings.ts';
import { callBudgets, callEveryVerb } from '../../../support/store/every-verb.ts';
import { storeFixture } from '../../../support/store/store-fixture.ts';
import { addressOf } from '../../../support/postgres/address-of.ts';
import { openProcess } from '../../../support/postgres/processes.ts';
import { databaseFor, isPostgres } from '../../../support/postgres/shared-cluster.ts';

/** Tables that grow with people and definitions, or with what is in progress; or have one row. */
const SHORT =
  /^(users|api_keys|teams|budgets|connections|signing_keys|definition_ids|answered_endpoints|office_logins|worker_nodes|webhooks|webhook_planning|scheduled_tasks|cleanups|retention_clock|retention_places|audit_head|audit_start|disk_samples|calls_in_progress|discarded_texts|publish_removals|last_transactions)$/;

/** In an empty journal, every way to an event is as good. */
const MANY_EVENTS = `INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
  SELECT 1000 + no / 20, 1000 + no / 20, 1 + no % 20, 'run.step', '{}', no FROM generate_series(1, 20000) AS no; ANALYZE events`;

const WITHOUT_STATISTICS = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace LOOP
    EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', name);
  END LOOP; END $$`;
/** Those that a test before it has left in this database. */
const FORGOTTEN = `RESET ROLE; UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relnamespace = current_schema()::regnamespace;
  DELETE FROM pg_statistic WHERE starelid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)`;

/** A part of a plan, as EXPLAIN has it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Recheck Cond'?: string;
  readonly Filter?: string;
  readonly Plans?: readonly PlanNode[];
}

/** Every statement with a name that is sent while `work` is done. */
async function statementsOf(work: () => Promise<unknown>): Promise<ReadonlySet<string>> {
  const texts = new Set<string>();
  const query = Client.prototype.query as (this: Client, ...args: unknown[]) => unknown;
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...args: unknown[]) {
    const [{ name, text }] = args as [{ name?: string; text: string }];
    if (name !== undefined) texts.add(text);
    return query.apply(this, args) as never;
  });
  await work().finally(() => spy.mockRestore());
  return texts;
}

/** The tables that a plan reads whole. */
function scansOf(node: PlanNode): readonly string[] {
  const table = node['Relation Name'];
  const isScan = node['Node Type'] === 'Seq Scan' && table !== undefined && !SHORT.test(table);
  // Rows between two keys, of which those with some value are wanted: the more the others are, the more are read.
  const isRange =
    node['Index Name'] === `${table}_pkey` && !/\(\w+ = /.test(node['Index Cond'] ?? '') && !SHORT.test(table!);
  // All files of a session, a run or a version, of which those with some paths are wanted.
  const byIndex = node['Index Cond'] ?? node['Recheck Cond'] ?? '';
  const isByPath = /\bpath = /.test(node.Filter ?? '') && !byIndex.includes('"left"(path, ');
  const isPassing = isByPath || (isRange && /\w+\)? = /.test(node.Filter ?? ''));
  return [...(isScan || (isPassing && table !== undefined) ? [table] : []), ...(node.Plans ?? []).flatMap(scansOf)];
}

test.skipIf(!isPostgres)('no statement of any verb reads a growing table whole', async () => {
  const fixture = await storeFixture();
  // The verbs may take longer than the server waits until it looks at the sizes of tables, which are almost empty.
  fixture.change(`${WITHOUT_STATISTICS}; ${FORGOTTEN}`);
  const statements = await statementsOf(async () => {
    expect(await callEveryVerb(fixture)).toEqual([]);
    // What several processes have to ask, one that is alone remembers.
    await callBudgets(await storeFixture(undefined, {}, openProcess));
  });
  expect([...statements].filter((text) => text.includes('sum(most_'))).toHaveLength(3);
  expect(statements.size).toBeGreaterThan(500);
  const client = new Client(clientConfig(addressOf(databaseFor(fixture.file))));
  await client.connect();
  await client.query(SETTINGS);
  await client.query(MANY_EVENTS);
  const scans: string[] = [];
  for (const [number, text] of [...statements].entries()) {
    await client.query(`PREPARE p${number} AS ${text}`).catch((cause: unknown) => {
      throw new Error(`Not prepared: ${text}`, { cause });
    });
    const { rows: parameters } = await client.query<{ count: number }>(
      `SELECT cardinality(parameter_types) AS count FROM pg_prepared_statements WHERE name = 'p${number}'`,
    );
    const values = Array(parameters[0]!.count).fill('NULL').join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>(
      `EXPLAIN (FORMAT JSON) EXECUTE p${number}${values === '' ? '' : ` (${values})`}`,
    );
    const plan = rows[0]!['QUERY PLAN'][0].Plan;
    scans.push(...scansOf(plan).map((table) => `${table}: ${text}`));
  }
  await client.end();
  expect(scans).toEqual([]);
});
