// The anchor of the audit log, as its file and the manifests of backups have it.
import { isoTime } from '../../domain/clock.ts';
import { ANCHOR_FAULTS, type AnchorDoubt, type AuditLink } from '../../domain/people/audit-anchor.ts';
import { object } from '../composites.ts';
import { integer, matching, oneOf, time } from '../scalars.ts';
import { nullable, type Static } from '../shape.ts';

const digest = matching(/^[0-9a-f]{64}$/u, 'must be a SHA-256 in hexadecimal');

/** An entry by its number and hash; 0 and zeros before the first. */
export const auditLink = object({ last_id: integer({ from: 0 }), last_hash: digest });

/** What the daemon found wrong with the log once, and the end that the log had. */
export const anchorDoubt = object({ fault: oneOf(ANCHOR_FAULTS), found_at: time, had: nullable(auditLink) });

export const auditAnchor = object({
  last_id: integer({ from: 0 }),
  last_hash: digest,
  doubt: nullable(anchorDoubt),
  /** HMAC of the fields above, under the key of the audit log. */
  seal: digest,
});
export type AuditAnchorWire = Static<typeof auditAnchor>;

type LinkWire = Static<typeof auditLink>;
type DoubtWire = Static<typeof anchorDoubt>;

/** Conversions, for the file, the API and who reads it. */
export const linkOf = ({ last_id, last_hash }: LinkWire): AuditLink => ({ id: last_id, hash: last_hash });
export const wireOfLink = ({ id, hash }: AuditLink): LinkWire => ({ last_id: id, last_hash: hash });

export function doubtOf({ fault, found_at, had }: DoubtWire): AnchorDoubt {
  return { fault, foundAt: Date.parse(found_at), had: had && linkOf(had) };
}

export function wireOfDoubt({ fault, foundAt, had }: AnchorDoubt): DoubtWire {
  return { fault, found_at: isoTime(foundAt), had: had && wireOfLink(had) };
}
