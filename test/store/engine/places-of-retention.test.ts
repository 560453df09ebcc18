// How far an earlier Errand has removed by age is kept when its file is migrated.
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../../src/store/engine/schema.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { olderDatabase } from '../../support/store/older-database.ts';

test.each([
  ['some runs are left', [1, 1, null, 1, null], [{ kind: 'events', at: 30, key: 0 }]],
  ['no run is left', [1, 1], []],
])('removal begins with the oldest run that is left: %s', async (_, removedAt, places) => {
  const file = join(temporaryDirectory(), 'errand.db');
  await olderDatabase(file, 31);
  const connection = new Connection(file);
  onTestFinished(() => void connection.close());
  const insert =
    connection.prepare(`INSERT INTO runs (id, session_seq, user_seq, protocol, status, schedule_mode, ready,
      requested_model, include_usage, opened_session, target, created_at, finished_at, events_removed_at, details_removed_at)
    VALUES (?, 1, 1, 'chat', 'completed', 'immediate', 0, '', 0, 1, '', 0, ?, ?, 1)`);
  for (const [index, at] of removedAt.entries()) insert.run(String(index), (index + 1) * 10, at);
  migrate(connection, file);
  expect(connection.prepare('SELECT * FROM retention_places').all()).toEqual(places);
});
