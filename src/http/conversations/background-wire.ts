// A background run as a Message with its `background_results` (§2.4, §2.5).
import { messageIdOf } from '../../domain/ids.ts';
import { isTerminal, type Run, reportedStatus } from '../../domain/sessions/run.ts';
import { NO_USAGE } from '../../domain/sessions/usage.ts';
import type { BackgroundRun } from '../../operations/turns/runs.ts';
import type { BackgroundMessageWire, MessageWire } from '../../wire/messages/message.ts';
import { hasResultField, renderMessage, renderUsage } from './messages-wire.ts';
import type { Reply } from '../replies/reply.ts';

const RETRY_AFTER_MS = 2_000;

/** The reply to a submission (202) or a look-up (200), with `Retry-After` while there is no result. */
export function backgroundReply(status: 200 | 202, found: BackgroundRun): Reply<BackgroundMessageWire> {
  const headers = isTerminal(found.run.status) ? {} : { 'Retry-After': String(RETRY_AFTER_MS / 1_000) };
  return { status, headers, body: renderBackground(found) };
}

function renderBackground({ run, queuePosition }: BackgroundRun): BackgroundMessageWire {
  return {
    ...(run.status === 'completed' ? renderMessage(run) : renderWithoutResult(run)),
    background_results: {
      session_id: run.sessionId,
      run_id: run.id,
      status: reportedStatus(run.status),
      result_url: `/openapi/v1/runs/${run.id}`,
      retry_after_ms: isTerminal(run.status) ? null : RETRY_AFTER_MS,
      background_payload: run.backgroundPayload,
      error: run.error === null ? null : { ...run.error },
      ...(queuePosition === null ? {} : { queue_position: queuePosition }),
    },
  };
}

/** A run that has not completed has no result. */
function renderWithoutResult(run: Run): MessageWire {
  return {
    id: messageIdOf(run.id),
    type: 'message',
    role: 'assistant',
    model: run.requestedModel,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: renderUsage(isTerminal(run.status) ? run.usage : NO_USAGE),
    ...(hasResultField(run) ? { structured_output: null } : {}),
  };
}
