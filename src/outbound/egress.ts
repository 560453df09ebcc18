// What the daemon may reach: a purpose, the administrator's exceptions, and the error of a failed request.
import type { LookupAddress } from 'node:dns';
import type { EgressPurpose, EgressRule } from '../domain/egress.ts';

/** Returns all addresses of a name; rejects when it has none. */
export type ResolveName = (name: string) => Promise<readonly LookupAddress[]>;

/** The purpose of a request, and what it may reach in addition to the public internet (H7). */
export interface EgressPolicy {
  readonly purpose: EgressPurpose;
  readonly allow: readonly EgressRule[];
  /** A PEM file with issuers that are trusted for these requests in addition. */
  readonly caFile?: string | null;
  /** Resolves names; by default with the system's hosts file and name servers, within five seconds. */
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
 * Why a guarded request has no reply. The message is one sentence suitable for users: it names hosts as they were requested,
 * and never an address from DNS.
 */
export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly kind: EgressFailure;

  constructor(kind: EgressFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.kind = kind;
  }
}
