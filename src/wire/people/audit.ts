// The audit log, as administrators read it (G17).
import type { AnchorDoubt, AuditLink } from '../../domain/people/audit-anchor.ts';
import { AUDIT_ACTIONS, AUDIT_WAYS, type AuditAction } from '../../domain/people/audit.ts';
import { endpoints } from '../endpoint.ts';
import { listOf } from '../listing.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { anchorDoubt, auditLink } from './audit-anchor.ts';
import { digits, eventId, moment, optionalId } from '../shapes/query.ts';
import { integer, line, oneOf, string, time, boolean } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse, refersTo, type SourceOf } from '../shapes/shape.ts';

/** An entry. Of the operator behind the control socket, the actor has no user, and the username `operator`. */
const auditEntry = named(
  'AuditEntry',
  record({
    id: integer({ from: 1 }),
    at: time,
    actor: record({ userId: nullable(string), username: string, via: oneOf(AUDIT_WAYS), keyId: nullable(string) }),
    action: string,
    targetType: string,
    targetId: string,
    sessionId: nullable(string),
    address: string,
    requestId: string,
    hash: string,
  }),
);
export type AuditEntryWire = JsonOf<typeof auditEntry>;

/** What the sealed file beside the database says; only one that is `sealed` says anything. */
type FoundAnchor =
  | { readonly kind: 'sealed'; readonly anchor: { readonly end: AuditLink; readonly doubt: AnchorDoubt | null } }
  | { readonly kind: 'altered' | 'missing' | 'due' };

const anchor = record({
  kind: called('state', oneOf(['sealed', 'altered', 'missing', 'due'])),
  end: nullable(auditLink),
  doubt: nullable(anchorDoubt),
});

function saidBy(found: FoundAnchor): SourceOf<typeof anchor> {
  const { end = null, doubt = null } = found.kind === 'sealed' ? found.anchor : {};
  return { kind: found.kind, end, doubt };
}

/**
 * The end of the log, and its start. `sealed`: the end is as the daemon left it. `doubtful_until`: once it wasn't, after this
 * entry. `removed_until`: the last entry that was removed by age, 0 for none; the chain continues from its hash. `anchor`: the end that
 * the log had some seconds ago or longer, by a sealed file outside of the database; `due`: there never was such a file. `doubt`: what the
 * daemon once found wrong with the log or its anchor.
 */
const auditHead = named(
  'AuditHead',
  record({
    lastId: integer({ from: 0 }),
    lastHash: nullable(string),
    isSealed: called('sealed', boolean),
    doubtfulUntil: nullable(integer({ from: 0 })),
    removedId: called('removed_until', integer({ from: 0 })),
    removedHash: nullable(string),
    isStartSealed: called('start_sealed', boolean),
    anchor: made(anchor, (head: { readonly anchor: FoundAnchor }) => saidBy(head.anchor)),
  }),
);
export type AuditHeadWire = JsonOf<typeof auditHead>;

const name = line({ max: 256 });

/** What to list: the newest before an id, or, with `after_id`, the oldest after it. `from` is included, `to` is not. */
const auditQuery = request({
  actor: orElse(refersTo('users', name), null),
  action: orElse(oneOf(Object.keys(AUDIT_ACTIONS) as AuditAction[]), null),
  targetId: called('target', orElse(name, null)),
  sessionId: called('session', orElse(refersTo('sessions', name), null)),
  fromAt: called('from', orElse(moment, null)),
  toAt: called('to', orElse(moment, null)),
  beforeId: orElse(optionalId, null),
  afterId: orElse(eventId, null),
  limit: digits({ from: 1, to: 500, absent: 100 }),
});

/** The audit log, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const audit = endpoints('admin', 'envelope', {
  list: { route: 'GET /api/v1/audit', summary: 'List what administrators read of others and changed', operation: 'listAuditEntries', query: auditQuery, reply: listOf(auditEntry) },
  head: { route: 'GET /api/v1/audit/head', summary: 'Read the end of the audit log', operation: 'getAuditHead', reply: auditHead },
});
