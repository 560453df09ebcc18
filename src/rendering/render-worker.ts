// A thread that renders one text, so that a hostile one can be ended with it.
import { parentPort, workerData } from 'node:worker_threads';
import { render } from './render.ts';
import type { RenderTask } from './rendering.ts';

const result = await render(workerData as RenderTask);
parentPort?.postMessage(result, result.kind === 'html' ? [result.html.buffer as ArrayBuffer] : []);
