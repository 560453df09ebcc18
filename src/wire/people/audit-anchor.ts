// The anchor of the audit log, as its file and the manifests of backups have it.
import { ANCHOR_FAULTS, type AnchorDoubt, type AuditLink } from '../../domain/people/audit-anchor.ts';
import { object } from '../shapes/composites.ts';
import { called, record } from '../shapes/record.ts';
import { integer, matching, oneOf, time } from '../shapes/scalars.ts';
import { type JsonOf, nullable } from '../shapes/shape.ts';

const digest = matching(/^[0-9a-f]{64}$/u, 'must be a SHA-256 in hexadecimal');

/** An entry by its number and hash; 0 and zeros before the first. */
export const auditLink = record({
  id: called('last_id', integer({ from: 0 })),
  hash: called('last_hash', digest),
});

/** What the daemon found wrong with the log once, and the end that the log had. */
export const anchorDoubt = record({ fault: oneOf(ANCHOR_FAULTS), foundAt: time, had: nullable(auditLink) });

export const auditAnchor = object({
  last_id: integer({ from: 0 }),
  last_hash: digest,
  doubt: nullable(anchorDoubt),
  /** HMAC of the fields above, under the key of the audit log. */
  seal: digest,
});
export type AuditAnchorWire = JsonOf<typeof auditAnchor>;

type LinkWire = JsonOf<typeof auditLink>;
type DoubtWire = JsonOf<typeof anchorDoubt>;

/** Conversions for who reads it. */
export const linkOf = ({ last_id, last_hash }: LinkWire): AuditLink => ({ id: last_id, hash: last_hash });

export function doubtOf({ fault, found_at, had }: DoubtWire): AnchorDoubt {
  return { fault, foundAt: Date.parse(found_at), had: had && linkOf(had) };
}
