// The audit log, as administrators read it (G17).
import { AUDIT_ACTIONS, AUDIT_WAYS, type AuditAction } from '../../domain/people/audit.ts';
import { object } from '../composites.ts';
import { anchorDoubt, auditLink } from './audit-anchor.ts';
import { digits, eventId, moment, optionalId } from '../query.ts';
import { integer, line, oneOf, string, time, boolean } from '../scalars.ts';
import { named, nullable, optional, type Static } from '../shape.ts';

/** An entry. Of the operator behind the control socket, the actor has no user, and the username `operator`. */
export const auditEntry = named(
  'AuditEntry',
  object({
    id: integer({ from: 1 }),
    at: time,
    actor: object({
      user_id: nullable(string),
      username: string,
      via: oneOf(AUDIT_WAYS),
      key_id: nullable(string),
    }),
    action: string,
    target_type: string,
    target_id: string,
    session_id: nullable(string),
    address: string,
    request_id: string,
    hash: string,
  }),
);
export type AuditEntryWire = Static<typeof auditEntry>;

/**
 * The end of the log, and its start. `sealed`: the end is as the daemon left it. `doubtful_until`: once it wasn't, after this
 * entry. `removed_until`: the last entry that was removed by age, 0 for none; the chain continues from its hash. `anchor`: the end that
 * the log had some seconds ago or longer, by a sealed file outside of the database; `due`: there never was such a file. `doubt`: what the
 * daemon once found wrong with the log or its anchor.
 */
export const auditHead = named(
  'AuditHead',
  object({
    last_id: integer({ from: 0 }),
    last_hash: nullable(string),
    sealed: boolean,
    doubtful_until: nullable(integer({ from: 0 })),
    removed_until: integer({ from: 0 }),
    removed_hash: nullable(string),
    start_sealed: boolean,
    anchor: object({
      state: oneOf(['sealed', 'altered', 'missing', 'due']),
      end: nullable(auditLink),
      doubt: nullable(anchorDoubt),
    }),
  }),
);
export type AuditHeadWire = Static<typeof auditHead>;

/** What to list: the newest before an id, or, with `after_id`, the oldest after it. `from` is included, `to` is not. */
export const auditQuery = object({
  actor: optional(line({ max: 256 })),
  action: optional(oneOf(Object.keys(AUDIT_ACTIONS) as AuditAction[])),
  target: optional(line({ max: 256 })),
  session: optional(line({ max: 256 })),
  from: optional(moment),
  to: optional(moment),
  before_id: optionalId,
  after_id: optional(eventId),
  limit: digits({ from: 1, to: 500, absent: 100 }),
});
