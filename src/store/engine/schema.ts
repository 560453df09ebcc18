// The schema of the store, its version, and the migrations that lead to it.
import { auditAnchor } from './migrations/036-audit-anchor.ts';
import { largeRows } from './migrations/037-large-rows.ts';
import { pins } from './migrations/038-pins.ts';
import { disabledUsers } from './migrations/039-disabled-users.ts';
import { workspaces } from './migrations/040-workspaces.ts';
import { smallBlobs } from './migrations/041-small-blobs.ts';
import { objects as objectNotes } from './migrations/042-objects.ts';
import { nodes } from './migrations/043-nodes.ts';
import { severalNodes } from './migrations/044-several-nodes.ts';
import { heldCalls } from './migrations/045-held-calls.ts';
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

/** What leads from it to the schema, in order. Add new ones at the end, and change the schema with them: a test compares both. */
export const MIGRATIONS: readonly string[] = [
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
];

/** The schema version this code writes. */
export const SCHEMA_VERSION = OLDEST_SCHEMA + MIGRATIONS.length;

/** Why this code can't use a database of a version, and what can, in words that follow its name; null when it can. */
export function refusalOfSchema(version: number): string | null {
  if (version > SCHEMA_VERSION)
    return `has schema version ${version}, newer than the ${SCHEMA_VERSION} this Errand knows. Run the Errand that wrote it, or a newer one.`;
  if (version < OLDEST_SCHEMA)
    return `has schema version ${version}, older than the ${OLDEST_SCHEMA} that this Errand can bring up to date. Start it once with the last Errand 0.1, which does, and then with this one.`;
  return null;
}

/** A part of a migration. `from` and `to` are versions of the schema; the copy of the old file comes first. */
export interface MigrationStep {
  readonly kind: 'copy' | 'change';
  readonly from: number;
  readonly to: number;
  /** Size of the database. */
  readonly bytes: number;
}
