// Executes one task in a process of its own: for bytes that others chose, which may fill all memory and end the process with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Start } from './one-shot.ts';
import type { TaskEnd } from './task-end.ts';
import { workerFile } from './worker-file.ts';

/** A task, and the bytes that it is about, which are written to its process in turns. */
export interface ProcessTask<Task> {
  readonly task: Task;
  readonly bytes: Uint8Array;
}

/** Its limits. The process compares what it has used with them ten times a second, and V8 the heap at once. */
export interface ProcessParts {
  /** Executed on a thread of the process, with the `ProcessTask` as `workerData`. Its first message is the result. */
  readonly file: URL;
  readonly heapMb: number;
  /** Resident memory of the process, with the heap and some 80 MB of Node.js. */
  readonly memoryMb: number;
  /** Processor time of the process, with some 0.2 s of Node.js. */
  readonly maxCpuMs: number;
}

/** What the process is sent beside the bytes. */
export interface ProcessOrder extends Omit<ProcessParts, 'file'> {
  readonly file: string;
  readonly task: unknown;
}

/** Said by the process when it has all of its task, before it answers with a `TaskEnd`. */
export const BEGUN = 'begun';

/** Kept of what the process writes on standard error. V8 says there why it gives up. */
const MAX_COMPLAINT_CHARACTERS = 4_000;

/**
 * Starts processes. They have no environment, `/` as their directory and a session of their own: Ctrl+C in the daemon's terminal is
 * for the daemon, which may finish what it began. A process ends itself when the daemon is gone.
 */
export function inProcess<Task>({ file, ...limits }: ProcessParts): Start<ProcessTask<Task>> {
  return ({ task, bytes }, end) => {
    const child = startProcess();
    let complaint = '';
    let hasBegun = false;
    child.on('error', (error) => end({ kind: 'not_started', error }));
    child.on('message', (said: typeof BEGUN | TaskEnd<unknown>) => {
      if (said === BEGUN) hasBegun = true;
      else end(said);
    });
    child.once('close', (code, signal) => {
      const why = reasonIn(complaint) || `it ended with ${signal ?? code}, without an answer`;
      end(hasBegun ? endedEarly(why) : { kind: 'not_started', error: new Error(why) });
    });
    // Where the system has no descriptors for pipes, there are none.
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(0, MAX_COMPLAINT_CHARACTERS);
    });
    // Its end tells why it took nothing more.
    child.stdin?.on('error', () => undefined).end(bytes);
    child.send?.({ file: file.href, ...limits, task } satisfies ProcessOrder, () => undefined);
    return { terminate: async () => terminate(child) };
  };
}

function startProcess(): ChildProcess {
  const program = workerFile('./process-worker.ts', import.meta.url);
  return spawn(process.execPath, ['-e', 'import(process.argv[1])', '--', program.href], {
    env: {},
    cwd: '/',
    detached: true,
    serialization: 'advanced',
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
  });
}

/** V8 writes where it stood before and after its reason. */
function reasonIn(complaint: string): string {
  return /^FATAL ERROR: (.+)$/m.exec(complaint)?.[1] ?? complaint.trim();
}

function endedEarly(why: string): TaskEnd<never> {
  return { kind: /out of memory/i.test(why) ? 'out_of_memory' : 'crashed', error: new Error(why) };
}

async function terminate(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
