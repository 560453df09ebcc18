// A process that does with its one task what the task says, and answers with how many bytes it got.
import process from 'node:process';
import { doTask } from '../../src/workers/do-task.ts';
import { type Deed, doDeed } from './deeds.ts';

export interface Answered {
  readonly said: string;
  readonly bytes: number;
  readonly pid: number;
  readonly environment: readonly string[];
}

await doTask(async (deed: Deed, { length }): Promise<Answered> => {
  const said = await doDeed(deed);
  return { said, bytes: length, pid: process.pid, environment: Object.keys(process.env) };
});
