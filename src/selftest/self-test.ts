// The self-test: a scratch daemon of this program is killed under load, again and again, and what is left is checked.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freeBytes } from '../disk/disk-space.ts';
import { GB } from '../domain/byte-units.ts';
import { ErrandError, messageOf } from '../domain/errors.ts';
import { checkLeftBehind } from './checks/left-behind.ts';
import { type Finding, isKept, PROMISES } from './promises.ts';
import { makeScratchDaemon, type ScratchDaemon } from './storm/scratch-daemon.ts';
import { blow, orphans, type Storm } from './storm/storm.ts';
import { type Load, type Piece, startLoad } from './work/load.ts';
import { type ScriptedModel, startScriptedModel } from './work/scripted-model.ts';

export interface SelfTestRequest {
  /** The launcher of this program. */
  readonly executable: string;
  /** How long the daemon is killed. The calm and the checks after it take about a minute more. */
  readonly stormMs: number;
  /** The same seed gives kills at the same moments of each life. */
  readonly seed: number;
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
  /** The scratch directory; null when it was removed. */
  readonly kept: string | null;
}

/** What it may take of the disk at the very most, and what has to be free beside it. */
const ROOM_BYTES = GB;
/** With a little less, a daemon takes no work by default (`disk.keep_free_mb`). */
const SPARE_BYTES = ROOM_BYTES / 2;
/** New work comes for a while after the last kill, and for less after a short storm. */
const AFTER_MS = 5_000;
const AFTER_SHARE = 1 / 6;
const CALM_MS = 120_000;
const REPORT_EVERY = 10;
const MAX_LOGGED = 10;

/** Runs the self-test. Throws `unavailable` without room on the disk, and when the daemon can't even be started. */
export async function runSelfTest(request: SelfTestRequest): Promise<SelfTestResult> {
  if (freeBytes(tmpdir()) < ROOM_BYTES) {
    throw new ErrandError(
      'unavailable',
      `${tmpdir()} must have 1 GB free for the scratch daemon. TMPDIR names another place.`,
    );
  }
  const directory = await mkdtemp(join(tmpdir(), 'errand-selftest-'));
  let keeps = request.keep;
  try {
    const result = await testIn(directory, request);
    const isBroken = result.findings.some((finding) => !isKept(finding));
    if (isBroken && freeBytes(directory) < SPARE_BYTES) {
      throw new ErrandError('unavailable', `The disk of ${tmpdir()} became full, so nothing is proven. Test again.`);
    }
    keeps ||= isBroken;
    return { ...result, kept: keeps ? directory : null };
  } finally {
    if (!keeps) await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function testIn(directory: string, request: SelfTestRequest): Promise<Omit<SelfTestResult, 'kept'>> {
  const model = await startScriptedModel();
  let daemon: ScratchDaemon | undefined;
  let load: Load | undefined;
  try {
    daemon = await makeScratchDaemon({ ...request, directory, modelUrl: model.url });
    await daemon.restart().catch((error: unknown) => notStarted(error, daemon!.log(), request.signal));
    load = startLoad({ ...daemon, signal: request.signal });
    const storm = await blowFor(request, daemon, directory, load.pieces);
    if (storm.dead === null) await calm(daemon, load, request);
    await load.close();
    const code = await daemon.stop();
    request.signal.throwIfAborted();
    const left = await orphans(daemon.dataDir, directory, storm.orphans);
    const { pieces } = load;
    const rows = await checkLeftBehind(daemon.dataDir, pieces);
    return {
      findings: inOrder([...rows, ...ofProcesses({ model, storm, log: daemon.log(), code, left })]),
      kills: storm.kills + storm.interrupted,
      pieces: pieces.length,
      modelCalls: model.calls(),
      slowestStartMs: Math.max(0, ...storm.startsMs),
    };
  } finally {
    await load?.close();
    await daemon?.close();
    await model.close();
  }
}

function notStarted(error: unknown, log: string, signal: AbortSignal): never {
  signal.throwIfAborted();
  const last = log.trim().split('\n').slice(-MAX_LOGGED).join('\n');
  throw new ErrandError('unavailable', `${messageOf(error)}${last === '' ? '' : ` It wrote:\n${last}`}`);
}

/** Kills the daemon until the time is over. */
function blowFor(
  { seed, stormMs, signal, report }: SelfTestRequest,
  daemon: ScratchDaemon,
  marker: string,
  pieces: readonly Piece[],
): Promise<Storm> {
  const until = performance.now() + stormMs;
  return blow(daemon, {
    seed,
    marker,
    signal,
    leftMs: () => until - performance.now(),
    report: (kill) => {
      if (kill % REPORT_EVERY === 0) report(`${kill} kills, ${pieces.length} pieces of work`);
    },
  });
}

/** Waits until all work has ended. Work that has not is found in the rows. */
async function calm(daemon: ScratchDaemon, load: Load, { stormMs, signal, report }: SelfTestRequest): Promise<void> {
  report('The daemon is left alone now, until all work has ended.');
  await sleep(Math.min(AFTER_MS, stormMs * AFTER_SHARE), undefined, { signal });
  await load.finish(CALM_MS);
  await collected(daemon, load.pieces, signal).catch(() => signal.throwIfAborted());
}

interface Seen {
  readonly model: ScriptedModel;
  readonly storm: Storm;
  readonly log: string;
  readonly code: number | null;
  readonly left: readonly string[];
}

/** What is known without the data directory. */
function ofProcesses({ model, storm, log, code, left }: Seen): Finding[] {
  const errors = log.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line));
  const dead = storm.dead === null ? [] : [storm.dead];
  const logged = errors.slice(0, MAX_LOGGED).map((line) => `Logged: ${line.slice(0, 300)}`);
  const clean = code === 0 ? [] : [`It ended with ${code ?? 'a signal'}.`];
  return [
    { promise: 'shown', checked: model.calls(), problems: model.problems },
    { promise: 'starts', checked: storm.startsMs.length, problems: [...dead, ...logged] },
    { promise: 'stop', checked: storm.kills + 1, problems: [...storm.problems, ...clean, ...left] },
  ];
}

function inOrder(findings: readonly Finding[]): Finding[] {
  const order = Object.keys(PROMISES);
  return findings.toSorted((a, b) => order.indexOf(a.promise) - order.indexOf(b.promise));
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
