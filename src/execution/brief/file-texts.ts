// Texts of documents that tools of runs request: read in a process of their own, and cached while an agent works with them.
import type { DocumentText } from '../../agent/port/services.ts';
import type { DocumentReader } from './document-reader.ts';
import type { RunServices } from '../run-services.ts';

const MAX_KNOWN = 16;

/** Makes the service. Each text has at most 200,000 characters. */
export function makeFileTexts(reader: Pick<DocumentReader, 'read'>): RunServices['read_document'] {
  /** By file and version, the least recently used first. */
  const known = new Map<string, DocumentText>();
  return async (_run, { root, path, version }) => {
    const name = JSON.stringify([root, path, version]);
    const read = known.get(name) ?? (await reader.read({ root, path }));
    if (read === null) return null;
    known.delete(name);
    known.set(name, read);
    const oldest = known.keys().next();
    if (known.size > MAX_KNOWN && oldest.done !== true) known.delete(oldest.value);
    return read;
  };
}
