// Which node has the files of a session, and runs that are left to it for a while (L5).
import { HOME_NODE } from '../sessions/workspaces-here.ts';
import { listed, MOST_LISTED } from '../engine/listed.ts';
import type { Reader, Step, Value } from '../engine/statement.ts';
import type { StartInput } from './start-run.ts';

/** A condition on `runs`. */
export interface FreeRuns {
  /** Begins with AND; empty where every run may start. */
  readonly sql: string;
  readonly values: readonly Value[];
}

/** What is true of queued runs that a node may start: no other one that starts runs has their files, or they have waited for it. */
export function freeOf(now: number, { leftTo }: Pick<StartInput, 'leftTo'>): FreeRuns {
  if (leftTo === undefined || leftTo.nodes.length === 0) return { sql: '', values: [] };
  const { marks, values } = listed(leftTo.nodes.slice(0, MOST_LISTED));
  const sql = ` AND NOT (created_at > ? AND EXISTS (SELECT 1 FROM sessions s JOIN workspaces w ON w.session_seq = s.seq
    WHERE s.seq = runs.session_seq AND w.file_count > 0 AND s.workspace_node IN (${marks})))`;
  return { sql, values: [now - leftTo.forMs, ...values] };
}

/** The node that has the files of sessions that were continued before workspaces had nodes; undefined while it isn't known. */
export function* homeNode(tx: Reader): Step<string | undefined> {
  return (yield* tx.get<{ node: string | null }>(HOME_NODE))?.node ?? undefined;
}
