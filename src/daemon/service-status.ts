// The lines that `systemctl status` shows, and how long systemd has to wait for what they say.
import { MB } from '../domain/byte-units.ts';
import type { PartReport, Readiness } from '../operations/status.ts';
import type { MigrationStep } from '../store/engine/schema.ts';

const MINUTE_MS = 60_000;
/** Slower than any disk that is in order. */
const MIGRATED_BYTES_PER_MINUTE = 100_000_000;
/** What a drain takes after its last run: archives, the last replies, the database. */
const CLOSING_MS = 30_000;

/** A step of a migration. */
export function migrationStatus({ kind, from, to, bytes }: MigrationStep): string {
  if (kind === 'wait') return 'Migrating: waiting for another node that changes the schema of the database';
  const size = `${Math.ceil(bytes / MB)} MB`;
  return kind === 'copy'
    ? `Migrating: copying the database (${size}) before its schema changes from version ${from} to ${to}`
    : `Migrating: changing the schema of the database (${size}) from version ${from} to ${to}`;
}

/** How long a step may take. It blocks the event loop, so it can't ask for more while it works. */
export function migrationLimitMs({ bytes }: MigrationStep): number {
  return 10 * MINUTE_MS + (bytes / MIGRATED_BYTES_PER_MINUTE) * MINUTE_MS;
}

/** A running daemon, and each part of it that needs someone. */
export function runningStatus(url: string, busy: number, { parts }: Readiness): string {
  const troubles = parts.filter((part) => part.state !== 'ok').map(troubleOf);
  return [`Listening on ${url}`, inProgress(busy), ...troubles].join('; ');
}

/** A daemon that drains. */
export function drainingStatus(busy: number, drainSeconds: number): string {
  return `Stopping: ${inProgress(busy)}, with up to ${drainSeconds} s to finish`;
}

/** How long a drain may take, whatever `TimeoutStopSec` the unit has. */
export function drainLimitMs(drainSeconds: number): number {
  return drainSeconds * 1_000 + CLOSING_MS;
}

function inProgress(busy: number): string {
  return `${busy} ${busy === 1 ? 'run' : 'runs'} in progress`;
}

function troubleOf({ name, state, detail }: PartReport): string {
  return `${name} ${state}: ${detail ?? 'see errand status'}`;
}
