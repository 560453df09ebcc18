// Renders the audit log.
import type { AuditEntry } from '../../domain/people/audit.ts';
import { isoTime } from '../../domain/clock.ts';
import { wireOfDoubt, wireOfLink } from '../../wire/people/audit-anchor.ts';
import type { AnchoredHead } from '../../operations/audit/audit-log.ts';
import type { AuditEntryWire, AuditHeadWire } from '../../wire/people/audit.ts';

export function renderAuditHead({ anchor, ...head }: AnchoredHead): AuditHeadWire {
  const said = anchor.kind === 'sealed' ? anchor.anchor : null;
  return {
    last_id: head.lastId,
    last_hash: head.lastHash,
    sealed: head.isSealed,
    doubtful_until: head.doubtfulUntil,
    removed_until: head.removedId,
    removed_hash: head.removedHash,
    start_sealed: head.isStartSealed,
    anchor: {
      state: anchor.kind,
      end: said && wireOfLink(said.end),
      doubt: (said?.doubt ?? null) && wireOfDoubt(said!.doubt!),
    },
  };
}

export function renderAuditEntry({ actor, ...entry }: AuditEntry): AuditEntryWire {
  return {
    id: entry.id,
    at: isoTime(entry.at),
    actor: { user_id: actor.userId, username: actor.username, via: actor.via, key_id: actor.keyId },
    action: entry.action,
    target_type: entry.targetType,
    target_id: entry.targetId,
    session_id: entry.sessionId,
    address: entry.address,
    request_id: entry.requestId,
    hash: entry.hash,
  };
}
