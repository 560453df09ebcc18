// A thread for one check of a model or an MCP server, so that a check can't block the daemon.
import { parentPort, workerData } from 'node:worker_threads';
import { takeWays } from '../../outbound/ways/ways.ts';
import { checkMcp } from './check-mcp.ts';
import { checkModel } from './check-model.ts';
import type { SentCheck } from './check-task.ts';

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

const task = workerData as SentCheck;
takeWays(task.ways);
const report = task.kind === 'model' ? await checkModel(task) : await checkMcp(task);
parentPort?.postMessage(report, []);
