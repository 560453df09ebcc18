// The figures of a PostgreSQL database, asked of a real server.
import { describe, expect, onTestFinished, test } from 'vitest';
import { figuresOf } from '../../../../src/store/engine/postgres/figures.ts';
import { READER, type Step } from '../../../../src/store/engine/statement.ts';
import { startCluster } from '../../../support/postgres/cluster.ts';
import { canRunPostgres } from '../../../support/postgres/programs.ts';

describe.skipIf(!canRunPostgres())('figures of PostgreSQL', () => {
  test('size, version and connections are told', async () => {
    const cluster = await startCluster();
    onTestFinished(cluster.close);
    const pool = { most: 12, open: 3, busy: 1, waiting: 0 };
    const step: Step<unknown> = figuresOf(READER, pool);
    const verb = step[Symbol.iterator]();
    let next = verb.next();
    while (next.done !== true) {
      const { kind, sql } = [next.value].flat()[0]!;
      const rows = await cluster.query('postgres', sql);
      next = verb.next(kind === 'get' ? rows[0] : rows);
    }
    expect(next.value).toMatchObject({
      engine: 'postgres',
      version: expect.stringMatching(/^\d+/),
      pool,
      replicas: [],
    });
    expect(Number((next.value as { bytes: unknown }).bytes)).toBeGreaterThan(1_000_000);
  });
});
