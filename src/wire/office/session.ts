// One session in Office Mode (§2.14, §4.8, G2-G7, G23).
import { RUN_STATUSES } from '../../domain/sessions/run.ts';
import { array, object } from '../composites.ts';
import { digits, optionalId } from '../query.ts';
import { request } from '../record.ts';
import { boolean, integer, number, oneOf, string, time, uuid } from '../scalars.ts';
import { messageFields } from '../sessions/history.ts';
import { named, nullable, orElse, type Static } from '../shape.ts';
import { entity, entityStatus, TEAM } from './entity.ts';

const count = integer({ from: 0 });
/** US dollars. */
const cost = number({ from: 0 });
const role = oneOf(['user', 'assistant']);
const messageHead = { id: count, role, text_preview: string, created_at: time };
const page = { total: count, limit: integer({ from: 1 }), offset: count };

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
    messages: array(object(messageHead)),
    runs: array(
      object({
        run_id: uuid,
        status: entityStatus,
        progress: integer({ from: 0, to: 100 }),
        started_at: nullable(time),
        finished_at: nullable(time),
        elapsed_seconds: count,
        total_cost_usd: cost,
      }),
    ),
  }),
);
export type OfficeDetailWire = Static<typeof officeDetail>;

export const officeSession = named(
  'OfficeSession',
  object({
    session_id: uuid,
    title: string,
    status: string,
    kind: string,
    project_id: nullable(string),
    user_id: uuid,
    username: string,
    full_name: string,
    ...TEAM,
    created_at: time,
    updated_at: time,
    current_run: nullable(
      object({
        run_id: uuid,
        status: entityStatus,
        progress: integer({ from: 0, to: 100 }),
        started_at: nullable(time),
      }),
    ),
    last_error: nullable(string),
  }),
);
export type OfficeSessionWire = Static<typeof officeSession>;

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
export type OfficeMessagesWire = Static<typeof officeMessages>;

export const officeSummary = named(
  'OfficeSessionSummary',
  object({
    session_id: uuid,
    title: string,
    status: string,
    message_count: count,
    run_count: count,
    tool_execution_count: count,
    artifact_count: count,
    total_cost_usd: cost,
    input_tokens: count,
    output_tokens: count,
    total_tokens: count,
    /** Time at work, of all runs together. */
    duration_ms: count,
    first_message_preview: nullable(string),
    last_message_preview: nullable(string),
    last_error: nullable(string),
  }),
);
export type OfficeSummaryWire = Static<typeof officeSummary>;

/** The newest first. */
export const officeRuns = named('OfficeRuns', object({ session_id: uuid, items: array(entity), ...page }));
export type OfficeRunsWire = Static<typeof officeRuns>;

/** A round: what the user asked in a run, the tools that it used, and what the agent answered. */
export const runRounds = named(
  'OfficeRunRounds',
  object({
    session_id: uuid,
    items: array(
      object({
        /** From 1, the oldest. */
        round_no: integer({ from: 1 }),
        run_id: uuid,
        status: oneOf(RUN_STATUSES),
        user_message: nullable(string),
        assistant_message: nullable(string),
        tools: array(
          object({
            tool_use_id: string,
            name: string,
            status: oneOf(['waiting', 'running', 'completed', 'failed']),
            duration_ms: nullable(count),
          }),
        ),
        input_tokens: count,
        output_tokens: count,
        cost_usd: cost,
        started_at: nullable(time),
        finished_at: nullable(time),
      }),
    ),
    ...page,
  }),
);
export type RunRoundsWire = Static<typeof runRounds>;

/** How full the model's window was at the last model call; `parts` are estimates that add up to `used_tokens`. */
export const contextUsage = named(
  'OfficeContextUsage',
  object({
    session_id: uuid,
    model: nullable(string),
    context_window: nullable(count),
    used_tokens: count,
    used_percent: number({ from: 0 }),
    parts: object({ system: count, history: count, tools: count }),
  }),
);
export type ContextUsageWire = Static<typeof contextUsage>;

/** Where a picture or an archive is fetched; `url` is signed, and null while an archive is not ready. */
export const officePicture = named('OfficePicture', object({ url: string, filename: string }));
/** The envelope's message while there is no archive (G19). */
export const EXPORT_NOT_READY = 'The workspace export is not ready.';
export const officeArchive = named('OfficeArchive', object({ url: nullable(string), filename: string }));
