// Scheduled tasks in a store: made while the daemon is stopped, and their firings read.
import Connection from 'better-sqlite3';
import { copyRows, inStore, nextKey, storeFileOf } from './fill-store.ts';

export interface Due {
  /** How many of the tasks. */
  readonly count: number;
  /** When the first is due, epoch ms. */
  readonly from: number;
  /** Milliseconds between one and the next; 0 for all at once. */
  readonly everyMs: number;
}

/** Copies the task with this id until there are `count`, spread over all users but the first. The store must be closed. */
export function fillTasks(dataDir: string, taskId: string, count: number): void {
  inStore(dataDir, (database) => {
    const task = database.prepare('SELECT seq FROM scheduled_tasks WHERE id = ?').pluck().get(taskId) as number;
    const task_seq = `${nextKey(database, 'scheduled_tasks', 'seq')} + n`;
    const user_seq = '(SELECT max(seq) FROM users) - n % (SELECT count(*) - 1 FROM users)';
    const rewrites = {
      seq: task_seq,
      user_seq,
      id: "printf('%08x-0000-7000-8000-%012x', n, n)",
      name: "name || ' ' || n",
    };
    copyRows(database, { table: 'scheduled_tasks', where: `seq = ${task}`, rewrites }, count - 1);
    copyRows(
      database,
      { table: 'task_plans', key: 'seq', where: `task_seq = ${task}`, rewrites: { task_seq } },
      count - 1,
    );
  });
}

/** Makes some tasks due that have never fired, each once. The store must be closed. */
export function makeDue(dataDir: string, { count, from, everyMs }: Due): void {
  inStore(dataDir, (database) => {
    const sql = `SELECT seq FROM scheduled_tasks WHERE last_fired_at IS NULL ORDER BY seq LIMIT ?`;
    const tasks = database.prepare(sql).pluck().all(count) as number[];
    const change = database.prepare('UPDATE scheduled_tasks SET next_fire_at = ?, look_at = ? WHERE seq = ?');
    for (const [i, seq] of tasks.entries()) change.run(from + i * everyMs, from + i * everyMs, seq);
  });
}

/** Reads of a store that a daemon writes to, of what was due from a moment on. */
export interface FiringRows {
  /** From the due time of each firing to the `run.queued` of its first run, in milliseconds. */
  delaysMs(since: number): number[];
  /** Firings that have not ended. */
  unfinished(): number;
  close(): void;
}

export function watchFirings(dataDir: string): FiringRows {
  const connection = new Connection(storeFileOf(dataDir), { readonly: true, timeout: 5_000 });
  return {
    delaysMs: (since) =>
      connection
        .prepare(
          `SELECT e.created_at - f.due_at FROM firings f JOIN events e ON e.session_seq = f.session_seq
           WHERE e.type = 'run.queued' AND e.stream_seq = 1 AND f.due_at >= ?`,
        )
        .pluck()
        .all(since) as number[],
    unfinished: () => connection.prepare('SELECT count(*) FROM firings WHERE ended_at IS NULL').pluck().get() as number,
    close: () => void connection.close(),
  };
}
