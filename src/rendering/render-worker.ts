// A process that renders one text, so that a hostile one can be ended with it.
import { doTask } from '../workers/do-task.ts';
import { render } from './render.ts';
import type { RenderTask } from './rendering.ts';

await doTask(async (task: Omit<RenderTask, 'bytes'>, bytes) => render({ ...task, bytes } as RenderTask));
