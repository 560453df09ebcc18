// A document in a folder of a run. It is opened where it is read, so that its bytes pass through no process but that one.
import { basename } from 'node:path';
import { openFileBeneath } from '../../disk/open-beneath.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { DocumentText } from '../port/services.ts';
import { MAX_DOCUMENT_BYTES, readDocument, TOO_LARGE } from './read-document.ts';

/** A file beneath a folder. Links are not followed. */
export interface DocumentFile {
  readonly root: string;
  readonly path: string;
}

/** The text of the document, or why it has none. Never throws for a damaged or missing document. */
export async function readDocumentFile({ root, path }: DocumentFile): Promise<DocumentText> {
  try {
    await using file = await openFileBeneath(root, path);
    const { size } = await file.stat();
    if (size > MAX_DOCUMENT_BYTES) return TOO_LARGE;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0);
    return await readDocument({ bytes: buffer.subarray(0, bytesRead), name: basename(path), mimeType: '' });
  } catch (error) {
    if (error instanceof ErrandError) return { fault: `could not be read: ${error.message}` };
    throw error;
  }
}
