// A thread for one check of a model or an MCP server, so that a check can't block the daemon.
import { parentPort, workerData } from 'node:worker_threads';
import { checkMcp } from './check-mcp.ts';
import { checkModel } from './check-model.ts';
import type { CheckTask } from './check-task.ts';

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const task = workerData as CheckTask;
const report = task.kind === 'model' ? await checkModel(task) : await checkMcp(task);
parentPort?.postMessage(report, []);
