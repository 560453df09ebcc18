// Calls a tool on a thread with little heap, as the arguments of the program say, and writes the end of its result.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { editFile } from '../../../src/agent/tools/edit-file.ts';
import { readFile } from '../../../src/agent/tools/read-file.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import { heapLimits } from '../../../src/workers/heap-limits.ts';
import { bareContext } from '../../support/agent/bare-context.ts';

const HEAP_MB = 64;
const SHOWN_CHARACTERS = 200;

async function call([workspace, name, input]: readonly string[]): Promise<string> {
  const tool = [editFile, readFile].find((one) => one.name === name)!;
  const { output } = await tool.execute(JSON.parse(input!) as JsonObject, bareContext(workspace!));
  return output.slice(-SHOWN_CHARACTERS);
}

if (isMainThread) {
  const thread = new Worker(new URL(import.meta.url), {
    workerData: process.argv.slice(2),
    resourceLimits: heapLimits(HEAP_MB),
  });
  thread.once('message', (said: string) => process.stdout.write(said));
} else {
  parentPort?.postMessage(await call(workerData as string[]), []);
}
