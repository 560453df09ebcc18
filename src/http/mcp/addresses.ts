// Addresses of what `resources/read` reads.

export const TEMPLATES = [
  {
    uriTemplate: 'errand://sessions/{session_id}/files{/path*}',
    name: 'file',
    title: 'File of a session',
    description: 'A file of a session, as it is now.',
  },
  {
    uriTemplate: 'errand://runs/{run_id}/answer',
    name: 'answer',
    title: 'Answer of a task',
    description: 'The whole answer of a task that is over.',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: 'errand://runs/{run_id}/result',
    name: 'result',
    title: 'Result of a task',
    description: 'The JSON of a task with an output schema.',
    mimeType: 'application/json',
  },
] as const;

/** What an address names. */
export type Resource =
  | { readonly kind: 'file'; readonly sessionId: string; readonly path: string }
  | { readonly kind: 'answer' | 'result'; readonly runId: string };

export const addressOfFile = (sessionId: string, path: string) =>
  `errand://sessions/${sessionId}/files${path.split('/').map(encodeURIComponent).join('/')}`;

export const addressOfText = (kind: 'answer' | 'result', runId: string) => `errand://runs/${runId}/${kind}`;

const FILE = /^errand:\/\/sessions\/([\da-f-]{36})\/files(\/.+)$/i;
const TEXT = /^errand:\/\/runs\/([\da-f-]{36})\/(answer|result)$/i;

/** What an address names; undefined for any other text. */
export function resourceAt(uri: string): Resource | undefined {
  const [, runId, kind] = TEXT.exec(uri) ?? [];
  if (runId !== undefined) return { kind: kind as 'answer' | 'result', runId };
  const [, sessionId, path] = FILE.exec(uri) ?? [];
  if (sessionId === undefined) return undefined;
  try {
    return { kind: 'file', sessionId, path: decodeURIComponent(path!) };
  } catch {
    return undefined;
  }
}
