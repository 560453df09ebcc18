// Executes one task in a process of its own: for what others send, which may fill all of its memory.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { KB, MB } from '../domain/byte-units.ts';
import type { Start } from './one-shot.ts';
import type { TaskEnd } from './task-end.ts';

/** A task, and the bytes that it is about, which are written to its process in turns. */
export interface ProcessTask<Task> {
  readonly task: Task;
  readonly bytes: Uint8Array;
}

export interface ProcessParts {
  /** Executed in the process; it calls `doTask`. */
  readonly file: URL;
  /** V8 heap limit. */
  readonly heapMb: number;
  /** Limit of all its memory, which includes the heap; where there is no /proc, only the heap is limited. */
  readonly memoryMb: number;
  readonly maxCpuSeconds: number;
}

/** What the process answers. */
export type ProcessAnswer = { readonly value: unknown } | { readonly error: unknown };

/** How often the use of memory is compared with its limit. */
const LOOK_MS = 100;
/** Kept of what the process writes about its end. */
const MAX_COMPLAINT_CHARACTERS = 2_000;

/**
 * Bounds the process when this one is gone, too: the kernel ends it after its CPU time, and it ends itself when its channel closes. No
 * memory is written to the disk when it ends by a signal.
 */
const SHELL = 'ulimit -c 0; ulimit -S -t "$0"; exec "$@"';
const SCRIPT = `process.once('disconnect', () => process.exit()); import(process.argv[1]);`;

export function inProcess<Task>(parts: ProcessParts): Start<ProcessTask<Task>> {
  const file = fileURLToPath(parts.file);
  return ({ task, bytes }, end) => {
    const child = startProcess(parts, file);
    let complaint = '';
    child.on('error', (error) => end({ kind: 'not_started', error }));
    child.once('message', (answer) => end(endOf(answer as ProcessAnswer)));
    child.once('close', (_, signal) => end(endedBy(signal, complaint)));
    // Without descriptors for them, there are no pipes.
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(-MAX_COMPLAINT_CHARACTERS);
    });
    // Its end tells why it took nothing more.
    child.stdin?.on('error', () => undefined).end(bytes);
    child.send?.({ task }, () => undefined);
    const look = setInterval(() => void endAbove(parts.memoryMb * MB, child, end), LOOK_MS);
    return {
      terminate: async () => {
        clearInterval(look);
        await terminate(child);
      },
    };
  };
}

function startProcess({ heapMb, maxCpuSeconds }: ProcessParts, file: string): ChildProcess {
  return spawn('/bin/sh', ['-c', SHELL, `${maxCpuSeconds}`, process.execPath, '-e', SCRIPT, '--', file], {
    // The single executable takes options of Node.js from here alone.
    env: { NODE_OPTIONS: `--max-old-space-size=${heapMb} --max-semi-space-size=4` },
    cwd: '/',
    // Ctrl+C in the daemon's terminal is for the daemon, which may finish what it began.
    detached: true,
    serialization: 'advanced',
    stdio: ['pipe', 'ignore', 'pipe', 'ipc'],
  });
}

function endOf(answer: ProcessAnswer): TaskEnd<unknown> {
  return 'value' in answer ? { kind: 'done', value: answer.value } : { kind: 'crashed', error: answer.error as Error };
}

/** What the end of a process without an answer means. V8 aborts when its heap is full. */
function endedBy(signal: NodeJS.Signals | null, complaint: string): TaskEnd<never> {
  if (signal === 'SIGXCPU') return { kind: 'timeout' };
  if (signal === 'SIGABRT') return { kind: 'out_of_memory' };
  return complaint === '' ? { kind: 'crashed' } : { kind: 'crashed', error: new Error(complaint.trim()) };
}

async function endAbove(bytes: number, { pid }: ChildProcess, end: (end: TaskEnd<unknown>) => void): Promise<void> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
  const [, kilobytes = '0'] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? [];
  if (Number(kilobytes) * KB > bytes) end({ kind: 'out_of_memory' });
}

async function terminate(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
