// Each move of a scheduled run, each version and each failure to publish has arrived at the webhook, as one event.
import type { Received } from '../../../test/support/http/hook-receiver.ts';
import { HOOKS, type HookListener } from '../clients/hooks.ts';
import type { Results } from '../clients/results.ts';
import type { RunRecord, StoredFacts } from '../../../src/selftest/checks/journal-rows.ts';
import { readDueVersions, readVersions } from './publishing.ts';
import { FIRING_STATUS, isScheduled } from './schedules.ts';

/** What is read of a body. */
interface Body {
  readonly scheduled_task?: { readonly scheduled_task_id: string };
  readonly publish_page?: { readonly publish_key: string };
  readonly version?: { readonly version_no: number; readonly share_code: string };
  readonly run?: { readonly run_id: string; readonly status: string; readonly previous_status: string | null };
  readonly job?: { readonly attempt_count: number; readonly run_id: string };
}

const NAMES: Readonly<Record<string, (body: Body) => string>> = {
  'scheduled_task.run_status_changed': ({ run }) => `${run!.run_id}: ${run!.previous_status} → ${run!.status}`,
  'publish_page.published': ({ publish_page, version }) =>
    `${publish_page!.publish_key} ${version!.version_no} ${version!.share_code}`,
  'publish_page.failed': ({ publish_page, job }) =>
    `${publish_page!.publish_key} failed after ${job!.attempt_count} attempts for ${job!.run_id}`,
};

/** Returns every violation in words; reads a database that nobody writes to. */
export function checkResultEvents(
  results: Results,
  listener: HookListener,
  facts: StoredFacts,
  file: string,
): string[] {
  const arrivals = Map.groupBy(
    listener.arrivals.filter(({ path }) => path === HOOKS.results),
    nameOf,
  );
  const runs = [...facts.records, ...facts.erased].filter(isScheduled);
  const failures = failuresOf(results, runs, file);
  const expected = new Set([
    ...runs.flatMap(movesOf),
    ...readVersions(file).map(({ key, no, share_code }) => `${key} ${no} ${share_code}`),
    ...results.publishers.pages.flatMap(({ key, versions }) =>
      Array.from(versions, ([no, code]) => `${key} ${no} ${code}`),
    ),
    ...failures.filter(({ certain }) => certain).map(({ name }) => name),
  ]);
  const possible = new Set([...expected, ...failures.map(({ name }) => name)]);
  return [
    ...[...expected].filter((name) => !arrivals.has(name)).map((name) => `webhooks: never sent: ${name}`),
    ...[...arrivals].flatMap(([name, same]) => [
      ...(possible.has(name) ? [] : [`webhooks: sent, and it never happened: ${name}`]),
      ...(new Set(same.map(({ eventId }) => eventId)).size === 1 ? [] : [`webhooks: two events of ${name}`]),
    ]),
  ];
}

function nameOf({ eventType, body }: Received): string {
  return NAMES[eventType]?.(JSON.parse(body.toString()) as Body) ?? eventType;
}

function movesOf({ run }: RunRecord): string[] {
  const end = FIRING_STATUS[run.status]!;
  const statuses = run.started_at === null ? ['pending', end] : ['pending', 'running', end];
  return statuses.map((status, i) => `${run.id}: ${statuses[i - 1] ?? null} → ${status}`);
}

/** Of firings that left no entry: `certain` is false for those whose session was deleted, maybe before it was published. */
function failuresOf(results: Results, runs: readonly RunRecord[], file: string): { name: string; certain: boolean }[] {
  return readDueVersions(results, file).flatMap(({ key, session_seq, isExpected }) => {
    const last = runs.findLast(({ run }) => run.session_seq === session_seq)!;
    const name = `${key} failed after 3 attempts for ${last.run.id}`;
    return isExpected === true ? [] : [{ name, certain: isExpected === false }];
  });
}
