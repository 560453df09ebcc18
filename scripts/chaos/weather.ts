// The storm, the calm after it, and every look that needs running daemons.
import { countUncollected } from '../../src/selftest/checks/artifacts.ts';
import { databaseOf, readCount, readNewestEvent, readStoredFacts } from '../../src/selftest/checks/journal-rows.ts';
import type { Submission } from '../../test/support/daemon/background-load.ts';
import { replayAll, type Replays } from './checks/observations.ts';
import { countOrphanedRows, countUnpublished } from './checks/publishing.ts';
import { checkToday } from './checks/today.ts';
import { numberOf } from './checks/traces.ts';
import { countUndelivered, pendingDeliveries } from './checks/webhooks.ts';
import { stormBackground } from './clients/background.ts';
import type { Observation } from './clients/exchange.ts';
import { type HookListener, openHooks } from './clients/hooks.ts';
import { type EndedSessions, startLoad } from './clients/load.ts';
import { type Results, startResults } from './clients/results.ts';
import type { PlanRules } from './model/plan.ts';
import { openTargets } from './scene.ts';
import type { Storm, Subject } from './subject.ts';
import { waitWhileProgressing } from './wait-while-progressing.ts';

export interface Storming {
  readonly subject: Subject;
  readonly rules: PlanRules;
  /** How many faults. */
  readonly kills: number;
  /** Number of background submissions instead of the mixed load; 0 for the mixed load. */
  readonly background: number;
  /** How many clients, where it is the mixed load. */
  readonly people: number;
  say(words: string): void;
}

export interface Weathered {
  readonly storm: Storm;
  readonly observations: readonly Observation[];
  readonly ended: EndedSessions;
  readonly replays: Replays;
  /** Null when it was the mixed load. */
  readonly submissions: readonly Submission[] | null;
  readonly problems: readonly string[];
  readonly hooks: HookListener;
  /** Null for background submissions. */
  readonly results: Results | null;
  readonly stormMs: number;
  readonly calmMs: number;
}

/** What follows the mixed load. */
export async function weather(storming: Storming): Promise<Weathered> {
  const { subject, rules, kills, people, say } = storming;
  const targets = await openTargets(subject);
  const hooks = await openHooks(subject, rules.seed);
  const results = await startResults(subject, rules.seed);
  const load = startLoad(rules, targets, people);
  const startedAt = performance.now();
  const report = (kill: number) => {
    if (kill % 10 === 0)
      say(`${kill} of ${kills}, ${load.observations.length} turns, ${load.inProgress()} in progress`);
  };
  const { seed, marker } = rules;
  const storm = await Promise.race([subject.blow({ kills, seed, marker, report }), load.broken, results.broken]);
  const stormedAt = performance.now();
  await settled(subject, async () => void (await Promise.all([load.finish(), results.finish()])));
  await finished(subject);
  await delivered(subject, hooks);
  const seen = await subject.calm(storm);
  const calmAt = performance.now();
  const byNumber = new Map(load.observations.map((observation) => [observation.request.number, observation]));
  await subject.look();
  const { records } = readStoredFacts(databaseOf(subject));
  const runs = records.flatMap((record) => {
    const target = byNumber.get(numberOf(record))?.target;
    return target === undefined || record.run.deleted === 1 ? [] : [{ runId: record.run.id, target }];
  });
  const replays = await replayAll(runs);
  return {
    storm,
    observations: load.observations,
    ended: { ...load.ended, deleted: new Set([...load.ended.deleted, ...results.publishers.deleted]) },
    replays,
    submissions: null,
    problems: [...storm.problems, ...seen, ...(await stopClean(storming, storm))],
    hooks,
    results,
    stormMs: stormedAt - startedAt,
    calmMs: calmAt - stormedAt,
  };
}

const NOBODY: EndedSessions = { stopped: new Set(), deleted: new Set() };

/** What follows background submissions. */
export async function weatherBackground(storming: Storming): Promise<Weathered> {
  const { subject, rules, background, say } = storming;
  const targets = await openTargets(subject);
  const hooks = await openHooks(subject, rules.seed);
  const { storm, ...seen } = await stormBackground({ rules, subject, targets, count: background, report: say });
  await delivered(subject, hooks);
  const problems = [...storm.problems, ...(await subject.calm(storm)), ...(await stopClean(storming, storm))];
  return { ...seen, storm, hooks, results: null, observations: [], ended: NOBODY, replays: new Map(), problems };
}

/** Stops it at the end; returns what was wrong with its last figures and its exit, and what outlived it. */
async function stopClean({ subject, rules }: Storming, { orphans }: Storm): Promise<string[]> {
  await subject.look();
  const wrong = await checkToday(subject);
  return [...wrong, ...(await subject.stop(rules.marker, orphans))];
}

interface Awaited {
  readonly what: string;
  holds(): boolean | Promise<boolean>;
  left?(): number;
}

/** Waits as long as the journal grows, or the remaining work shrinks. */
const patiently = (subject: Subject, { what, holds, left = () => 0 }: Awaited) =>
  waitWhileProgressing({
    what,
    holds,
    look: subject.look,
    sign: () => readNewestEvent(databaseOf(subject)) - left(),
  });

const statusOf = async (subject: Subject) =>
  (await subject.admin('GET', '/api/v1/status')) as { readonly runs: Readonly<Record<string, number>> };

async function settled(subject: Subject, finish: () => Promise<void>): Promise<void> {
  let over = false;
  const done = finish().then(() => (over = true));
  const all = async () => over && Object.values((await statusOf(subject)).runs).every((count) => count === 0);
  await Promise.race([
    patiently(subject, { what: 'every run ended and every client answered', holds: all }),
    // A client that fails ends the wait at once.
    done.then(() => new Promise<never>(() => undefined)),
  ]);
}

/**
 * The work that remains when all runs have ended: deleted sessions are cleaned up, files of runs are collected and packed,
 * and what is due is published or has failed.
 */
async function finished(subject: Subject): Promise<void> {
  const uncleaned = () => readCount(databaseOf(subject), 'cleanups');
  const uncollected = () => countUncollected(databaseOf(subject));
  const unpublished = () => countUnpublished(databaseOf(subject));
  const orphaned = () => countOrphanedRows(databaseOf(subject));
  const what = {
    uncleaned: 'every deleted session is cleaned up',
    uncollected: 'the files of every run are packed',
    unpublished: 'nothing is left to be published or removed',
    orphaned: 'bytes that nothing refers to are removed',
  };
  await patiently(subject, { what: what.uncleaned, holds: () => uncleaned() === 0, left: uncleaned });
  await patiently(subject, { what: what.uncollected, holds: () => uncollected() === 0, left: uncollected });
  await patiently(subject, { what: what.unpublished, holds: () => unpublished() === 0, left: unpublished });
  await patiently(subject, { what: what.orphaned, holds: () => orphaned() === 0, left: orphaned });
}

/** With a receiver that accepts everything, nothing remains to be delivered: what has often failed is hastened, as an operator would. */
async function delivered(subject: Subject, hooks: HookListener): Promise<void> {
  await hooks.calm();
  await subject.look();
  for (const id of pendingDeliveries(databaseOf(subject)))
    await subject.admin('POST', `/api/v1/webhook-deliveries/${id}/redeliver`).catch((error: unknown) => {
      // It has just arrived, and its session is deleted.
      if (!/\b409\b.*no body any more/.test(String(error))) throw error;
    });
  const undelivered = () => countUndelivered(databaseOf(subject));
  await patiently(subject, {
    what: 'every event has reached its webhooks',
    holds: () => undelivered() === 0,
    left: undelivered,
  });
  await hooks.close();
}
