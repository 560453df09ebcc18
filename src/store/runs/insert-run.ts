// A new run, inserted by the turn, or by the step of a firing, that it executes.
import { newId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Link } from '../../domain/sessions/continued/history-chain.ts';
import type { Protocol, Run } from '../../domain/sessions/run.ts';
import { NO_USAGE } from '../../domain/sessions/usage.ts';
import type { Step, Transaction } from '../engine/statement.ts';

export interface NewRun
  extends Pick<
    Run,
    | 'sessionSeq'
    | 'sessionId'
    | 'userSeq'
    | 'keySeq'
    | 'protocol'
    | 'scheduleMode'
    | 'requestedModel'
    | 'includeUsage'
    | 'backgroundPayload'
    | 'response'
    | 'resultInContent'
    | 'resultTool'
  > {
  /** The session's. */
  readonly target: string;
  readonly outputSchema: JsonObject | null;
  readonly opensSession: boolean;
  readonly idempotencyKey: string | null;
  readonly traceParent?: string | null;
  /** The conversation up to the user's message, where the client resends it. */
  readonly history?: Link | null;
  /** Whether it may be claimed. */
  readonly ready: boolean;
  /** Present for a run that starts at once, under its first attempt. */
  readonly start: { readonly model: string | null; readonly leaseMs: number; readonly node: string } | null;
}

/** A run of the Responses protocol has the journal of a chat; its column `response` says what it is. */
const STORED_AS = { chat: 'chat', messages: 'messages', responses: 'chat' } as const satisfies Record<Protocol, string>;

/** Returns the run, queued or started. Its owner's team of now stays with it (§4.8 rule 2). */
export function* insertRun(tx: Transaction, { target, outputSchema, history = null, ...given }: NewRun): Step<Run> {
  const { opensSession, idempotencyKey, traceParent = null, ready, start, ...chosen } = given;
  const run: Omit<Run, 'seq'> = {
    ...chosen,
    id: newId(tx.now),
    status: start === null ? 'queued' : 'running',
    attempt: start === null ? 0 : 1,
    resumes: 0,
    model: start?.model ?? null,
    wantsStructured: outputSchema !== null,
    usage: NO_USAGE,
    costUsd: 0,
    stopReason: null,
    error: null,
    answer: null,
    structuredOutput: null,
    createdAt: tx.now,
    startedAt: start === null ? null : tx.now,
    finishedAt: null,
  };
  const seq = yield* tx.insert(
    `INSERT INTO runs (id, session_seq, user_seq, key_seq, protocol, status, schedule_mode, ready, requested_model,
       include_usage, opened_session, idempotency_key, target, background_payload, created_at,
       output_schema, result_in_content, result_tool, attempt, model, lease_until, started_at, node_id, trace_parent, response, history_asked, history_answered,
       team_id, artifact_status)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT team_id FROM users WHERE seq = ?), 'pending')`,
    run.id,
    run.sessionSeq,
    run.userSeq,
    run.keySeq,
    STORED_AS[run.protocol],
    run.status,
    run.scheduleMode,
    Number(ready),
    run.requestedModel,
    Number(run.includeUsage),
    Number(opensSession),
    idempotencyKey,
    target,
    run.backgroundPayload,
    run.createdAt,
    outputSchema === null ? null : JSON.stringify(outputSchema),
    Number(run.resultInContent),
    run.resultTool === null ? null : JSON.stringify(run.resultTool),
    run.attempt,
    run.model,
    start === null ? null : tx.now + start.leaseMs,
    run.startedAt,
    start?.node ?? null,
    traceParent,
    run.response === null ? null : JSON.stringify(run.response),
    // Without an answer yet, clients leave it out.
    history,
    history,
    run.userSeq,
  );
  return { seq, ...run };
}
