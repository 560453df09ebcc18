// One session in Office Mode, as the wire has it (§2.14, G2-G7).
import { isoTime, isoTimeOrNull } from '../../domain/clock.ts';
import { elapsedSeconds, OFFICE_STATUS, progressOf } from '../../domain/sessions/office.ts';
import { reportedStatus } from '../../domain/sessions/run.ts';
import { totalTokens } from '../../domain/sessions/usage.ts';
import type {
  ContextUsage,
  OfficeDetail,
  OfficeSession,
  OfficeSummary,
} from '../../operations/office/session-facts.ts';
import type { HistoryMessage } from '../../operations/sessions/history.ts';
import type { OfficeMessages, OfficeRuns, RunRounds } from '../../operations/office/session-pages.ts';
import type { Page } from '../../domain/listing.ts';
import type { CurrentRun } from '../../store/office/session-overview.ts';
import type { RunRound } from '../../store/office/run-rounds.ts';
import type { MessageHead, RunHead } from '../../store/office/session-pages.ts';
import type {
  ContextUsageWire,
  OfficeDetailWire,
  OfficeMessagesWire,
  OfficeRunsWire,
  OfficeSessionWire,
  OfficeSummaryWire,
  RunRoundsWire,
} from '../../wire/office/session.ts';
import { type Streamable, streamedList } from '../replies/json-pieces.ts';
import { renderMessage } from '../sessions/history-wire.ts';
import { renderEntity, teamFields } from './entity-wire.ts';

export function renderDetail(detail: OfficeDetail): Streamable<OfficeDetailWire> {
  const { session, totals, messages, runs, at } = detail;
  return {
    session_id: session.id,
    session_title: session.title,
    session_status: session.status,
    total_cost_usd: totals.costUsd,
    total_tokens: totalTokens(totals),
    message_count: totals.messageCount,
    artifact_count: totals.artifactCount,
    messages: streamedList(messages, renderMessageHead),
    runs: streamedList(runs, (run) => renderRunHead(run, at)),
  };
}

function renderMessageHead({ id, role, preview, createdAt }: MessageHead): OfficeDetailWire['messages'][number] {
  return { id, role, text_preview: preview, created_at: isoTime(createdAt) };
}

function renderRunHead(run: RunHead, at: number): OfficeDetailWire['runs'][number] {
  return {
    run_id: run.id,
    status: OFFICE_STATUS[run.status],
    progress: progressOf(run.status, run.steps),
    started_at: isoTimeOrNull(run.startedAt),
    finished_at: isoTimeOrNull(run.finishedAt),
    elapsed_seconds: elapsedSeconds(run.startedAt, run.finishedAt ?? at),
    total_cost_usd: run.costUsd,
  };
}

export function renderOfficeSession({ session, overview }: OfficeSession): OfficeSessionWire {
  return {
    session_id: session.id,
    title: session.title,
    status: session.status,
    kind: session.kind,
    project_id: session.projectId,
    user_id: session.userId,
    username: session.username,
    full_name: overview.fullName,
    ...teamFields(overview),
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.updatedAt),
    current_run: overview.currentRun === null ? null : renderCurrentRun(overview.currentRun),
    last_error: overview.lastError?.message ?? null,
  };
}

function renderCurrentRun({ id, status, steps, startedAt }: CurrentRun): OfficeSessionWire['current_run'] {
  return {
    run_id: id,
    status: OFFICE_STATUS[status],
    progress: progressOf(status, steps),
    started_at: isoTimeOrNull(startedAt),
  };
}

export function renderMessages(found: OfficeMessages): Streamable<OfficeMessagesWire> {
  const { sessionId, messages, nextBeforeId } = found;
  return {
    session_id: sessionId,
    items: streamedList<HistoryMessage, OfficeMessagesWire['items'][number]>(messages, (message) => ({
      ...renderMessage(message),
      run_id: message.runId,
      created_at: isoTime(message.createdAt),
    })),
    has_more: nextBeforeId !== null,
    next_before_id: nextBeforeId,
  };
}

export function renderSummary({ session, summary }: OfficeSummary): OfficeSummaryWire {
  return {
    session_id: session.id,
    title: session.title,
    status: session.status,
    message_count: summary.messageCount,
    run_count: summary.runCount,
    tool_execution_count: summary.toolCount,
    artifact_count: summary.artifactCount,
    total_cost_usd: summary.costUsd,
    input_tokens: summary.inputTokens,
    output_tokens: summary.outputTokens,
    total_tokens: totalTokens(summary),
    duration_ms: summary.workedMs,
    first_message_preview: summary.firstPreview,
    last_message_preview: summary.lastPreview,
    last_error: summary.lastError?.message ?? null,
  };
}

export function renderContextUsage({ sessionId, model, contextWindow, parts }: ContextUsage): ContextUsageWire {
  const used = parts.system + parts.history + parts.tools;
  return {
    session_id: sessionId,
    model,
    context_window: contextWindow,
    used_tokens: used,
    used_percent: contextWindow === null ? 0 : Math.round((1_000 * used) / contextWindow) / 10,
    parts,
  };
}

export function renderRuns({ sessionId, items, total, ...look }: OfficeRuns, page: Page): OfficeRunsWire {
  return { session_id: sessionId, items: items.map((run) => renderEntity(run, look)), total, ...page };
}

export function renderRounds({ sessionId, rounds, total }: RunRounds, page: Page): Streamable<RunRoundsWire> {
  let number = page.offset;
  const items = streamedList(rounds, (round) => renderRound(round, (number += 1)));
  return { session_id: sessionId, items, total, ...page };
}

function renderRound(round: RunRound, number: number): RunRoundsWire['items'][number] {
  return {
    round_no: number,
    run_id: round.runId,
    status: reportedStatus(round.status),
    user_message: round.userMessage,
    assistant_message: round.assistantMessage,
    tools: round.tools.map(({ toolUseId, name, status, durationMs }) => ({
      tool_use_id: toolUseId,
      name,
      status,
      duration_ms: durationMs,
    })),
    input_tokens: round.inputTokens,
    output_tokens: round.outputTokens,
    cost_usd: round.costUsd,
    started_at: isoTimeOrNull(round.startedAt),
    finished_at: isoTimeOrNull(round.finishedAt),
  };
}
