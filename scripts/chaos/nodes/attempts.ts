// Which node began which attempt of a run, and when: the rows keep the last one alone, so the server itself notes each.
import type { Cluster } from '../../../test/support/postgres/cluster.ts';
import { DATABASE } from '../storm/engine.ts';

export interface Attempt {
  readonly run_seq: number;
  readonly attempt: number;
  /** Id of the node. */
  readonly node_id: string;
  /** Epoch ms, by the server's clock. */
  readonly at: number;
}

const NOTES = `CREATE SCHEMA chaos;
  CREATE TABLE chaos.attempts (run_seq bigint, attempt bigint, node_id text, at bigint);
  CREATE FUNCTION chaos.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
    INSERT INTO chaos.attempts VALUES (NEW.seq, NEW.attempt, NEW.node_id, floor(extract(epoch FROM clock_timestamp()) * 1000));
    RETURN NULL; END $$;
  CREATE TRIGGER chaos_started AFTER INSERT ON runs FOR EACH ROW WHEN (NEW.status = 'running') EXECUTE FUNCTION chaos.note();
  CREATE TRIGGER chaos_claimed AFTER UPDATE OF attempt ON runs FOR EACH ROW WHEN (NEW.attempt > OLD.attempt)
    EXECUTE FUNCTION chaos.note();`;

/** From now on each attempt is noted. */
export async function noteAttempts(cluster: Pick<Cluster, 'query'>): Promise<void> {
  await cluster.query(DATABASE, NOTES);
}

/** All attempts, in their order. */
export async function readAttempts(cluster: Pick<Cluster, 'query'>): Promise<Attempt[]> {
  const rows = await cluster.query<Record<keyof Attempt, string>>(DATABASE, 'SELECT * FROM chaos.attempts ORDER BY at');
  return rows.map(({ run_seq, attempt, node_id, at }) => ({
    run_seq: Number(run_seq),
    attempt: Number(attempt),
    node_id,
    at: Number(at),
  }));
}

/** Stages by the last event of a run. */
const STAGES: Readonly<Record<string, string>> = {
  'run.started': 'waiting for the model',
  'run.resumed': 'waiting for the model',
  tool_result: 'waiting for the model',
  content_block_start: 'streaming',
  content_block_delta: 'streaming',
  content_block_stop: 'between two steps',
  'run.step': 'between two steps',
  tool_use: 'in a tool',
  'run.finalizing': 'finalizing',
};
export const UNCOLLECTED = 'ended, files not collected';

/** What the runs of a node are doing now, one for each; nothing where the server is away. */
export async function stagesAt(cluster: Pick<Cluster, 'query'>, node: string): Promise<string[]> {
  const rows = await cluster
    .query<{ status: string; type: string | null }>(
      DATABASE,
      `SELECT status, (SELECT type FROM events e WHERE e.run_seq = r.seq ORDER BY stream_seq DESC LIMIT 1) AS type FROM runs r
       WHERE node_id = '${node}' AND (status IN ('running', 'finalizing') OR (finished_at IS NOT NULL AND artifact_status = 'pending'))`,
    )
    .catch(() => []);
  return rows.map(({ status, type }) => {
    if (status !== 'running' && status !== 'finalizing') return UNCOLLECTED;
    return status === 'finalizing' ? 'finalizing' : (STAGES[type ?? ''] ?? `after ${type}`);
  });
}

/** The process that has the row of a node; undefined where the server is away. */
export async function processOf(cluster: Pick<Cluster, 'query'>, node: string): Promise<string | null | undefined> {
  const rows = await cluster
    .query<{ process: string | null }>(DATABASE, `SELECT process FROM worker_nodes WHERE id = '${node}'`)
    .catch(() => []);
  return rows[0]?.process;
}
