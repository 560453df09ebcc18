// A process that reads one document, so that a hostile one can be ended with it.
import { doTask } from '../../workers/do-task.ts';
import { type DocumentFile, readDocumentFile } from './document-file.ts';
import { readDocument } from './read-document.ts';

/** A document in a folder, or what is known of one beside its bytes. */
export type DocumentTask = DocumentFile | { readonly name: string; readonly mimeType: string };

await doTask(async (task: DocumentTask, bytes) =>
  'root' in task ? readDocumentFile(task) : readDocument({ ...task, bytes }),
);
