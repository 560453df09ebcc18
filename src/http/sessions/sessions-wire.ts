// API sessions on the wire: list items, the outcomes of stop and delete, capabilities (§2.6, §2.10-2.12).
import type { CapabilityConfig } from '../../domain/capabilities/capability-config.ts';
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import { capabilityConfig } from '../../wire/capabilities/capability.ts';
import type { Session } from '../../domain/sessions/session.ts';
import type { StopResult } from '../../domain/sessions/stop.ts';
import type { SessionRecord } from '../../store/sessions/session-records.ts';
import type {
  DeletionWire,
  OwnSessionWire,
  SessionCapabilitiesWire,
  SessionWire,
  StopWire,
} from '../../wire/sessions/session.ts';

/** An item of the list (§2.6). */
export function renderSession(session: Session): OwnSessionWire {
  return {
    session_id: session.id,
    title: session.title,
    status: session.status,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.updatedAt),
  };
}

/** A session as administrators read it. */
export function renderSessionRecord(session: SessionRecord): SessionWire {
  return {
    session_id: session.id,
    title: session.title,
    status: session.status,
    kind: session.kind,
    user_id: session.userId,
    username: session.username,
    key_id: session.keyId,
    project_id: session.projectId,
    stop:
      session.stop === null
        ? null
        : {
            termination_reason: session.stop.cause,
            requested_at: isoTime(session.stop.requestedAt),
            confirmed_at: isoTimeOrNull(session.stop.confirmedAt),
          },
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.updatedAt),
  };
}

/** What a stop did (§2.11). */
export function renderStop(result: StopResult): StopWire {
  return {
    session_id: result.sessionId,
    status: result.status,
    stop_state: result.stopState,
    termination_reason: result.cause,
    cancelled_runs: result.cancelledRuns,
    expired_user_input_requests: result.expiredQuestions,
    executor_cancelled: result.executorCancelled,
  };
}

/** What a delete did (§2.12). */
export function renderDeletion(sessionId: string): DeletionWire {
  return { id: sessionId, cleanup: { scheduled: true } };
}

/** What the agent of a session may use (§2.10). */
export function renderCapabilityConfig(found: {
  readonly sessionId: string;
  readonly config: CapabilityConfig;
}): SessionCapabilitiesWire {
  const { sessionId, config } = found;
  return {
    session_id: sessionId,
    capability_config: capabilityConfig.render(config),
  };
}
