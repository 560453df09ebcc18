// What is examined: an installation, by its running daemon or beside a stopped one.
import type { SandboxProbe } from '../agent/sandbox/sandbox.ts';
import type { Catalog } from '../catalog/kinds/models.ts';
import type { Problem } from '../catalog/reading/problem.ts';
import type { Locations } from '../config/locations.ts';
import type { Defined } from '../domain/capabilities/pin.ts';
import type { KnownNode } from '../domain/nodes/node.ts';
import type { Clock } from '../domain/clock.ts';
import { engineOf, type Settings } from '../domain/settings.ts';
import { readStoreMark } from '../files/store-marker.ts';
import type { ExaminationRequest } from '../operations/doctor.ts';
import type { PartReport } from '../operations/status.ts';
import type { Scan } from './scan.ts';
import type { SeenAnchor } from './seen-anchor.ts';
import type { StoreLocation } from '../store/location.ts';
import type { DiskSample } from '../store/inspection/disk-samples.ts';

/** The daemon of an installation: it examines itself, was stopped, or should answer and doesn't. */
export type DaemonState =
  | { readonly state: 'running'; parts(): readonly PartReport[]; nodes(): readonly KnownNode[] }
  | { readonly state: 'stopped' }
  /** `isHung`: it has the lock of its data, and gives no answer. */
  | { readonly state: 'silent'; readonly why: string; readonly isHung: boolean };

/** What the examiner knows of the installation before it looks. */
export interface Installation {
  readonly locations: Locations;
  /** Throws what says why it isn't known: only the service can read a credential. */
  store(): StoreLocation;
  settings(): Settings;
  catalog(): Catalog;
  /** The names of what can be pinned, as in effect; null when they can't be read. */
  defined(): Defined | null;
  /** The problems of the configuration files now. */
  problems(): readonly Problem[];
  sandbox(): Promise<SandboxProbe>;
  /** Of the disk of a node, or of this one: hourly, oldest first; empty beside a stopped daemon. */
  diskSamples(node?: string): Promise<readonly DiskSample[]>;
  readonly daemon: DaemonState;
  /** Whether a row may soon refer to a blob; beside a stopped daemon, none may. */
  isHeld(key: string): boolean;
  /** References to credentials that only the service can read. What was configured with them must not be used. */
  readonly unresolved: ReadonlySet<string>;
  readonly clock: Clock;
}

/** One examination. */
export interface Subject extends Installation {
  readonly request: ExaminationRequest;
  /** The anchor of the audit log, as it was before the database was looked at. */
  readonly anchor: SeenAnchor;
  /** The database and the blobs, looked at once for all checks. */
  scan(): Promise<Scan>;
  readonly signal: AbortSignal;
}

/** What has the rows, also where broken settings don't name it. */
export const engineIn = ({ settings, locations }: Installation): StoreLocation['kind'] =>
  readStoreMark(locations.dataDir) === null ? engineOf(settings()) : 'postgres';
