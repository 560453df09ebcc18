// Who may be reached from the daemon: a purpose, the administrator's exceptions, and the error of a request that failed.
import type { LookupAddress } from 'node:dns';
import type { EgressPurpose, EgressRule } from '../domain/egress.ts';

/** Answers every address of a name; rejects when it has none. */
export type ResolveName = (name: string) => Promise<readonly LookupAddress[]>;

/** What a request is for and what it may reach beside the public internet (H7). */
export interface EgressPolicy {
  readonly purpose: EgressPurpose;
  readonly allow: readonly EgressRule[];
  /** How names are resolved; the system's way when absent. */
  readonly resolve?: ResolveName;
}

export type EgressFailure =
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'too_many_redirects'
  | 'bad_reply'
  | 'canceled';

/**
 * Why a guarded request has no reply. The message is one sentence fit for users: it names hosts as they were asked for,
 * and never an address that DNS gave.
 */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly kind: EgressFailure;

  constructor(kind: EgressFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.kind = kind;
  }
}
