// A thread that does with its one task what the task says.
import { parentPort, workerData } from 'node:worker_threads';
import { type Deed, doDeed } from './deeds.ts';

parentPort?.postMessage(await doDeed(workerData as Deed), []);
