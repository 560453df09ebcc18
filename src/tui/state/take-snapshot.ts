// Takes a snapshot into the office: what it contains replaces what was known, and what it had no room for stays.
import type { EntityWire, LastHourWire, SnapshotWire } from '../../client/office.ts';
import type { ListWire } from '../../wire/listing.ts';
import type { BudgetWire } from '../../wire/people/budget.ts';
import { describeModelWait, THINKS, WRITES } from './activity.ts';
import { fillFlow, type Flow, flowAfter } from './flow.ts';
import { type Office, isLive, MAX_LIVE_ROWS, MAX_ROWS, type Row } from './office.ts';

export interface SnapshotTaken {
  readonly snapshot: SnapshotWire;
  readonly queue: Office['queue'];
  /** Null where the daemon gives none. */
  readonly budgets?: ListWire<BudgetWire> | null;
  /** How many entities were asked for. */
  readonly limit: number;
  /** This machine's clock. */
  readonly at: number;
}

/** The office after a snapshot. Rows that are as they were keep their marks. */
export function takeSnapshot(
  office: Office,
  { snapshot, queue, budgets, limit, at }: SnapshotTaken,
  askedAt: number,
): Office {
  const rows = new Map<string, Row>();
  for (const entity of snapshot.entities) {
    const row = rowOf(entity, office.rows.get(entity.run_id), office.loadedAt === null ? 0 : at);
    rows.set(row.runId, row);
  }
  for (const row of keptRows(office, snapshot, limit)) {
    if (rows.size >= (isLive(row) ? MAX_LIVE_ROWS : MAX_ROWS)) break;
    if (!rows.has(row.runId)) rows.set(row.runId, row);
  }
  return {
    rows,
    teams: snapshot.teams,
    overview: snapshot.overview,
    queue: queue ?? office.queue,
    budgets: budgets ? tightestOf(budgets.items) : office.budgets,
    flows: flowsAfter(office, snapshot, at),
    skewMs: skewAfter(office.skewMs, Date.parse(snapshot.generated_at), { askedAt, at }),
    loadedAt: at,
    hasUnknown: false,
    isFull: snapshot.entities.length >= limit,
    isStale: false,
  };
}

/** By team, the budget of which the greatest share is used. */
function tightestOf(budgets: readonly BudgetWire[]): ReadonlyMap<string, BudgetWire> {
  const tightest = new Map<string, BudgetWire>();
  for (const budget of budgets) {
    const other = tightest.get(budget.subject_id ?? '');
    if (other === undefined || other.used_percent < budget.used_percent) tightest.set(budget.subject_id ?? '', budget);
  }
  return tightest;
}

/** The daemon made the snapshot between the request and the answer. Within that, what was known of its clock stays. */
function skewAfter(known: number, generatedAt: number, { askedAt, at }: Record<'askedAt' | 'at', number>): number {
  return Math.max(generatedAt - at, Math.min(generatedAt - askedAt, known));
}

/** The office with more of its live runs. What has ended by its events stays so. */
export function takeLiveRuns(office: Office, entities: readonly EntityWire[], at: number): Office {
  const rows = new Map(office.rows);
  for (const entity of entities) {
    const known = rows.get(entity.run_id);
    if (known !== undefined ? isLive(known) : rows.size < MAX_LIVE_ROWS)
      rows.set(entity.run_id, rowOf(entity, known, at));
  }
  return { ...office, rows };
}

/** Live runs come first in a snapshot. So one that isn't full of live runs lists all of them, and a row it leaves out is over. */
function keptRows(office: Office, snapshot: SnapshotWire, limit: number): readonly Row[] {
  if (snapshot.entities.length < limit) return [];
  const allLiveAreIn = snapshot.entities.some((entity) => !isLive(entity));
  return [...office.rows.values()]
    .filter((row) => row.title !== '' && !((allLiveAreIn || office.isStale) && isLive(row)))
    .sort((a, b) => Number(isLive(b)) - Number(isLive(a)) || b.updatedAt - a.updatedAt);
}

function flowsAfter(office: Office, { teams }: SnapshotWire, at: number): ReadonlyMap<string, Flow> {
  return new Map(teams.map(({ id, today_total_tokens: total }) => [id, flowAfter(office.flows.get(id), total, at)]));
}

/** The office with what its teams used before anybody watched. The daemon's clock may differ from this machine's. */
export function takeLastHour(office: Office, { step_seconds: seconds, teams }: LastHourWire): Office {
  const steps = new Map(
    teams.map(({ id, steps }) => [
      id,
      steps.map(({ started_at: start, total_tokens: total }) => ({
        minute: Math.floor((Date.parse(start) - office.skewMs) / 60_000),
        length: Math.ceil(seconds / 60),
        total,
      })),
    ]),
  );
  const flows = new Map([...office.flows].map(([id, flow]) => [id, fillFlow(flow, steps.get(id) ?? [])]));
  return { ...office, flows };
}

/** A row of what the daemon lists; `known`: as it was before. */
export function rowOf(entity: EntityWire, known: Row | undefined, at: number): Row {
  // An older daemon doesn't report it.
  const modelWait = entity.model_wait ?? null;
  const row: Row = {
    runId: entity.run_id,
    sessionId: entity.session_id,
    title: entity.title === '' ? entity.session_title : entity.title,
    sessionTitle: entity.session_title,
    username: entity.username,
    fullName: entity.full_name,
    teamId: entity.team_id,
    teamName: entity.team_name,
    node: entity.node ?? null,
    status: entity.status,
    isWaiting: entity.status === 'running' && modelWait === null && /^waits for /i.test(entity.detail ?? ''),
    modelWait:
      modelWait === null
        ? null
        : {
            model: modelWait.model,
            why: describeModelWait(modelWait.message),
            since: Date.parse(modelWait.since),
          },
    progress: entity.progress,
    now: entity.detail,
    words: isTextual(entity) ? (known?.words ?? null) : null,
    startedAt: timeOf(entity.started_at),
    finishedAt: timeOf(entity.finished_at),
    updatedAt: Date.parse(entity.updated_at),
    tokens: entity.total_tokens,
    cost: entity.total_cost_usd,
    error: entity.last_error,
    firstSeenAt: known?.firstSeenAt ?? at,
    changedAt: at,
  };
  const isSame = known !== undefined && known.status === row.status && isSameActivity(known.now, row.now);
  return isSame ? { ...row, changedAt: known.changedAt } : row;
}

const TEXTUAL: ReadonlySet<string | null> = new Set([THINKS, WRITES]);

/** Words that came by the stream are those of a text that may go on. */
const isTextual = ({ status, detail }: EntityWire) => status === 'running' && TEXTUAL.has(detail);

/** That it writes is seen by its words. */
const isSameActivity = (before: string | null, now: string | null) =>
  before === now || (TEXTUAL.has(before) && TEXTUAL.has(now));

const timeOf = (time: string | null) => (time === null ? null : Date.parse(time));
