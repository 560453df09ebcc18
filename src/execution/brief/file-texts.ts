// Texts of documents that tools of runs request: read in a process of their own, and cached while an agent works with them.
import type { DocumentText } from '../../agent/port/services.ts';
import type { RunServices } from '../run-services.ts';
import type { DocumentTurns } from './document-turns.ts';

const MAX_KNOWN = 16;

/** Makes the service. Each text has at most 200,000 characters. */
export function makeFileTexts(turns: DocumentTurns): RunServices['read_document'] {
  /** By file and version, the least recently used first. */
  const known = new Map<string, DocumentText>();
  const keep = (name: string, text: DocumentText) => {
    known.delete(name);
    known.set(name, text);
    const oldest = known.keys().next();
    if (known.size > MAX_KNOWN && oldest.done !== true) known.delete(oldest.value);
  };
  return async (run, { root, path, version }) => {
    const name = JSON.stringify([root, path, version]);
    const find = async () => {
      const text = known.get(name);
      if (text !== undefined) keep(name, text);
      return text;
    };
    return turns.read({ root, path }, { find, keep: async (text) => keep(name, text) }, run);
  };
}
