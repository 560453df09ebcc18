// Deliveries of webhooks in a store: made while the daemon is stopped, and counted while it works.
import Connection from 'better-sqlite3';
import { inStore, storeFileOf } from './fill-store.ts';

export interface Pending {
  readonly webhookIds: readonly number[];
  /** For each webhook. */
  readonly count: number;
  /** When they become due, in epoch ms. */
  readonly dueAt: number;
}

/** Adds pending deliveries with the body of one that exists. The store must be closed. */
export function addPending(dataDir: string, { webhookIds, count, dueAt }: Pending): void {
  inStore(dataDir, (database) => {
    const insert = database.prepare(`
      WITH RECURSIVE counter (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counter WHERE n < :count - 1)
      INSERT INTO webhook_deliveries (webhook_id, owner, event_id, event_type, session_seq, is_test, state, attempts_left,
        next_attempt_at, body, created_at)
      SELECT :webhookId, 0, printf('%08x-0000-8000-8000-%012x', :webhookId, n), event_type, NULL, 0, 'pending', 8,
        :dueAt, body, :dueAt FROM counter, (SELECT event_type, body FROM webhook_deliveries ORDER BY id LIMIT 1)`);
    for (const webhookId of webhookIds) insert.run({ webhookId, count, dueAt });
  });
}

/** Reads of a store that a daemon writes to. */
export interface HookRows {
  /** Events that are not planned and deliveries that have not ended. */
  left(): number;
  /** All deliveries. */
  planned(): number;
  aBody(): string;
  close(): void;
}

export function watchRows(dataDir: string): HookRows {
  const connection = new Connection(storeFileOf(dataDir), { readonly: true, timeout: 5_000 });
  const read = <T>(sql: string) => connection.prepare(sql).pluck().get() as T;
  return {
    left: () =>
      read<number>(`SELECT (SELECT count(*) FROM webhook_deliveries WHERE state = 'pending') + (SELECT count(*) FROM events
        WHERE type = 'run.done' AND id > (SELECT cursor FROM webhook_planning) AND EXISTS (SELECT 1 FROM webhook_subscriptions))`),
    planned: () => read<number>('SELECT count(*) FROM webhook_deliveries'),
    aBody: () => read<string>('SELECT body FROM webhook_deliveries ORDER BY id LIMIT 1'),
    close: () => void connection.close(),
  };
}
