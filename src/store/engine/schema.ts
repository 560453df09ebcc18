// Migrates a database file to the schema of this code, one transaction per migration, after a backup.
import { statSync } from 'node:fs';
import type { Database as Connection } from 'better-sqlite3';
import { accountOf } from '../../domain/people/account-name.ts';
import { ErrandError } from '../../domain/errors.ts';
import { backUp } from './backup.ts';
import { foundation } from './migrations/001-foundation.ts';
import { realWork } from './migrations/002-real-work.ts';
import { upkeep } from './migrations/003-upkeep.ts';
import { timeAtWork } from './migrations/004-time-at-work.ts';
import { texts } from './migrations/005-texts.ts';
import { accounts } from './migrations/006-accounts.ts';
import { leadModel } from './migrations/007-lead-model.ts';
import { usage } from './migrations/008-usage.ts';
import { audit } from './migrations/009-audit.ts';
import { sessionsInOffice } from './migrations/010-sessions-in-office.ts';
import { eventsOfSessions } from './migrations/011-events-of-sessions.ts';
import { waiting } from './migrations/012-waiting.ts';
import { webhooks } from './migrations/013-webhooks.ts';
import { noClockInRows } from './migrations/014-no-clock-in-rows.ts';
import { endsOfDeliveries } from './migrations/015-ends-of-deliveries.ts';
import { epochsOfWebhooks } from './migrations/016-epochs-of-webhooks.ts';
import { listsOfDeliveries } from './migrations/017-lists-of-deliveries.ts';
import { eventsOfResults } from './migrations/018-events-of-results.ts';
import { publishing } from './migrations/019-publishing.ts';
import { scheduledTasks } from './migrations/020-scheduled-tasks.ts';
import { timingOfCalls } from './migrations/021-timing-of-calls.ts';
import { retention } from './migrations/022-retention.ts';
import { budgets } from './migrations/023-budgets.ts';
import { ages } from './migrations/024-ages.ts';
import { diskSamples } from './migrations/025-disk-samples.ts';
import { spaceOfUsers } from './migrations/026-space-of-users.ts';
import { setupsOfRuns } from './migrations/027-setups-of-runs.ts';
import { estimatedCalls } from './migrations/028-estimated-calls.ts';
import { quickConditions } from './migrations/029-quick-conditions.ts';
import { piecesOfText } from './migrations/030-pieces-of-text.ts';
import { eventsBesideRuns } from './migrations/031-events-beside-runs.ts';
import { placesOfRetention } from './migrations/032-places-of-retention.ts';
import { textByStretches } from './migrations/033-text-by-stretches.ts';
import { countedSessions } from './migrations/034-counted-sessions.ts';
import { auditAnchor } from './migrations/036-audit-anchor.ts';
import { largeRows } from './migrations/037-large-rows.ts';
import { pins } from './migrations/038-pins.ts';
import { disabledUsers } from './migrations/039-disabled-users.ts';
import { resultsInContent } from './migrations/035-results-in-content.ts';
import { workspaces } from './migrations/040-workspaces.ts';

/** Every migration in order. Add new ones at the end; never change one that was released. */
const MIGRATIONS: readonly string[] = [
  foundation,
  realWork,
  upkeep,
  timeAtWork,
  texts,
  accounts,
  leadModel,
  usage,
  audit,
  sessionsInOffice,
  eventsOfSessions,
  waiting,
  webhooks,
  noClockInRows,
  endsOfDeliveries,
  epochsOfWebhooks,
  listsOfDeliveries,
  eventsOfResults,
  publishing,
  scheduledTasks,
  timingOfCalls,
  retention,
  budgets,
  ages,
  diskSamples,
  spaceOfUsers,
  setupsOfRuns,
  estimatedCalls,
  quickConditions,
  piecesOfText,
  eventsBesideRuns,
  placesOfRetention,
  textByStretches,
  countedSessions,
  resultsInContent,
  auditAnchor,
  largeRows,
  pins,
  disabledUsers,
  workspaces,
];

/** The schema version this code writes. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** A part of a migration. `from` and `to` are versions of the schema; the copy of the old file comes first. */
export interface MigrationStep {
  readonly kind: 'copy' | 'change';
  readonly from: number;
  readonly to: number;
  /** Size of the database. */
  readonly bytes: number;
}

/**
 * Applies the missing migrations. A file with data is copied to `<file>.v<version>.backup` first; `begins` is called before
 * each step of such a file. Throws `conflict` when the
 * file was written by a newer Errand.
 */
export function migrate(connection: Connection, file: string, begins?: (step: MigrationStep) => void): void {
  const version = connection.pragma('user_version', { simple: true }) as number;
  if (version > SCHEMA_VERSION) {
    throw new ErrandError(
      'conflict',
      `${file} has schema version ${version}, newer than the ${SCHEMA_VERSION} this Errand knows. Run the Errand that wrote it, or a newer one.`,
    );
  }
  if (version === SCHEMA_VERSION) return;
  const bytes = version > 0 ? statSync(file).size : 0;
  if (version > 0) {
    begins?.({ kind: 'copy', from: version, to: SCHEMA_VERSION, bytes });
    backUp(connection, `${file}.v${version}.backup`);
  }
  connection.function('account_of', { deterministic: true, directOnly: true }, (name) => accountOf(String(name)));
  // A migration may rebuild a table that others reference. The setting can't be changed within a transaction.
  connection.pragma('foreign_keys = OFF');
  // A migration may change the words of a table.
  connection.unsafeMode(true);
  for (let next = version; next < SCHEMA_VERSION; next += 1) {
    if (version > 0) begins?.({ kind: 'change', from: next, to: next + 1, bytes });
    connection
      .transaction(() => {
        connection.exec(MIGRATIONS[next]!);
        const [broken] = connection.pragma('foreign_key_check') as { table: string }[];
        if (broken !== undefined) throw new Error(`A row of ${broken.table} refers to no row.`);
        connection.pragma(`user_version = ${next + 1}`);
      })
      .immediate();
  }
  connection.unsafeMode(false);
  connection.pragma('foreign_keys = ON');
}
