// The end of every run must have arrived at its webhooks, as one event with one body, and nothing else; one stop is one event.
import Connection from 'better-sqlite3';
import type { Received } from '../../../test/support/http/hook-receiver.ts';
import { type HookListener, HOOKS } from '../clients/hooks.ts';
import type { RunRecord, StoredFacts } from '../../../src/selftest/checks/journal-rows.ts';

interface DeliveryRow {
  readonly path: string;
  readonly enabled: number;
  readonly event_id: string;
  readonly event_type: string;
  readonly session_seq: number;
  readonly state: string;
  readonly last_status_code: number | null;
  /** Attempts with a reply. */
  readonly replies: number;
}

/** What is read of a body. */
interface Body {
  readonly event_id: string;
  readonly event_type: string;
  readonly user: { readonly username: string };
  readonly session: { readonly session_id: string; readonly status: string };
  readonly run: { readonly run_id: string };
}

interface Arrival extends Received {
  readonly event: Body;
}

const EVENT_OF: Readonly<Record<string, string>> = {
  completed: 'session.completed',
  failed: 'session.failed',
  incomplete: 'session.failed',
  canceled: 'session.stopped',
};

/** How many events and deliveries have still to arrive; works while the daemon writes. */
export function countUndelivered(file: string): number {
  const connection = new Connection(file, { readonly: true, timeout: 5_000 });
  try {
    return connection
      .prepare(
        `SELECT (SELECT count(*) FROM webhook_deliveries WHERE state = 'pending') +
           (SELECT count(*) FROM events WHERE id > (SELECT cursor FROM webhook_planning)
              AND type IN ('run.done', 'run.failed', 'run.stopped', 'scheduled_task.run_status_changed',
                'publish_page.published', 'publish_page.failed'))`,
      )
      .pluck()
      .get() as number;
  } finally {
    connection.close();
  }
}

/** Ids of the deliveries that wait for their next attempt. */
export function pendingDeliveries(file: string): readonly number[] {
  const connection = new Connection(file, { readonly: true, timeout: 5_000 });
  try {
    return connection.prepare<[], number>("SELECT id FROM webhook_deliveries WHERE state = 'pending'").pluck().all();
  } finally {
    connection.close();
  }
}

/** Returns every violation in words; reads a database that nobody writes to. */
export function checkWebhooks(listener: HookListener, { records, erased }: StoredFacts, file: string): string[] {
  const arrivals = listener.arrivals.map((one) => ({ ...one, event: JSON.parse(one.body.toString()) as Body }));
  const atSystem = arrivals.filter(({ path }) => path === HOOKS.system);
  const rows = readRows(file);
  const stops = readStops(file);
  const silent = new Set(stops.filter(({ isSilent }) => isSilent === 1).map(({ run_seq }) => run_seq));
  const runs = [...records, ...erased.map(withoutEvents)].filter(({ run }) => !silent.has(run.seq));
  return [
    ...checkStops(stops),
    ...listener.unsigned.map(({ eventId }) => `webhooks: event ${eventId} is not signed as it must be`),
    ...checkRuns(runs, atSystem),
    ...checkBytes(arrivals),
    ...checkRows(rows, runs, arrivals),
    ...checkOwner(arrivals),
  ];
}

type EndedRun = Pick<RunRecord, 'run'> & { readonly mayBeSilent?: boolean };

/** Which of the runs that were stopped together was told is gone with the events of a deleted session. */
const withoutEvents = ({ run }: RunRecord): EndedRun => ({ run, mayBeSilent: run.status === 'canceled' });

/** Each run that ended has one event, unless another one stands for its stop; no other run has one. */
function checkRuns(runs: readonly EndedRun[], arrivals: readonly Arrival[]): string[] {
  const byRun = Map.groupBy(arrivals, ({ event }) => event.run.run_id);
  const problems = runs.flatMap(({ run, mayBeSilent }) => {
    const own = byRun.get(run.id) ?? [];
    byRun.delete(run.id);
    const ids = new Set(own.map(({ eventId }) => eventId));
    const wrong = own.find(
      (one) => one.event.event_type !== EVENT_OF[run.status] || one.eventType !== EVENT_OF[run.status],
    );
    return [
      ...(ids.size === 1 || (ids.size === 0 && mayBeSilent) ? [] : [`${ids.size} events of its end have arrived`]),
      ...(wrong === undefined ? [] : [`${wrong.eventType} has arrived`]),
      ...(own.every(({ event }) => event.session.session_id === run.session_id) ? [] : ['with another session']),
    ].map((words) => `webhooks: run ${run.seq} (${run.id}, ${run.status}): ${words}`);
  });
  return [...problems, ...[...byRun.keys()].map((id) => `webhooks: the end of ${id} has arrived, which is no run`)];
}

/** Every attempt sends the same bytes, and names the event in its headers. */
function checkBytes(arrivals: readonly Arrival[]): string[] {
  return [...Map.groupBy(arrivals, ({ path, eventId }) => `${eventId} at ${path}`)].flatMap(([which, same]) => [
    ...(same.every(({ body }) => body.equals(same[0]!.body)) ? [] : [`webhooks: ${which} has several bodies`]),
    ...(same.every(({ eventId, event }) => event.event_id === eventId)
      ? []
      : [`webhooks: ${which} has another id inside`]),
  ]);
}

/** One row for each run and webhook, delivered; and no reply is recorded that was never given. */
function checkRows(rows: readonly DeliveryRow[], runs: readonly EndedRun[], arrivals: readonly Arrival[]): string[] {
  const given = Map.groupBy(arrivals, ({ path, eventId }) => `${path} ${eventId}`);
  const single = rows.flatMap((row) => {
    const count = given.get(`${row.path} ${row.event_id}`)?.length ?? 0;
    given.delete(`${row.path} ${row.event_id}`);
    return [
      ...(row.state === 'delivered' && row.last_status_code === 204 ? [] : [`is ${row.state}`]),
      ...(row.replies <= count ? [] : [`has ${row.replies} replies to ${count} requests`]),
      ...(row.enabled === 1 ? [] : ['belongs to a webhook that was disabled']),
    ].map((words) => `webhooks: the delivery of ${row.event_id} to ${row.path} ${words}`);
  });
  const expected = Map.groupBy(runs, ({ run }) => run.session_seq);
  const planned = Map.groupBy(
    rows.filter(({ path }) => path === HOOKS.system),
    (row) => row.session_seq,
  );
  const counts = [...new Set([...expected.keys(), ...planned.keys()])].flatMap((session) => {
    const ended = expected.get(session)?.length ?? 0;
    const silent = expected.get(session)?.filter(({ mayBeSilent }) => mayBeSilent).length ?? 0;
    const found = planned.get(session)?.length ?? 0;
    return ended - silent <= found && found <= ended
      ? []
      : [`webhooks: session ${session} has ${found} deliveries for ${ended} runs`];
  });
  return [...single, ...counts, ...[...given.keys()].map((which) => `webhooks: ${which} has arrived without a row`)];
}

/** A user's webhook has that user's events: all of them, and no others. */
function checkOwner(arrivals: readonly Arrival[]): string[] {
  const eventsOf = (wanted: string, isWanted: (arrival: Arrival) => boolean) =>
    new Set(arrivals.filter((one) => one.path === wanted && isWanted(one)).map(({ eventId }) => eventId));
  const own = eventsOf(HOOKS.ada, () => true);
  const all = eventsOf(HOOKS.system, ({ event }) => event.user.username === 'ada');
  return [
    ...[...own].filter((id) => !all.has(id)).map((id) => `webhooks: ada was sent ${id}, which is not hers`),
    ...[...all].filter((id) => !own.has(id)).map((id) => `webhooks: ada was never sent ${id}`),
  ];
}

interface StopRow {
  readonly run_seq: number;
  readonly session_seq: number;
  readonly created_at: number;
  readonly isSilent: number;
}

/** Of the runs that one stop has ended, webhooks are told of one. */
function checkStops(stops: readonly StopRow[]): string[] {
  const together = Map.groupBy(stops, ({ session_seq, created_at }) => `session ${session_seq} at ${created_at}`);
  return [...together].flatMap(([which, same]) => {
    const told = same.filter(({ isSilent }) => isSilent === 0).length;
    return same.length === 1 || told === 1 ? [] : [`webhooks: the stop of ${which} was told ${told} times`];
  });
}

function readStops(file: string): StopRow[] {
  const connection = new Connection(file, { readonly: true });
  try {
    return connection
      .prepare<[], StopRow>(
        `SELECT run_seq, session_seq, created_at, coalesce(json_extract(payload, '$.unannounced'), 0) AS isSilent
         FROM events WHERE type = 'run.stopped'`,
      )
      .all();
  } finally {
    connection.close();
  }
}

function readRows(file: string): DeliveryRow[] {
  const connection = new Connection(file, { readonly: true });
  try {
    return connection
      .prepare<[], DeliveryRow>(
        `SELECT '/' || w.name AS path, w.enabled, d.event_id, d.event_type, d.session_seq, d.state, d.last_status_code,
           (SELECT count(*) FROM webhook_attempts a WHERE a.delivery_id = d.id AND a.status_code IS NOT NULL) AS replies
         FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id`,
      )
      .all();
  } finally {
    connection.close();
  }
}
