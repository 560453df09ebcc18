// A thread that reads one document, so that a hostile one can be ended with it.
import { parentPort, workerData } from 'node:worker_threads';
import { type Document, readDocument } from './documents/read-document.ts';

parentPort?.postMessage(await readDocument(workerData as Document), []);
