// The thread of a process that renders one text, so that a hostile one can be ended with it.
import { parentPort, workerData } from 'node:worker_threads';
import type { ProcessTask } from '../workers/in-process.ts';
import { render } from './render.ts';
import type { RenderTask } from './rendering.ts';

const { task, bytes } = workerData as ProcessTask<Omit<RenderTask, 'bytes'>>;
const result = await render({ ...task, bytes } as RenderTask);
parentPort?.postMessage(result, result.kind === 'html' ? [result.html.buffer as ArrayBuffer] : []);
