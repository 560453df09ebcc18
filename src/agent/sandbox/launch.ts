// A sandbox from launch to end: starts, watches and ends it, and waits until none of its processes is alive.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, lstat } from 'node:fs/promises';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { reopenRoot } from '../../disk/make-beneath.ts';
import { systemClock, within } from '../../domain/clock.ts';
import { hasEnded, takenBytes } from './process-tree.ts';
import type { SandboxGrant } from '../port/grants.ts';
import { type ControlGroup, makeControlGroup } from './control-group.ts';
import { ENTER, FD } from './scripts.ts';
import { planSandbox, type SandboxPlan, type SandboxWork, type StopCause, SYSTEM_PATH } from './walls.ts';
import { type Room, roomFor, type SpaceWatch, watchSpace } from './watch-space.ts';

const WATCH_INTERVAL_MS = 200;
const KILL_GRACE_MS = 2000;
const MAX_COMPLAINT_LENGTH = 2000;

/**
 * Gives the sandbox's uid access to the workspace, whatever mode a command has set. One that was another's, such as of a daemon that
 * had no users for commands, is given with all that is in it, its root last.
 */
async function giveTo(workspace: string, owner: SandboxGrant['owner']): Promise<void> {
  await reopenRoot(workspace);
  if (owner === null || (await lstat(workspace)).uid === owner.uid) return;
  const words = ['-hR', '--', `${owner.uid}:${owner.gid}`, workspace];
  // What can't be given stays another's. The root can be, or nothing is started.
  await promisify(execFile)('chown', words, { env: { PATH: SYSTEM_PATH } }).catch(() => undefined);
  await chown(workspace, owner.uid, owner.gid);
}

/** A sandbox that is being built or runs. */
export interface Launched {
  readonly child: ChildProcess;
  /** Absolute path. */
  readonly workspace: string;
  /** Null where there are no control groups. */
  readonly group: ControlGroup | null;
  space: SpaceWatch | undefined;
  /** Null for a command. */
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  /** Text. */
  readonly stderr: Readable;
  /** When it closes, the rest of the sandbox's process group is killed. */
  readonly lifeline: Readable;
  /** The sandbox's first process, once known. When it dies, the kernel ends all other processes inside. */
  firstPid: number | undefined;
  /** Set when the command itself ran and ended, rather than bubblewrap before it. */
  exitCode: number | undefined;
  complaint: string;
  stopped: StopCause | undefined;
  killTimer: NodeJS.Timeout | undefined;
}

/** All that a launch needs: what to start, and its limits. */
export interface Prepared {
  readonly plan: SandboxPlan;
  readonly workspace: string;
  /** Whether its standard input is used. */
  readonly takesInput: boolean;
  /** The caller closes it if it does not call `launch`. Null where there are no control groups. */
  readonly group: ControlGroup | null;
  /** Null where the disk is not watched. */
  readonly room: Room | null;
}

/** Prepares what the work needs outside of the sandbox. */
export async function prepare(grant: SandboxGrant, work: SandboxWork): Promise<Prepared> {
  const { workspace, task } = work;
  await giveTo(workspace, grant.owner);
  const room = await roomFor(workspace, grant.space);
  // A service can't report that a write failed: it may write, and is ended when the workspace grows.
  const fileBytes =
    room === null || (task.kind === 'service' && room.fileBytes === 0) ? {} : { fileBytes: room.fileBytes };
  const plan = await planSandbox(grant, { ...work, ...fileBytes });
  const group = grant.groups === null ? null : await makeControlGroup(grant.groups, grant);
  return { plan, workspace, takesInput: task.kind === 'service', group, room };
}

/** Starts it. It gets nothing of the daemon's environment and directory. */
export function launch({ plan, workspace, takesInput, group, room }: Prepared): Launched {
  const { papers } = plan;
  const [program, args] =
    group === null
      ? [plan.program, plan.args]
      : ['/bin/sh', ['-c', ENTER, 'sh', group.path, plan.program, ...plan.args]];
  const last = Math.max(...papers.keys());
  const stdio = Array.from({ length: last + 1 }, (_, fd) => (isPipe(fd, takesInput, papers) ? 'pipe' : 'ignore'));
  const child = spawn(program, args, { cwd: '/', env: { PATH: SYSTEM_PATH }, stdio, detached: true });
  // Also of one that has no pipes: without a listener, its error would end the process.
  child.on('error', () => undefined);
  const streams = pipesOf(child, group);
  const launched: Launched = {
    child,
    workspace,
    group,
    space: undefined,
    stdin: child.stdin,
    stdout: child.stdout!,
    stderr: child.stderr!,
    lifeline: streams[FD.lifeline] as Readable,
    firstPid: undefined,
    exitCode: undefined,
    complaint: '',
    stopped: undefined,
    killTimer: undefined,
  };
  launched.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (launched.complaint.length < MAX_COMPLAINT_LENGTH) launched.complaint += text;
  });
  let report = '';
  (streams[FD.status] as Readable).setEncoding('utf8').on('data', (text: string) => {
    report += text;
    readReport(launched, report);
  });
  for (const [fd, paper] of papers) (streams[fd] as Writable).end(paper);
  launched.space = watchSpace(launched, room, (cause) => stop(launched, cause));
  // A sandbox that is killed early closes its pipes unread; `exit` reports everything about that.
  for (const stream of streams) stream?.on('error', () => undefined);
  return launched;
}

/** Throws where the system has no descriptors for them: then there is no process, and it has no pipes at all. */
function pipesOf(
  { stdio }: { readonly stdio?: ChildProcess['stdio'] },
  group: Prepared['group'],
): readonly (Readable | Writable | null)[] {
  if (stdio !== undefined) return stdio as readonly (Readable | Writable | null)[];
  void group?.close();
  throw new Error('The sandbox could not be started: too many files are open.');
}

function isPipe(fd: number, takesInput: boolean, papers: SandboxPlan['papers']): boolean {
  return fd === 0 ? takesInput : fd <= 2 || fd === FD.status || fd === FD.lifeline || papers.has(fd);
}

/** Reads what bubblewrap has reported so far: one JSON object a line. */
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

/** The first cause wins. */
export function stop(launched: Launched, cause: StopCause): void {
  if (launched.stopped !== undefined) return;
  launched.stopped = cause;
  launched.killTimer = setTimeout(() => launched.child.kill('SIGKILL'), KILL_GRACE_MS);
  kill(launched);
}

/** Kills the sandbox's first process, so that bubblewrap outlives it and its exit means that everything has ended. */
function kill(launched: Launched): void {
  if (launched.firstPid === undefined || launched.child.exitCode !== null || launched.child.signalCode !== null) return;
  try {
    process.kill(launched.firstPid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

type Ended = { readonly exitCode: number | null; readonly signal: string | null };

/** Waits until bubblewrap has exited, its pipes are read to the end and the last process has ended. */
export async function ending(launched: Launched): Promise<Ended> {
  try {
    return await lastOf(launched);
  } finally {
    launched.stopped ??= await launched.space?.close();
    await launched.group?.close();
    // Other tools and the collector need it next.
    await reopenRoot(launched.workspace);
  }
}

async function lastOf(launched: Launched): Promise<Ended> {
  const { child, stdout } = launched;
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const [code, killedBy] = await new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', (error) => reject(new Error(`The sandbox could not be started: ${error.message}`)));
    child.once('exit', (code, signal) => resolve([code, signal]));
  });
  clearTimeout(launched.killTimer);
  launched.lifeline.destroy();
  await within(systemClock, KILL_GRACE_MS, closed, undefined);
  stdout.destroy();
  await allEnded(launched.firstPid);
  if (launched.stopped === undefined && (await launched.group?.ranOut())) launched.stopped = 'memory';
  if (killedBy !== null) return { exitCode: null, signal: killedBy };
  if (launched.exitCode === undefined && launched.stopped === undefined) {
    throw new Error(`The sandbox could not be built: ${launched.complaint.trim() || `bwrap exited with ${code}`}`);
  }
  return outcomeOf(launched.exitCode ?? code);
}

/** Bubblewrap may exit a moment before the processes that it leaves behind; waits until they are gone. */
async function allEnded(firstPid: number | undefined): Promise<void> {
  const deadlineAt = performance.now() + KILL_GRACE_MS;
  if (firstPid === undefined) return;
  while (!(await hasEnded(firstPid)) && performance.now() < deadlineAt) await delay(5);
}

/** A shell reports death by a signal as 128 plus the signal's number. */
function outcomeOf(code: number | null): Ended {
  const signal = Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0];
  return signal === undefined ? { exitCode: code, signal: null } : { exitCode: null, signal };
}

/**
 * Ends a sandbox that takes too much memory: each process has its own limit; where no control group does, this applies the same
 * limit to all of them together.
 */
export function watchMemory(launched: Launched, memoryBytes: number): NodeJS.Timeout | undefined {
  if (launched.group !== null) return undefined;
  let busy = false;
  return setInterval(() => {
    if (busy || launched.firstPid === undefined) return;
    busy = true;
    void takenBytes(launched.firstPid, memoryBytes)
      .then((bytes) => bytes > memoryBytes && stop(launched, 'memory'))
      .finally(() => {
        busy = false;
      });
  }, WATCH_INTERVAL_MS);
}
