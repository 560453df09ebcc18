// Takes events of the office's stream into its rows, between two snapshots.
import type { OfficeEvent } from '../../client/office-stream.ts';
import { waitOf } from '../../domain/sessions/activity.ts';
import type { EventType } from '../../domain/sessions/journal-event.ts';
import type { PayloadWire } from '../../wire/event-payloads.ts';
import type { RunWords } from '../../wire/office/stream.ts';
import { describeCall, describeModelWait, THINKS } from './activity.ts';
import {
  hasNodes,
  type Office,
  isLive,
  MAX_LIVE_ROWS,
  MAX_ROWS,
  type Overview,
  type Row,
  type RunStatus,
} from './office.ts';

type Change = Partial<Row>;
type ChangeOf = (payload: OfficeEvent['payload'], row: Row, at: number) => Change;

/** What an event changes of its run's row; events that aren't here change nothing on the floor. */
const CHANGES: { readonly [T in EventType]?: (payload: PayloadWire<T>, row: Row, at: number) => Change } = {
  'run.queued': () => ({ status: 'pending', progress: 0 }),
  'run.started': (_payload, row, at) => ({
    status: 'running',
    now: THINKS,
    startedAt: row.startedAt ?? at,
    progress: Math.max(5, row.progress),
  }),
  'run.step': (_payload, row) => ({ ...atWork(row), now: THINKS }),
  'model_wait.started': ({ model, message }, _row, at) => ({
    modelWait: { model, why: describeModelWait(message), since: at },
  }),
  'model_wait.ended': () => ({ modelWait: null }),
  'run.compacted': () => ({ now: 'summarises the conversation' }),
  // It may go on at another node: which, the next snapshot tells.
  'run.resumed': (_payload, row) => ({ ...atWork(row), now: THINKS, modelWait: null, node: null }),
  'run.finalizing': () => ({ now: 'collects its files', progress: 95, isWaiting: false }),
  'run.done': (_payload, _row, at) => over('completed', at),
  'run.failed': ({ error }, _row, at) => ({ ...over('failed', at), error: error.message }),
  'run.stopped': (_payload, _row, at) => over('idle', at),
  tool_use: ({ name, input }, row) => ({ ...atWork(row), now: describeCall(name, input) }),
  tool_result: () => ({ now: THINKS }),
  'user_input.requested': (_payload, row) => ({
    now: waitOf(row.fullName || row.username, row.now),
    isWaiting: true,
  }),
  'user_input.answered': () => ({ now: THINKS, isWaiting: false }),
  'user_input.expired': () => ({ now: THINKS, isWaiting: false }),
};

/** The office after some events. Copies once, however many they are. */
export function takeEvents(office: Office, events: readonly OfficeEvent[], at: number): Office {
  const rows = new Map(office.rows);
  const overview: Record<keyof Overview, number> = { ...office.overview };
  let hasUnknown = office.hasUnknown;
  for (const event of events) {
    if (event.type === 'session.deleted') dropSession(rows, event.session_id);
    if (event.type === 'run.words') takeWords(rows, event);
    const change = CHANGES[event.type as EventType] as ChangeOf | undefined;
    if (change === undefined || event.run_id === null) continue;
    const known = rows.get(event.run_id);
    // After its end a run does nothing more; what still comes is of before.
    if (known !== undefined && !isLive(known)) continue;
    const row = known ?? unknownRow(event, event.run_id, at);
    const isNew = known === undefined && event.type === 'run.queued';
    // The next snapshot would have no room for this run either.
    const isElsewhere = event.type === 'run.resumed' && hasNodes(office);
    hasUnknown ||= isNew || isElsewhere || (known === undefined && !office.isFull);
    const next = {
      ...row,
      words: null,
      ...change(event.payload, row, at + office.skewMs),
      updatedAt: at + office.skewMs,
      changedAt: at,
    };
    if (isNew || known !== undefined) count(overview, known?.status, next.status);
    rows.set(next.runId, next);
  }
  if (rows.size > MAX_ROWS) dropOldest(rows);
  return { ...office, rows, overview, hasUnknown };
}

/** Of Markdown: in the middle of a text they dress nothing. */
const MARKS = /\*\*|`+|(?<=^| )#{1,6} /g;

/** Only the words: what is written all the time marks no row as changed. */
function takeWords(rows: Map<string, Row>, { run_id: runId, payload }: RunWords): void {
  const row = rows.get(runId);
  if (row?.status === 'running' && !row.isWaiting) rows.set(runId, { ...row, words: payload.text.replace(MARKS, '') });
}

/** Its true progress comes with the next snapshot. */
function atWork({ progress }: Row): Change {
  return { status: 'running', isWaiting: false, progress: Math.max(5, progress) };
}

function over(status: RunStatus, at: number): Change {
  return { status, now: null, progress: 100, finishedAt: at, isWaiting: false, modelWait: null };
}

function count(overview: Record<keyof Overview, number>, from: RunStatus | undefined, to: RunStatus): void {
  if (from === to) return;
  if (from !== undefined) overview[from] = Math.max(0, overview[from] - 1);
  else overview.total += 1;
  overview[to] += 1;
}

/** A run that no snapshot has listed yet; its row is shown once one does. */
function unknownRow({ session_id: sessionId }: OfficeEvent, runId: string, at: number): Row {
  return {
    runId,
    sessionId,
    title: '',
    sessionTitle: '',
    username: '',
    fullName: '',
    teamId: null,
    teamName: null,
    node: null,
    status: 'running',
    isWaiting: false,
    modelWait: null,
    progress: 0,
    now: null,
    words: null,
    startedAt: null,
    finishedAt: null,
    updatedAt: at,
    tokens: 0,
    cost: 0,
    error: null,
    firstSeenAt: at,
    changedAt: at,
  };
}

function dropSession(rows: Map<string, Row>, sessionId: string): void {
  for (const row of rows.values()) if (row.sessionId === sessionId) rows.delete(row.runId);
}

function dropOldest(rows: Map<string, Row>): void {
  const live = [...rows.values()].filter((row) => row.title !== '' && isLive(row)).length;
  const room = Math.max(MAX_ROWS, Math.min(live, MAX_LIVE_ROWS));
  if (rows.size <= room) return;
  const byWorth = [...rows.values()].sort(
    (a, b) =>
      Number(isLive(a)) - Number(isLive(b)) ||
      Number(a.title !== '') - Number(b.title !== '') ||
      a.updatedAt - b.updatedAt,
  );
  for (const { runId } of byWorth.slice(0, rows.size - room)) rows.delete(runId);
}
