// Which workspaces are of a node: it alone looks at them and records their files (L5).
import type { Reader, Step, Value } from '../engine/statement.ts';

/** A node that has workspaces; null where the rows are in the data directory, so that all workspaces are beside them. */
export type Here = string | null;

/** The node that has the workspaces of sessions which were last continued before workspaces had nodes; NULL while it isn't known. */
export const HOME_NODE = "SELECT nullif(home_node, '') AS node FROM installation WHERE id = 1";

/** A condition on sessions `s`. */
export interface OfHere {
  /** Begins with AND; empty where all are here. */
  readonly sql: string;
  readonly values: readonly Value[];
}

const NOWHERE_ELSE: OfHere = { sql: '', values: [] };
/** Those of sessions from before workspaces had nodes are at home; whose home isn't known either are anybody's. */
const SQL = ` AND coalesce(s.workspace_node, (${HOME_NODE}), ?) = ?`;

/** Sessions whose workspaces a node has. */
export const ofHere = (here: Here): OfHere => (here === null ? NOWHERE_ELSE : { sql: SQL, values: [here, here] });

export function* isWorkspaceHere(tx: Reader, sessionSeq: number, here: Here): Step<boolean> {
  const { sql, values } = ofHere(here);
  if (sql === '') return true;
  return (yield* tx.get(`SELECT 1 FROM sessions s WHERE s.seq = ?${sql}`, sessionSeq, ...values)) !== undefined;
}
