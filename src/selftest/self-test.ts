// The self-test: a scratch daemon of this program is killed under load, again and again, and what is left is checked.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeBytes } from '../disk/disk-space.ts';
import { ErrandError, messageOf } from '../domain/errors.ts';
import { checkRows } from './check-rows.ts';
import { type Load, type Piece, startLoad } from './load.ts';
import { type Finding, isKept, PROMISES, type PromiseName } from './promises.ts';
import { makeScratchDaemon, type ScratchDaemon } from './scratch-daemon.ts';
import { startScriptedModel } from './scripted-model.ts';

export interface SelfTestWish {
  /** The launcher of this program. */
  readonly executable: string;
  /** How long the daemon is killed. The calm and the checks after it take about a minute more. */
  readonly stormMs: number;
  /** Keep the scratch directory in any case. */
  readonly keep: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  report(line: string): void;
}

export interface SelfTestResult {
  readonly findings: readonly Finding[];
  readonly kills: number;
  readonly pieces: number;
  readonly modelCalls: number;
  readonly slowestStartMs: number;
  readonly stormMs: number;
  /** The scratch directory; null when it was removed. */
  readonly kept: string | null;
}

/** What it may take of the disk at the very most, and what has to be free beside it. */
const ROOM_BYTES = 1_073_741_824;
/** On a slow machine a life lasts as long as two starts: otherwise nothing would be in progress when it ends. */
const LONGEST_LIFE_MS = 3_000;
/** One in this many lives is longer, so that work gets done. */
const LONG_LIVES = 4;
const LONG_LIFE_FACTOR = 4;
/** New work comes for a while after the last kill, and for less after a short storm. */
const AFTER_MS = 5_000;
const AFTER_SHARE = 1 / 6;
const CALM_MS = 120_000;
const REPORT_EVERY = 10;

/** Runs the self-test. Throws `unavailable` without room on the disk, and when the daemon can't even be started. */
export async function runSelfTest(wish: SelfTestWish): Promise<SelfTestResult> {
  if (freeBytes(tmpdir()) < ROOM_BYTES) {
    throw new ErrandError(
      'unavailable',
      `${tmpdir()} must have 1 GB free for the scratch daemon. TMPDIR names another place.`,
    );
  }
  const directory = await mkdtemp(join(tmpdir(), 'errand-selftest-'));
  let keeps = wish.keep;
  try {
    const result = await testIn(directory, wish);
    keeps ||= result.findings.some((finding) => !isKept(finding));
    return { ...result, kept: keeps ? directory : null };
  } finally {
    if (!keeps) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function testIn(directory: string, wish: SelfTestWish): Promise<Omit<SelfTestResult, 'kept'>> {
  const model = await startScriptedModel();
  let daemon: ScratchDaemon | undefined;
  let load: Load | undefined;
  try {
    daemon = await makeScratchDaemon({ ...wish, directory, modelUrl: model.url });
    await daemon.start();
    load = startLoad(daemon);
    const storm = await blow(daemon, wish);
    wish.report('The daemon is left alone now, until all work has ended.');
    if (storm.problems.length === 0) {
      await sleep(Math.min(AFTER_MS, wish.stormMs * AFTER_SHARE), undefined, { signal: wish.signal });
    }
    const isDone = storm.problems.length === 0 && (await load.finish(CALM_MS));
    if (!isDone) await load.finish(0);
    await collected(daemon, load.pieces, wish.signal).catch(() => wish.signal.throwIfAborted());
    const code = await daemon.stop();
    const left = await processesNaming(directory);
    const rows = checkRows(daemon.dataDir, load.pieces);
    const errors = daemon
      .log()
      .split('\n')
      .filter((line) => /"level":"(error|fatal)"/.test(line));
    const of = (promise: PromiseName, checked: number, problems: readonly string[]): Finding => ({
      promise,
      checked,
      problems,
    });
    const findings = [
      ...rows,
      of('shown', model.calls(), model.problems),
      of('starts', daemon.startsMs.length, [
        ...storm.problems,
        ...errors.slice(0, 10).map((line) => `Logged: ${line.slice(0, 300)}`),
      ]),
      of('stop', 1, [
        ...(code === 0 ? [] : [`It ended with ${code ?? 'a signal'}.`]),
        ...left.map((one) => `Left behind: ${one}`),
      ]),
    ];
    const order = Object.keys(PROMISES);
    return {
      findings: findings.sort((a, b) => order.indexOf(a.promise) - order.indexOf(b.promise)),
      kills: storm.kills,
      pieces: load.pieces.length,
      modelCalls: model.calls(),
      slowestStartMs: Math.max(0, ...daemon.startsMs),
      stormMs: wish.stormMs,
    };
  } finally {
    await load?.finish(0);
    await daemon?.kill();
    await model.close();
  }
}

/** Kills the daemon at random moments until the time is over, and leaves it running. */
async function blow(daemon: ScratchDaemon, { stormMs, signal, report }: SelfTestWish) {
  const until = performance.now() + stormMs;
  const problems: string[] = [];
  let kills = 0;
  while (performance.now() < until) {
    const longestMs = Math.max(LONGEST_LIFE_MS, 2 * (daemon.startsMs.at(-1) ?? 0));
    const factor = Math.random() < 1 / LONG_LIVES ? LONG_LIFE_FACTOR : 1;
    const leftMs = Math.max(0, until - performance.now());
    await sleep(Math.min(Math.random() * longestMs * factor, leftMs), undefined, { signal });
    await daemon.kill();
    kills += 1;
    try {
      await daemon.start();
    } catch (error) {
      problems.push(`After kill ${kills}: ${messageOf(error)}`);
      break;
    }
    if (kills % REPORT_EVERY === 0) report(`${kills} kills`);
  }
  return { kills, problems };
}

/** Waits until the files of every run that was answered are stored, however long that takes on this machine. */
async function collected({ url, apiKey }: ScratchDaemon, pieces: readonly Piece[], signal: AbortSignal): Promise<void> {
  const until = performance.now() + CALM_MS;
  const headers = { authorization: `Bearer ${apiKey}` };
  const runs = pieces.flatMap((piece) => (piece.answer === null ? [] : [...piece.runs]));
  for (const run of runs) {
    while (performance.now() < until) {
      const response = await fetch(`${url}/openapi/v1/runs/${run}/artifacts`, { headers, signal });
      const reply = (await response.json()) as { artifact_status?: string };
      if (response.status !== 200 || reply.artifact_status !== 'pending') break;
      await sleep(200, undefined, { signal });
    }
  }
}

/** Processes whose command line names the scratch directory. */
async function processesNaming(directory: string): Promise<string[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter(
    (name) => /^\d+$/.test(name) && Number(name) !== process.pid,
  );
  const found: string[] = [];
  for (const pid of pids) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.includes(directory)) found.push(`${pid} ${command.replaceAll('\0', ' ').trim().slice(0, 200)}`);
  }
  return found;
}
