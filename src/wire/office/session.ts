// One session in Office Mode (§2.14, §4.8, G2-G7, G23).
import { reportedStatus, RUN_STATUSES, type RunState } from '../../domain/sessions/run.ts';
import { type ContextParts, totalTokens } from '../../domain/sessions/usage.ts';
import { array, object } from '../shapes/composites.ts';
import { digits, optionalId } from '../shapes/query.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { boolean, integer, number, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { messageFields } from '../sessions/history.ts';
import { type JsonOf, named, nullable, orElse } from '../shapes/shape.ts';
import { ELAPSED, entity, LAST_ERROR, PROGRESS, TEAM } from './entity.ts';

const count = integer({ from: 0 });
/** US dollars. */
const cost = number({ from: 0 });
const totalCost = called('total_cost_usd', cost);
const page = { total: count, limit: integer({ from: 1 }), offset: count };

/** A message without its content. */
export const messageHead = record({
  id: count,
  role: oneOf(['user', 'assistant']),
  preview: called('text_preview', string),
  createdAt: time,
});

/** A run in the list of its session. */
export const runHead = record({
  id: called('run_id', uuid),
  ...PROGRESS,
  startedAt: nullable(time),
  finishedAt: nullable(time),
  elapsedSeconds: ELAPSED,
  costUsd: totalCost,
});

/** What the session is and has cost, with its messages and runs, oldest first. */
export const officeDetail = named(
  'OfficeSessionDetail',
  object({
    session_id: uuid,
    session_title: string,
    session_status: string,
    total_cost_usd: cost,
    total_tokens: count,
    message_count: count,
    artifact_count: count,
    messages: array(messageHead),
    runs: array(runHead),
  }),
);
export type OfficeDetailWire = JsonOf<typeof officeDetail>;

const currentRun = record({ id: called('run_id', uuid), ...PROGRESS, startedAt: nullable(time) });

export const officeSession = named(
  'OfficeSession',
  record({
    id: called('session_id', uuid),
    title: string,
    status: string,
    kind: string,
    projectId: nullable(string),
    userId: uuid,
    username: string,
    fullName: string,
    ...TEAM,
    createdAt: time,
    updatedAt: time,
    currentRun: nullable(currentRun),
    lastError: LAST_ERROR,
  }),
);

/** Which page of messages: `limit` from 1 to 200, 200 when absent. */
export const officeMessagesQuery = request({
  limit: digits({ from: 1, to: 200, absent: 200 }),
  beforeId: orElse(optionalId, null),
});

/** A page of messages: the newest page first, ascending inside; `before_id` leads on to the past. */
export const officeMessages = named(
  'OfficeMessages',
  object({
    session_id: uuid,
    items: array(object({ ...messageFields, run_id: nullable(uuid), created_at: time })),
    has_more: boolean,
    next_before_id: nullable(integer({ from: 1 })),
  }),
);
export type OfficeMessagesWire = JsonOf<typeof officeMessages>;

export const officeSummary = named(
  'OfficeSessionSummary',
  record({
    id: called('session_id', uuid),
    title: string,
    status: string,
    messageCount: count,
    runCount: count,
    toolCount: called('tool_execution_count', count),
    artifactCount: count,
    costUsd: totalCost,
    inputTokens: count,
    outputTokens: count,
    totalTokens: made(count, totalTokens),
    /** Time at work, of all runs together. */
    workedMs: called('duration_ms', count),
    firstPreview: called('first_message_preview', nullable(string)),
    lastPreview: called('last_message_preview', nullable(string)),
    lastError: LAST_ERROR,
  }),
);
export type OfficeSummaryWire = JsonOf<typeof officeSummary>;

/** The newest first. */
export const officeRuns = named('OfficeRuns', record({ sessionId: uuid, items: array(entity), ...page }));

const roundTool = record({
  toolUseId: string,
  name: string,
  status: oneOf(['waiting', 'running', 'completed', 'failed']),
  durationMs: nullable(count),
});

/** What the user asked in a run, the tools that it used, and what the agent answered. */
export const runRound = record({
  /** From 1, the oldest. */
  number: called('round_no', integer({ from: 1 })),
  runId: uuid,
  status: made(oneOf(RUN_STATUSES), ({ status }: { readonly status: RunState }) => reportedStatus(status)),
  userMessage: nullable(string),
  assistantMessage: nullable(string),
  tools: array(roundTool),
  inputTokens: count,
  outputTokens: count,
  costUsd: cost,
  startedAt: nullable(time),
  finishedAt: nullable(time),
});

export const runRounds = named('OfficeRunRounds', object({ session_id: uuid, items: array(runRound), ...page }));
export type RunRoundsWire = JsonOf<typeof runRounds>;

interface Context {
  readonly parts: ContextParts;
  readonly contextWindow: number | null;
}

const usedOf = ({ parts }: Pick<Context, 'parts'>) => parts.system + parts.history + parts.tools;

/** To a tenth; 0 while the window isn't known. */
function usedPercentOf({ parts, contextWindow }: Context): number {
  return contextWindow === null ? 0 : Math.round((1_000 * usedOf({ parts })) / contextWindow) / 10;
}

/** How full the model's window was at the last model call; `parts` are estimates that add up to `used_tokens`. */
export const contextUsage = named(
  'OfficeContextUsage',
  record({
    sessionId: uuid,
    model: nullable(string),
    contextWindow: nullable(count),
    usedTokens: made(count, usedOf),
    usedPercent: made(number({ from: 0 }), usedPercentOf),
    parts: object({ system: count, history: count, tools: count }),
  }),
);
export type ContextUsageWire = JsonOf<typeof contextUsage>;

interface Signed {
  readonly base: string;
  readonly address: string;
}

/** Where a picture or an archive is fetched; `url` is signed, and null while an archive is not ready. */
export const officePicture = named(
  'OfficePicture',
  record({ url: made(string, ({ base, address }: Signed) => base + address), filename: string }),
);
/** The envelope's message while there is no archive (G19). */
export const EXPORT_NOT_READY = 'The workspace export is not ready.';
export const officeArchive = named('OfficeArchive', object({ url: nullable(string), filename: string }));
