// The schema of the store, its version, and the migrations that lead to it.
import { auditAnchor } from './migrations/released/036-audit-anchor.ts';
import { largeRows } from './migrations/released/037-large-rows.ts';
import { pins } from './migrations/released/038-pins.ts';
import { disabledUsers } from './migrations/released/039-disabled-users.ts';
import { workspaces } from './migrations/040-workspaces.ts';
import { smallBlobs } from './migrations/041-small-blobs.ts';
import { objects as objectNotes } from './migrations/042-objects.ts';
import { nodes } from './migrations/043-nodes.ts';
import { severalNodes } from './migrations/044-several-nodes.ts';
import { heldCalls } from './migrations/045-held-calls.ts';
import { anchors } from './migrations/046-anchors.ts';
import { workspaceNotes } from './migrations/047-workspace-notes.ts';
import { nodeClocks } from './migrations/048-node-clocks.ts';
import { runsAnywhere } from './migrations/049-runs-anywhere.ts';
import { nodeConfigurations } from './migrations/050-node-configurations.ts';
import { disksOfNodes } from './migrations/051-disks-of-nodes.ts';
import { workspaceExtras } from './migrations/052-workspace-extras.ts';
import { baselineFiles } from './migrations/053-baseline-files.ts';
import { responses } from './migrations/054-responses.ts';
import { continuedSessions } from './migrations/055-continued-sessions.ts';
import { forks } from './migrations/056-forks.ts';
import { resultTools } from './migrations/057-result-tools.ts';
import { answeredEndpoints } from './migrations/058-answered-endpoints.ts';
import { officeLogins } from './migrations/059-office-logins.ts';
import { artifacts } from './schema/artifacts.ts';
import { audit } from './schema/audit.ts';
import { budgets } from './schema/budgets.ts';
import { journal } from './schema/journal.ts';
import { objects } from './schema/objects.ts';
import { people } from './schema/people.ts';
import { publishing } from './schema/publishing.ts';
import { retention } from './schema/retention.ts';
import { runs } from './schema/runs.ts';
import { schedules } from './schema/schedules.ts';
import { sessions } from './schema/sessions.ts';
import { webhooks } from './schema/webhooks.ts';

/** The whole schema, as the newest migration leaves it. */
export const SCHEMA: readonly string[] = [
  people,
  sessions,
  runs,
  journal,
  artifacts,
  budgets,
  schedules,
  webhooks,
  publishing,
  audit,
  retention,
  objects,
];

/** The oldest version that is migrated. */
export const OLDEST_SCHEMA = 35;

/** A migration that only expands: older code goes on beside newer one (docs/ARCHITECTURE.md). */
interface Expansion {
  readonly sql: string;
  /** The oldest version of the schema whose code may use a database after it. */
  readonly runsWith: number;
}

/**
 * What leads from it to the schema, in order. Add new ones at the end, and change the schema with them: a test compares both. After one that
 * is text alone, no older code may use the database.
 */
const STEPS: readonly (string | Expansion)[] = [
  auditAnchor,
  largeRows,
  pins,
  disabledUsers,
  workspaces,
  smallBlobs,
  objectNotes,
  nodes,
  severalNodes,
  heldCalls,
  anchors,
  { sql: workspaceNotes, runsWith: 46 },
  nodeClocks,
  { sql: runsAnywhere, runsWith: 48 },
  { sql: nodeConfigurations, runsWith: 48 },
  { sql: disksOfNodes, runsWith: 48 },
  { sql: workspaceExtras, runsWith: 48 },
  { sql: baselineFiles, runsWith: 48 },
  { sql: responses, runsWith: 48 },
  { sql: continuedSessions, runsWith: 48 },
  { sql: forks, runsWith: 48 },
  { sql: resultTools, runsWith: 48 },
  { sql: answeredEndpoints, runsWith: 48 },
  { sql: officeLogins, runsWith: 48 },
];

/** What leads from `OLDEST_SCHEMA` to the schema, with the oldest version whose code may use the result. */
export const MIGRATIONS: readonly Expansion[] = STEPS.map((step, at) =>
  typeof step === 'string' ? { sql: step, runsWith: OLDEST_SCHEMA + at + 1 } : step,
);

/** The schema version this code writes. */
export const SCHEMA_VERSION = OLDEST_SCHEMA + MIGRATIONS.length;

/** The oldest version of the schema whose code may use a database of this one. */
export const RUNS_WITH = Math.max(...MIGRATIONS.map(({ runsWith }) => runsWith));

/** What is known of a database's schema. */
export interface SchemaState {
  /** 0 for a database without one. */
  readonly version: number;
  /** The oldest version whose code may use it. */
  readonly runsWith: number;
}

/** Whether this code reads and writes it as its own: of its own version, or of a newer one that has only been expanded since. */
export const isUsable = ({ version, runsWith }: SchemaState): boolean =>
  version === SCHEMA_VERSION || (version > SCHEMA_VERSION && runsWith <= SCHEMA_VERSION);

/** Why this code can't use a database of a version, and what can, in words that follow its name; null when it can. */
export function refusalOfSchema(version: number, runsWith = version): string | null {
  if (version > SCHEMA_VERSION && runsWith > SCHEMA_VERSION)
    return `has schema version ${version}, newer than the ${SCHEMA_VERSION} this Errand knows. Run the Errand that wrote it, or a newer one.`;
  if (version < OLDEST_SCHEMA)
    return `has schema version ${version}, older than the ${OLDEST_SCHEMA} that this Errand can bring up to date. Start it once with the last Errand 0.1, which does, and then with this one.`;
  return null;
}

/**
 * A part of a migration. `from` and `to` are versions of the schema; the copy of the old file comes first. `wait`: another process changes the
 * schema.
 */
export interface MigrationStep {
  readonly kind: 'copy' | 'change' | 'wait';
  readonly from: number;
  readonly to: number;
  /** Size of the database. */
  readonly bytes: number;
}
