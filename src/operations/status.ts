// How the daemon is doing, as types: readiness for machines, status for operators.
import type { WebhookTrouble } from '../store/webhooks/webhook-trouble.ts';
import type { DatabaseFigures } from '../store/inspection/figures.ts';
import type { Defined, LostPins } from '../domain/capabilities/pin.ts';
import type { MovablePin } from './capabilities/pins.ts';
import type { KnownNode } from '../domain/nodes/node.ts';
import type { Problem } from '../catalog/reading/problem.ts';

export type PartState = 'ok' | 'degraded' | 'failed';

/** How one part of the daemon is doing. */
export interface PartReport {
  readonly name: string;
  readonly state: PartState;
  readonly detail: string | null;
}

export interface Readiness {
  readonly ready: boolean;
  readonly parts: readonly PartReport[];
}

/** The configuration of the running daemon. */
export interface ConfigurationReport {
  readonly configDir: string;
  /** The problems of the files now; applies nothing. */
  readonly problems: readonly Problem[];
  /** Pins to what the files don't define now. */
  readonly pins: LostPins<MovablePin>;
  /** Every setting in effect. `source` is the flag, variable or file that gave it. */
  readonly settings: readonly {
    readonly name: string;
    readonly value: unknown;
    readonly origin: string;
    readonly source: string | null;
  }[];
}

/** The reports for administrators. */
export interface Reports {
  status(): Promise<StatusReport>;
  configuration(): Promise<ConfigurationReport>;
  /** Pins to what isn't among these names. */
  lostPins(defined: Defined): Promise<LostPins<MovablePin>>;
  /** Figures of the database: about a millisecond per table. */
  database(): Promise<DatabaseFigures>;
}

/** The running daemon as an operator sees it. */
export interface StatusReport extends Readiness {
  readonly version: string;
  readonly nodeVersion: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly uptimeSeconds: number;
  readonly listen: string;
  readonly publicUrl: string;
  readonly dataDir: string;
  readonly configDir: string;
  readonly runs: {
    readonly queued: number;
    readonly running: number;
    /** Runs that wait for their user. */
    readonly waiting: number;
    readonly finalizing: number;
  };
  readonly workers: { readonly threads: number; readonly slots: number; readonly busy: number };
  /** This node. */
  readonly node: Pick<KnownNode, 'id' | 'name'>;
  /** Every node that has registered. */
  readonly nodes: readonly KnownNode[];
  /** Webhooks that fail, and those that the daemon disabled: how many, and some of them. */
  readonly webhooks: WebhookTrouble;
  readonly models: readonly {
    readonly name: string;
    readonly endpoint: string;
    readonly kind: string;
    readonly default: boolean;
  }[];
}
