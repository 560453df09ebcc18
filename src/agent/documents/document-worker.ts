// A thread that reads one document, so that a hostile one can be ended with it.
import { parentPort, workerData } from 'node:worker_threads';
import { type DocumentFile, readDocumentFile } from './document-file.ts';
import { type Document, readDocument } from './read-document.ts';

const source = workerData as Document | DocumentFile;
parentPort?.postMessage('bytes' in source ? await readDocument(source) : await readDocumentFile(source), []);
