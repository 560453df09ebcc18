// Runs commands in a bubblewrap sandbox: no network, no files but the workspace, nothing left behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { constants as fsConstants } from 'node:fs';
import { access, chown, lstat, mkdtemp, realpath, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../domain/errors.ts';
import { captureOutput } from './captured-output.ts';
import { hasEnded, takenBytes } from './process-tree.ts';
import type { SandboxGrant } from './protocol.ts';
import { adviceOn } from './sandbox-advice.ts';
import { identityFiles, SANDBOX_OWNER, sandboxCommand, SYSTEM_PATH } from './sandbox-walls.ts';

const WATCH_INTERVAL_MS = 200;
const KILL_GRACE_MS = 2000;
const PROBE_TIMEOUT_MS = 10_000;
const MAX_COMPLAINT_LENGTH = 2000;

/** Why the sandbox ended a command. */
export type StopCause = 'timeout' | 'output' | 'memory' | 'canceled';

export interface ShellResult {
  /** Null when the command was stopped or killed. */
  readonly exitCode: number | null;
  /** The signal that killed the command, such as `SIGSEGV`; null when it exited or was stopped. */
  readonly signal: string | null;
  readonly stopped?: StopCause;
  /** Standard output and error as they came, as text; the middle is left out when there is much. */
  readonly output: string;
  /** Bytes of output, shown or not. */
  readonly bytes: number;
  readonly durationMs: number;
}

export interface SandboxRequest {
  /** Absolute path of the workspace directory, the command's `/workspace`. */
  readonly workspace: string;
  readonly command: string;
  /** Less than the grant's, if given. */
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

export interface SandboxSettings extends Omit<SandboxGrant, 'bwrap' | 'owner'> {
  /** Folders to look for `bwrap` in, in the form of PATH. */
  readonly path: string;
  /** The daemon's own folders. Commands can read /usr, so these must not lie there. */
  readonly privateFolders: readonly string[];
}

export type SandboxProbe =
  | { readonly ok: true; readonly grant: SandboxGrant }
  | { readonly ok: false; readonly why: string };

/** Finds bubblewrap and runs a command in the very sandbox that a grant stands for. `why` is one sentence with a remedy. */
export async function probeSandbox(settings: SandboxSettings): Promise<SandboxProbe> {
  const { path, privateFolders, ...limits } = settings;
  const bwrap = await findProgram('bwrap', path);
  if (bwrap === undefined) {
    return { ok: false, why: 'bubblewrap is not installed (Debian: apt-get install bubblewrap).' };
  }
  const open = await findReadable(privateFolders);
  if (open !== undefined)
    return { ok: false, why: `${open} lies in /usr, which commands can read; move it elsewhere.` };
  const grant: SandboxGrant = { ...limits, bwrap, owner: process.getuid?.() === 0 ? SANDBOX_OWNER : null };
  const workspace = await mkdtemp(join(tmpdir(), 'errand-probe-'));
  try {
    const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    const result = await runInSandbox(grant, {
      workspace,
      command: 'test -w /workspace && test ! -e /etc/shadow',
      signal,
    });
    if (result.exitCode === 0) return { ok: true, grant };
    return { ok: false, why: `a trial command failed in the sandbox: ${result.stopped ?? result.output}.` };
  } catch (error) {
    return { ok: false, why: adviceOn(messageOf(error)) };
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const folder of path.split(':').filter((folder) => folder.startsWith('/'))) {
    const found = await access(join(folder, name), fsConstants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return join(folder, name);
  }
  return undefined;
}

async function findReadable(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const real = await realpath(folder).catch(() => folder);
    if (real === '/usr' || real.startsWith('/usr/')) return folder;
  }
  return undefined;
}

/**
 * Runs one command to its end. When it resolves, nothing that the command started is alive. How the command fared is
 * in the result; throws only when the sandbox itself could not be built, with bubblewrap's complaint.
 */
export async function runInSandbox(grant: SandboxGrant, request: SandboxRequest): Promise<ShellResult> {
  if (grant.owner === null && process.getuid?.() === 0) throw new Error('Commands are never run as root.');
  const startedAt = performance.now();
  const timeoutMs = Math.min(request.timeoutMs ?? grant.timeoutMs, grant.timeoutMs);
  const [program, args] = await sandboxCommand(grant, request.workspace, request.command, timeoutMs);
  if (grant.owner !== null) await giveTo(request.workspace, grant.owner);
  const durationMs = () => Math.round(performance.now() - startedAt);
  if (request.signal.aborted) {
    return { exitCode: null, signal: null, stopped: 'canceled', output: '', bytes: 0, durationMs: durationMs() };
  }
  const launched = launch(program, args, request.workspace, grant);
  const output = captureOutput();
  const stopCommand = (cause: StopCause) => stop(launched, cause);
  launched.stdout.on('data', (chunk: Buffer) => {
    if (launched.stopped === undefined) output.push(chunk);
    if (output.bytes() > grant.maxOutputBytes) stopCommand('output');
  });
  const timer = setTimeout(() => stopCommand('timeout'), timeoutMs);
  const cancel = () => stopCommand('canceled');
  request.signal.addEventListener('abort', cancel, { once: true });
  const watch = watchMemory(launched, grant.memoryBytes);
  try {
    const ended = await ending(launched);
    const outcome =
      launched.stopped === undefined ? ended : { exitCode: null, signal: null, stopped: launched.stopped };
    return { ...outcome, output: output.text(), bytes: output.bytes(), durationMs: durationMs() };
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    request.signal.removeEventListener('abort', cancel);
  }
}

/** Opening the workspace to the sandbox's uid; what is inside belongs to whoever made it. */
async function giveTo(workspace: string, owner: { readonly uid: number; readonly gid: number }): Promise<void> {
  const stats = await lstat(workspace);
  if (stats.uid !== owner.uid || stats.gid !== owner.gid) await chown(workspace, owner.uid, owner.gid);
}

/** A sandbox that is being built or runs. */
interface Launched {
  readonly child: ChildProcess;
  readonly stdout: Readable;
  /** When it closes, all that is left of the sandbox's process group is killed. */
  readonly lifeline: Readable;
  /** The sandbox's first process, once known. When it dies, the kernel ends all others in there. */
  firstPid: number | undefined;
  /** Set when the command itself ran and ended, rather than bubblewrap before it. */
  exitCode: number | undefined;
  complaint: string;
  stopped: StopCause | undefined;
  killTimer: NodeJS.Timeout | undefined;
}

function launch(program: string, args: readonly string[], cwd: string, grant: SandboxGrant): Launched {
  const pipes = ['ignore', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe', 'pipe'] as const;
  const child = spawn(program, args, { cwd, env: { PATH: SYSTEM_PATH }, stdio: [...pipes], detached: true });
  const [, stdout, stderr, status, passwd, group, lifeline] = child.stdio as unknown as readonly [
    null,
    Readable,
    Readable,
    Readable,
    Writable,
    Writable,
    Readable,
  ];
  const launched: Launched = {
    child,
    stdout,
    lifeline,
    firstPid: undefined,
    exitCode: undefined,
    complaint: '',
    stopped: undefined,
    killTimer: undefined,
  };
  stderr.setEncoding('utf8').on('data', (text: string) => {
    if (launched.complaint.length < MAX_COMPLAINT_LENGTH) launched.complaint += text;
  });
  let report = '';
  status.setEncoding('utf8').on('data', (text: string) => {
    report += text;
    readReport(launched, report);
  });
  const owner = grant.owner ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const [users, groups] = identityFiles(owner);
  passwd.end(users);
  group.end(groups);
  // A sandbox that is killed early closes its pipes unread; `exit` tells all there is to know of that.
  for (const stream of [stdout, stderr, status, passwd, group, lifeline]) stream.on('error', () => undefined);
  return launched;
}

/** Takes in what bubblewrap reported so far: one JSON object a line. */
function readReport(launched: Launched, report: string): void {
  const number = (name: string) => {
    const match = new RegExp(`"${name}"\\s*:\\s*(\\d+)`).exec(report);
    return match === null ? undefined : Number(match[1]);
  };
  const isNew = launched.firstPid === undefined;
  launched.firstPid = number('child-pid');
  launched.exitCode = number('exit-code');
  if (isNew && launched.firstPid !== undefined && launched.stopped !== undefined) kill(launched);
}

/** The first cause stands. */
function stop(launched: Launched, cause: StopCause): void {
  if (launched.stopped !== undefined) return;
  launched.stopped = cause;
  launched.killTimer = setTimeout(() => launched.child.kill('SIGKILL'), KILL_GRACE_MS);
  kill(launched);
}

/** Kills the sandbox's first process, so that bubblewrap outlives it and its exit means that all is over. */
function kill(launched: Launched): void {
  if (launched.firstPid === undefined || launched.child.exitCode !== null || launched.child.signalCode !== null) return;
  try {
    process.kill(launched.firstPid, 'SIGKILL');
  } catch {
    // It has ended by itself meanwhile.
  }
}

/** Waits until bubblewrap is gone, its pipes are read to the end and the last process has ended. */
async function ending(
  launched: Launched,
): Promise<{ readonly exitCode: number | null; readonly signal: string | null }> {
  const { child, stdout } = launched;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const [code, killedBy] = await new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`The sandbox could not be started: ${error.message}`)));
    child.once('exit', (code, signal) => resolve([code, signal]));
  });
  clearTimeout(launched.killTimer);
  launched.lifeline.destroy();
  const drained = new AbortController();
  await Promise.race([closed, delay(KILL_GRACE_MS, undefined, { signal: drained.signal }).catch(() => undefined)]);
  drained.abort();
  stdout.destroy();
  await allEnded(launched.firstPid);
  if (killedBy !== null) return { exitCode: null, signal: killedBy };
  if (launched.exitCode === undefined && launched.stopped === undefined) {
    throw new Error(`The sandbox could not be built: ${launched.complaint.trim() || `bwrap exited with ${code}`}`);
  }
  return outcomeOf(launched.exitCode ?? code);
}

/** Bubblewrap may be gone a moment before the processes it leaves behind; they are dying, and this waits for it. */
async function allEnded(firstPid: number | undefined): Promise<void> {
  const deadlineAt = performance.now() + KILL_GRACE_MS;
  if (firstPid === undefined) return;
  while (!(await hasEnded(firstPid)) && performance.now() < deadlineAt) await delay(5);
}

/** A shell reports death by a signal as 128 and the signal's number. */
function outcomeOf(code: number | null): { readonly exitCode: number | null; readonly signal: string | null } {
  const signal = Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0];
  return signal === undefined ? { exitCode: code, signal: null } : { exitCode: null, signal };
}

/** Each process has its own limit; this holds all of them together to the same one. */
function watchMemory(launched: Launched, memoryBytes: number): NodeJS.Timeout {
  let busy = false;
  return setInterval(() => {
    if (busy || launched.firstPid === undefined) return;
    busy = true;
    void takenBytes(launched.firstPid)
      .then((bytes) => bytes > memoryBytes && stop(launched, 'memory'))
      .finally(() => {
        busy = false;
      });
  }, WATCH_INTERVAL_MS);
}
