// The thread of a process that does with its one task what the task says, and tells what it was given.
import process from 'node:process';
import { parentPort, workerData } from 'node:worker_threads';
import type { ProcessTask } from '../../src/workers/in-process.ts';
import { type Deed, doDeed } from './deeds.ts';

export interface Answered {
  readonly said: string;
  readonly bytes: number;
  readonly pid: number;
  readonly environment: readonly string[];
}

const { task, bytes } = workerData as ProcessTask<Deed>;
const said = await doDeed(task);
const answer: Answered = { said, bytes: bytes.length, pid: process.pid, environment: Object.keys(process.env) };
parentPort?.postMessage(answer, []);
