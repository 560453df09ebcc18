// A run whose journal was removed, as events made from the rows that stay: a stream from its beginning still has the answer.
import { ErrandError } from '../../domain/errors.ts';
import type { JournalEvent, NewEvent } from '../../domain/sessions/journal-event.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { RunError, RunStatus, ScheduleMode, StopReason } from '../../domain/sessions/run.ts';
import type { StopCause } from '../../domain/sessions/stop.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { eventsOfResult } from './result-events.ts';

interface RetoldRow {
  sessionSeq: number;
  protocol: 'chat' | 'messages';
  scheduleMode: ScheduleMode;
  status: RunStatus;
  stopReason: StopReason | null;
  stopCause: StopCause | null;
  error: string | null;
  structuredOutput: string | null;
  resultInContent: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  createdAt: number;
  finishedAt: number;
  messageId: number | null;
  textPreview: string | null;
}

const RUN = `SELECT r.session_seq, r.protocol, r.schedule_mode, r.status, r.stop_reason, s.stop_cause, r.error,
    r.structured_output, r.result_in_content, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.created_at,
    r.finished_at, m.id AS message_id, m.text_preview
  FROM runs r JOIN sessions s ON s.seq = r.session_seq
    LEFT JOIN messages m ON m.run_seq = r.seq AND m.role = 'assistant'
  WHERE r.seq = ? AND r.finished_at IS NOT NULL AND s.deleted_at IS NULL`;
const HAS_FIRST = "SELECT 1 FROM events WHERE run_seq = ? AND stream_seq = 1 AND type <> 'content_block_delta'";
const SIZE = 'SELECT coalesce(sum(octet_length(text)), 0) AS bytes FROM steps WHERE run_seq = ?';
const TEXTS = "SELECT text FROM steps WHERE run_seq = ? AND text <> '' ORDER BY step DESC LIMIT ?";
/** Of a run that said more, the last text is told. */
const MAX_BYTES = 4_194_304;

/**
 * The events of a run that has lost some, for a reader from the beginning; undefined when the journal has what there is.
 * Throws `not_found` for a reader that has a part already: what follows it is gone.
 */
export function* retellIn(tx: Reader, runSeq: number, afterId: number): Step<JournalEvent[] | undefined> {
  if ((yield* tx.get(HAS_FIRST, runSeq)) !== undefined) return undefined;
  const run = yield* tx.get<RetoldRow>(RUN, runSeq);
  if (run === undefined) return undefined;
  if (afterId > 0)
    throw new ErrandError(
      'not_found',
      'The events of this run were removed, because they are old. Its result remains.',
    );
  const { bytes } = (yield* tx.get<{ bytes: number }>(SIZE, runSeq))!;
  const limit = bytes > MAX_BYTES ? 1 : Number.MAX_SAFE_INTEGER;
  const texts = (yield* tx.all<{ text: string }>(TEXTS, runSeq, limit)).map(({ text }) => text).toReversed();
  return [...beginningOf(run), ...texts.flatMap(blockOf), ...endOf(run)].map(
    (event, at): JournalEvent => ({
      ...event,
      id: at + 1,
      sessionSeq: run.sessionSeq,
      runSeq,
      streamSeq: at + 1,
      createdAt: at === 0 ? run.createdAt : run.finishedAt,
    }),
  );
}

function beginningOf(run: RetoldRow): NewEvent[] {
  return [{ type: 'run.queued', payload: { scheduleMode: run.scheduleMode, promptTokens: run.inputTokens } }];
}

function blockOf(text: string, index: number): NewEvent[] {
  return [
    { type: 'content_block_start', payload: { index } },
    { type: 'content_block_delta', payload: { index, text } },
    { type: 'content_block_stop', payload: { index } },
  ];
}

function endOf(run: RetoldRow): NewEvent[] {
  const usage = {
    inputTokens: run.inputTokens,
    outputTokens: run.outputTokens,
    cacheReadTokens: run.cacheReadTokens,
    cacheWriteTokens: run.cacheWriteTokens,
  };
  const result = run.structuredOutput === null ? undefined : { value: JSON.parse(run.structuredOutput) as JsonValue };
  const inContent = run.resultInContent === 1;
  const events = eventsOfResult(run.protocol, inContent ? result : undefined);
  events.push({ type: 'run.finalizing', payload: { stopReason: run.stopReason, usage } });
  if (run.messageId !== null) {
    const structured = result === undefined || inContent ? {} : { structuredOutput: result.value };
    const said = { messageId: run.messageId, role: 'assistant', textPreview: run.textPreview ?? '' } as const;
    events.push({ type: 'message', payload: { ...said, usage, ...structured } });
  }
  return [...events, terminalOf(run)];
}

function terminalOf({ status, error, stopCause: cause }: RetoldRow): NewEvent {
  if (status === 'completed') return { type: 'run.done', payload: { status } };
  if (status === 'canceled') return { type: 'run.stopped', payload: { reason: cause ?? 'user_requested_stop' } };
  return {
    type: 'run.failed',
    payload: { status: status === 'incomplete' ? status : 'failed', error: JSON.parse(error!) as RunError },
  };
}
