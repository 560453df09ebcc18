// The thread of a process that reads one document, so that a hostile one can be ended with it.
import { parentPort, workerData } from 'node:worker_threads';
import type { ProcessTask } from '../../workers/in-process.ts';
import { type DocumentFile, readDocumentFile } from './document-file.ts';
import { readDocument } from './read-document.ts';

/** A document in a folder, or what is known of one beside its bytes. */
export type DocumentTask = DocumentFile | { readonly name: string; readonly mimeType: string };

const { task, bytes } = workerData as ProcessTask<DocumentTask>;
parentPort?.postMessage('root' in task ? await readDocumentFile(task) : await readDocument({ ...task, bytes }), []);
