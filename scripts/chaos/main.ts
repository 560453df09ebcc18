// Kills a daemon under load repeatedly, and then proves that nothing was lost, duplicated or left behind. `npm run chaos --
// [--kills 200] [--seed N] [--quick] [--postgres]`, or `-- --background 500` for that many background submissions with kills around them;
// ends with 1 and keeps the data directory when a promise is broken.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { probeSandbox } from '../../src/agent/sandbox/sandbox.ts';
import { ledgerFaults } from '../../src/selftest/checks/ledger-faults.ts';
import { checkBackground, type Submission } from '../../test/support/daemon/background-load.ts';
import type { DaemonProcess } from '../../test/support/daemon/daemon-process.ts';
import { stormBackground, renderSubmissions } from './clients/background.ts';
import { checkAcceptance, checkReplays, replayAll, type Replays } from './checks/observations.ts';
import { checkRuns } from '../../src/selftest/checks/runs.ts';
import { checkToday } from './checks/today.ts';
import { countOrphanedRows, countUnpublished } from './checks/publishing.ts';
import { checkResults, readResults } from './checks/results.ts';
import { withoutScheduled } from './checks/schedules.ts';
import { checkArtifacts, countUncollected } from '../../src/selftest/checks/artifacts.ts';
import { checkFaults, isExcused } from './checks/faults.ts';
import { checkWebhooks, countUndelivered, pendingDeliveries } from './checks/webhooks.ts';
import { checkAudit, checkDisk, checkPlans, numberOf } from './checks/traces.ts';
import type { Observation } from './clients/exchange.ts';
import {
  databaseOf,
  readCount,
  readNewestEvent,
  readStoredFacts,
  type StoredFacts,
} from '../../src/selftest/checks/journal-rows.ts';
import { type HookListener, openHooks } from './clients/hooks.ts';
import { type Results, startResults } from './clients/results.ts';
import { type EndedSessions, startLoad } from './clients/load.ts';
import type { AuditLine } from './model/audit.ts';
import { waitWhileProgressing } from './wait-while-progressing.ts';
import type { Diary } from './storm/faults.ts';
import type { PlanRules } from './model/plan.ts';
import { renderStorm } from './report.ts';
import { openTargets, startDaemon, startModel } from './scene.ts';
import { orphans } from '../../src/selftest/storm/storm.ts';
import { type Engine, sqliteEngine, startPostgresEngine } from './storm/engine.ts';
import { blow } from './storm/storm.ts';

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    quick: { type: 'boolean', default: false },
    background: { type: 'string', default: '0' },
    postgres: { type: 'boolean', default: false },
  },
});

const PEOPLE = 6;
const MOST_PROBLEMS_SHOWN = 40;
const say = (text: string): void => void process.stderr.write(`${text}\n`);

const statusOf = async (daemon: DaemonProcess) =>
  (await daemon.admin('GET', '/api/v1/status')) as { readonly runs: Readonly<Record<string, number>> };

/** Waits as long as the daemon's journal grows, or the remaining work shrinks. */
const patiently = ({ engine, daemon }: Watched, { what, holds, left = () => 0 }: Awaited) =>
  waitWhileProgressing({
    what,
    holds,
    look: () => engine.look(daemon),
    sign: () => readNewestEvent(databaseOf(daemon)) - left(),
  });

interface Watched {
  readonly engine: Engine;
  readonly daemon: DaemonProcess;
}

interface Awaited {
  readonly what: string;
  holds(): boolean | Promise<boolean>;
  left?(): number;
}

async function settled(watched: Watched, finish: () => Promise<void>): Promise<void> {
  let over = false;
  const finished = finish().then(() => (over = true));
  const all = async () => over && Object.values((await statusOf(watched.daemon)).runs).every((count) => count === 0);
  await Promise.race([
    patiently(watched, { what: 'every run ended and every client answered', holds: all }),
    // A client that fails ends the wait at once.
    finished.then(() => new Promise<never>(() => undefined)),
  ]);
}

interface Storming extends Watched {
  readonly rules: PlanRules;
  readonly kills: number;
  /** Number of background submissions instead of the mixed load; 0 for the mixed load. */
  readonly background: number;
  readonly audit: string;
}

interface Weathered {
  readonly kills: number;
  readonly observations: readonly Observation[];
  readonly ended: EndedSessions;
  readonly replays: Replays;
  /** Null when it was the mixed load. */
  readonly submissions: readonly Submission[] | null;
  readonly problems: readonly string[];
  readonly startsMs: readonly number[];
  readonly interrupted: number;
  readonly diary: Diary;
  readonly hooks: HookListener;
  /** Null for background submissions. */
  readonly results: Results | null;
  readonly stormMs: number;
  readonly calmMs: number;
}

/** The storm, the calm after it, and every check that needs a running daemon. */
async function weather({ engine, rules, daemon, kills }: Storming): Promise<Weathered> {
  const targets = await openTargets(daemon);
  const hooks = await openHooks(daemon, rules.seed);
  const results = await startResults(daemon, rules.seed);
  const load = startLoad(rules, targets, PEOPLE);
  const startedAt = performance.now();
  const report = (kill: number) => {
    if (kill % 10 === 0) say(`${kill} kills, ${load.observations.length} turns, ${load.inProgress()} in progress`);
  };
  const storm = await Promise.race([
    blow(daemon, { engine, kills, seed: rules.seed, marker: rules.marker, report }),
    load.broken,
    results.broken,
  ]);
  const stormedAt = performance.now();
  const watched = { engine, daemon };
  await settled(watched, async () => void (await Promise.all([load.finish(), results.finish()])));
  await finished(watched);
  await delivered(watched, hooks);
  const calmAt = performance.now();
  const byNumber = new Map(load.observations.map((observation) => [observation.request.number, observation]));
  await engine.look(daemon);
  const { records } = readStoredFacts(databaseOf(daemon));
  const runs = records.flatMap((record) => {
    const target = byNumber.get(numberOf(record))?.target;
    return target === undefined || record.run.deleted === 1 ? [] : [{ runId: record.run.id, target }];
  });
  const replays = await replayAll(runs);
  return {
    kills,
    observations: load.observations,
    ended: { ...load.ended, deleted: new Set([...load.ended.deleted, ...results.publishers.deleted]) },
    replays,
    submissions: null,
    problems: [...storm.problems, ...(await stopClean(watched, rules.marker, storm.orphans))],
    startsMs: storm.startsMs,
    interrupted: storm.interrupted,
    diary: storm.diary,
    hooks,
    results,
    stormMs: stormedAt - startedAt,
    calmMs: calmAt - stormedAt,
  };
}

/**
 * The work that remains when all runs have ended: deleted sessions are cleaned up, files of runs are collected and packed,
 * and what is due is published or has failed.
 */
async function finished(watched: Watched): Promise<void> {
  const { daemon } = watched;
  const uncleaned = () => readCount(databaseOf(daemon), 'cleanups');
  const uncollected = () => countUncollected(databaseOf(daemon));
  const unpublished = () => countUnpublished(databaseOf(daemon));
  const orphaned = () => countOrphanedRows(databaseOf(daemon));
  const what = {
    uncleaned: 'every deleted session is cleaned up',
    uncollected: 'the files of every run are packed',
    unpublished: 'nothing is left to be published or removed',
    orphaned: 'bytes that nothing refers to are removed',
  };
  await patiently(watched, { what: what.uncleaned, holds: () => uncleaned() === 0, left: uncleaned });
  await patiently(watched, { what: what.uncollected, holds: () => uncollected() === 0, left: uncollected });
  await patiently(watched, { what: what.unpublished, holds: () => unpublished() === 0, left: unpublished });
  await patiently(watched, { what: what.orphaned, holds: () => orphaned() === 0, left: orphaned });
}

/** With a receiver that accepts everything, nothing remains to be delivered: what has often failed is hastened, as an operator would. */
async function delivered(watched: Watched, hooks: HookListener): Promise<void> {
  const { engine, daemon } = watched;
  await hooks.calm();
  await engine.look(daemon);
  for (const id of pendingDeliveries(databaseOf(daemon)))
    await daemon.admin('POST', `/api/v1/webhook-deliveries/${id}/redeliver`).catch((error: unknown) => {
      // It has just arrived, and its session is deleted.
      if (!/: 409 .*no body any more/.test(String(error))) throw error;
    });
  const undelivered = () => countUndelivered(databaseOf(daemon));
  await patiently(watched, {
    what: 'every event has reached its webhooks',
    holds: () => undelivered() === 0,
    left: undelivered,
  });
  await hooks.close();
}

const NOBODY: EndedSessions = { stopped: new Set(), deleted: new Set() };

/** The same for background submissions. */
async function weatherBackground({ engine, rules, daemon, background }: Storming): Promise<Weathered> {
  const targets = await openTargets(daemon);
  const hooks = await openHooks(daemon, rules.seed);
  const { storm, ...seen } = await stormBackground({ engine, rules, daemon, targets, count: background, report: say });
  await delivered({ engine, daemon }, hooks);
  const problems = [...storm.problems, ...(await stopClean({ engine, daemon }, rules.marker, storm.orphans))];
  return { ...storm, ...seen, hooks, results: null, observations: [], ended: NOBODY, replays: new Map(), problems };
}

/** Stops the daemon at the end; returns what was wrong with its last figures and its exit, and what outlived it. */
async function stopClean({ engine, daemon }: Watched, marker: string, known: Set<number>): Promise<string[]> {
  await engine.look(daemon);
  const wrong = await checkToday(daemon);
  const exit = await daemon.stop();
  await engine.look(daemon);
  const left = await orphans(daemon.dataDir, marker, known);
  return exit.code === 0
    ? [...wrong, ...left]
    : [...wrong, `the clean stop ended with ${exit.signal ?? exit.code}`, ...left];
}

async function check({ rules, daemon, audit }: Storming, weathered: Weathered, facts: StoredFacts): Promise<string[]> {
  const lines = await readAudit(audit);
  const { observations, replays, submissions } = weathered;
  const asked = withoutScheduled(facts);
  const clients =
    submissions === null
      ? [...checkAcceptance(observations, asked, weathered.ended), ...checkReplays(replays, observations, asked)]
      : checkBackground(submissions, daemon);
  return [
    ...weathered.problems,
    ...checkRuns(facts).flatMap(({ problems }) => problems),
    ...checkWebhooks(weathered.hooks, facts, databaseOf(daemon)),
    ...ledgerFaults(databaseOf(daemon)),
    ...checkFaults({ rules, facts, observations, diary: weathered.diary }),
    ...checkPlans(rules, facts),
    ...clients,
    ...checkAudit(lines, facts),
    ...(await checkDisk(rules, daemon.dataDir, facts)),
    ...(await checkArtifacts(daemon.dataDir, databaseOf(daemon))).problems,
    ...(await checkResults(weathered, daemon, facts)),
    ...errorsIn(daemon.stderr(), weathered.diary),
  ];
}

async function readAudit(file: string): Promise<AuditLine[]> {
  const text = existsSync(file) ? await readFile(file, 'utf8') : '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine);
}

/** A crash does not excuse an error in the log; neither does a thread that dies, nor a lock that isn't overlong. */
function errorsIn(log: string, diary: Diary): string[] {
  const lines = log.split('\n').filter((line) => /"level":("error"|"fatal"|50|60)/.test(line));
  const timeOf = (line: string) => new Date((JSON.parse(line) as { time: string | number }).time).getTime();
  return lines.flatMap((line) => (isExcused(timeOf(line), diary) ? [] : [`logged: ${line.slice(0, 600)}`]));
}

async function canShell(): Promise<boolean> {
  const limits = { timeoutMs: 10_000, maxOutputBytes: 65_536, memoryBytes: 2 ** 30, maxProcesses: 64 };
  const found = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...limits });
  if (!found.ok) say(`NO SHELL CALLS, so that a doubled execution cannot be seen: ${found.why}`);
  return found.ok;
}

async function run(scratch: string): Promise<boolean> {
  const kills = options.quick ? 10 : Number(options.kills);
  const seed = Number(options.seed);
  const marker = String(process.pid).padStart(7, '0') + String(Date.now() % 1_000_000).padStart(6, '0');
  const rules: PlanRules = { seed, marker, shell: await canShell() };
  const audit = join(scratch, 'audit.jsonl');
  const rulesFile = join(scratch, 'rules.json');
  await writeFile(rulesFile, JSON.stringify(rules));
  const model = await startModel(rulesFile, audit);
  const engine = options.postgres ? await startPostgresEngine() : sqliteEngine;
  const daemon = await startDaemon(model.url, scratch, engine.database);
  const background = Number(options.background);
  const storming: Storming = { engine, rules, daemon, kills, background, audit };
  let isKept = true;
  try {
    const weathered = await (background > 0 ? weatherBackground(storming) : weather(storming));
    await model.close();
    const checkedAt = performance.now();
    const facts = readStoredFacts(databaseOf(daemon));
    const problems = await check(storming, weathered, facts);
    const modelCalls = (await readAudit(audit)).length;
    const checkMs = performance.now() - checkedAt;
    say('');
    process.stdout.write(
      `${renderStorm({ rules, ...weathered, ...readResults(databaseOf(daemon)), checkMs, modelCalls }, weathered.observations, facts)}\n`,
    );
    if (weathered.submissions !== null) process.stdout.write(`${renderSubmissions(weathered.submissions)}\n`);
    isKept = !(await conclude(problems, daemon, scratch));
  } catch (error) {
    await daemon.stop('SIGKILL');
    await conclude([error instanceof Error ? String(error.stack) : String(error)], daemon, scratch);
  } finally {
    const files = await engine.close(isKept);
    if (files !== null) say(`The database server is kept, too, and doesn't run: ${files}`);
  }
  return !isKept;
}

async function conclude(problems: readonly string[], daemon: DaemonProcess, scratch: string): Promise<boolean> {
  if (problems.length === 0) {
    await daemon.close();
    say('Every promise was kept.');
    return true;
  }
  await writeFile(join(scratch, 'daemon.log'), daemon.stderr());
  await writeFile(join(scratch, 'problems.txt'), `${problems.join('\n')}\n`);
  say(`${problems.length} promises were broken:`);
  for (const problem of problems.slice(0, MOST_PROBLEMS_SHOWN)) say(`- ${problem}`);
  say(`The data directory is kept: ${daemon.dataDir}; logs and the model's audit: ${scratch}`);
  return false;
}

const scratch = await mkdtemp(join(tmpdir(), 'errand-chaos-'));
const kept = await run(scratch);
if (kept) await rm(scratch, { recursive: true, force: true });
process.exit(kept ? 0 : 1);
