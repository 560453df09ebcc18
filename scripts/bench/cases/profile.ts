// Where the processor time of a run goes, by thread and package: for people who look for what to make quicker.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startDaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { closedLoop, type Shot } from '../load.ts';
import type { Figures, Scale } from './scale.ts';

const ANSWER: Shot = { text: 'Say it. [[text=Here you are.]]', stream: false, expect: /Here you are\./ };
const CLIENTS = 32;
const SAMPLE_US = 250;
/** Lesser shares are left out. */
const MIN_SHARE = 0.01;
/** Threads with less work than this per run are left out, in milliseconds. */
const MIN_MS = 0.02;

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: CallFrame;
  readonly children?: readonly number[];
}

/** As V8 writes it at the end of a thread. Times in microseconds. */
interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly endTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Which part of a profile is looked at: from so long before its end until so long before it. */
type Span = Readonly<Record<'fromMs' | 'untilMs', number>>;

interface Parts {
  readonly modelUrl: string;
  readonly scratch: string;
  readonly scale: Scale;
  readonly failures: string[];
  say(text: string): void;
}

/** Says a table for each thread. Profiles cost something themselves: shares matter, not sums. */
export async function measureProfile({ modelUrl, scratch, scale, failures, say }: Parts): Promise<Figures> {
  const folder = join(scratch, 'profiles');
  mkdirSync(folder);
  const flags = ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${SAMPLE_US}`];
  const daemon = await startDaemonProcess({ modelServerUrl: modelUrl, env: { NODE_OPTIONS: flags.join(' ') } });
  try {
    const url = `${daemon.url}/openapi/v1/chat/completions`;
    const target = { name: 'errand', url, headers: { authorization: `Bearer ${daemon.apiKey}` } };
    await closedLoop(target, ANSWER, CLIENTS, { forMs: scale.warmMs, atMost: scale.warmRuns });
    const startedAt = performance.now();
    const measured = await closedLoop(target, ANSWER, CLIENTS, { forMs: scale.loadMs });
    const endedAt = performance.now();
    failures.push(...measured.failures);
    await daemon.stop();
    const now = performance.now();
    const span = { fromMs: now - startedAt, untilMs: now - endedAt };
    for (const file of readdirSync(folder).sort()) {
      const profile = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile;
      sayThread(nameOf(file), timesOf(profile, span), measured.results.length, say);
    }
    return {};
  } finally {
    await daemon.close();
  }
}

/** `CPU.date.time.process.thread.number.cpuprofile`. */
function nameOf(file: string): string {
  const thread = file.split('.').at(-3);
  return thread === '0' ? 'main thread' : `thread ${thread}`;
}

function sayThread(name: string, times: ReadonlyMap<string, number>, runs: number, say: (text: string) => void): void {
  const busyMs = [...times.values()].reduce((sum, us) => sum + us, 0) / 1000;
  if (busyMs / runs < MIN_MS) return;
  say(`${name}: ${(busyMs / runs).toFixed(3)} ms a run`);
  for (const [place, us] of [...times].sort((a, b) => b[1] - a[1])) {
    const share = us / 1000 / busyMs;
    if (share >= MIN_SHARE)
      say(`  ${(100 * share).toFixed(1).padStart(5)} %  ${(us / runs).toFixed(0).padStart(5)} µs  ${place}`);
  }
}

/** Microseconds by place. Time in functions without a file counts for their callers: that in SQLite for the store. */
function timesOf({ nodes, startTime, endTime, samples, timeDeltas }: Profile, span: Span): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const placeOf = (id: number): string => {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const place = placeOfFrame(byId.get(at)!.callFrame);
      if (place !== null) return place;
    }
    return 'native code';
  };
  const locations = new Map(nodes.map(({ id }) => [id, placeOf(id)]));
  const times = new Map<string, number>();
  let at = startTime;
  for (const [sample, id] of samples.entries()) {
    const delta = timeDeltas[sample] ?? 0;
    at += delta;
    const beforeEndMs = (endTime - at) / 1000;
    const place = locations.get(id) ?? IDLE;
    if (place === IDLE || beforeEndMs > span.fromMs || beforeEndMs < span.untilMs) continue;
    times.set(place, (times.get(place) ?? 0) + delta);
  }
  return times;
}

const IDLE = 'idle';
const OWN_WORDS: Readonly<Record<string, string>> = {
  '(idle)': IDLE,
  '(root)': IDLE,
  '(garbage collector)': 'V8: garbage',
  '(program)': 'V8 and Node outside of functions',
};

function placeOfFrame({ functionName, url, lineNumber }: CallFrame): string | null {
  const own = OWN_WORDS[functionName];
  if (own !== undefined) return own;
  if (url === '') return null;
  if (!url.startsWith('file:')) return url.split('/').slice(0, 2).join('/');
  const module = modulesOf(fileURLToPath(url)).findLast(({ line }) => line <= lineNumber)?.path ?? 'bundle';
  const library = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module);
  return library?.[1] ?? module.split('/').slice(0, 3).join('/').replace(/\.ts$/, '');
}

const known = new Map<string, { readonly line: number; readonly path: string }[]>();

/** Where the modules of a bundle begin: the bundler has written their paths before them. */
function modulesOf(file: string) {
  const found = known.get(file) ?? [];
  if (known.has(file)) return found;
  known.set(file, found);
  for (const [line, text] of readFileSync(file, 'utf8').split('\n').entries()) {
    const path = /^\s*\/\/ ((?:src|node_modules)\/\S+)$/.exec(text)?.[1];
    if (path !== undefined) found.push({ line, path });
  }
  return found;
}
