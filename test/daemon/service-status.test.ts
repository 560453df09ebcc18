// The lines of `systemctl status`, and the times that go with them.
import { expect, test } from 'vitest';
import {
  drainingStatus,
  drainLimitMs,
  migrationLimitMs,
  migrationStatus,
  runningStatus,
} from '../../src/daemon/service-status.ts';

test('a running daemon names its address, its work, and what needs someone', () => {
  const ok = { name: 'store', state: 'ok', detail: null } as const;
  const broken = { name: 'configuration', state: 'degraded', detail: 'models.yaml:1:2 bad' } as const;
  expect(runningStatus('http://h:1', 1, { ready: true, parts: [ok] })).toBe(
    'Listening on http://h:1; 1 run in progress',
  );
  expect(runningStatus('http://h:1', 0, { ready: true, parts: [ok, broken] })).toBe(
    'Listening on http://h:1; 0 runs in progress; configuration degraded: models.yaml:1:2 bad',
  );
});

test('a drain has its seconds, and time to close afterwards', () => {
  expect(drainingStatus(2, 30)).toBe('Stopping: 2 runs in progress, with up to 30 s to finish');
  expect(drainLimitMs(300)).toBe(330_000);
});

test('a migration may take longer with a larger database', () => {
  const step = { from: 19, to: 20, bytes: 100_000_000_000 } as const;
  expect(migrationStatus({ ...step, kind: 'copy' })).toBe(
    'Migrating: copying the database (95368 MB) before its schema changes from version 19 to 20',
  );
  expect(migrationStatus({ ...step, kind: 'change' })).toContain('changing the schema');
  expect(migrationLimitMs({ ...step, kind: 'change' })).toBe(1_010 * 60_000);
  expect(migrationLimitMs({ ...step, kind: 'copy', bytes: 0 })).toBe(600_000);
});
