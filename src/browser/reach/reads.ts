// What this page reads of the daemon, with the addresses of the office.
import { followOffice } from '../../client/office-stream.ts';
import { queryOf } from '../../client/transport/query.ts';
import type { Reads } from '../../tui/feed/reads.ts';
import type { Ask } from './ask.ts';
import type { Credential } from './credential.ts';
import { streamOpener } from './stream.ts';

export function makeReads(root: string, ask: Ask, credential: Credential): Reads {
  const of = (id: string, path: string) => `sessions/${encodeURIComponent(id)}/${path}`;
  const open = (path: string) => streamOpener(`${root}/api/${path}`, credential);
  return {
    office: {
      snapshot: (query) => ask('snapshot', query),
      liveRuns: (query) => ask('live-runs', query),
      lastHour: () => ask('last-hour'),
      events: (id, query) => ask(of(id, 'stream-events'), query),
      rounds: (id, query) => ask(of(id, 'run-rounds'), query),
      messages: (id, query) => ask(of(id, 'messages-with-files'), query),
      files: (id) => ask(of(id, 'workspace/files')),
      contextUsage: (id) => ask(of(id, 'context-usage')),
      runs: (id, query) => ask(`office-runs/session/${encodeURIComponent(id)}`, query),
      summary: (id) => ask(of(id, 'summary')),
      follow: (options = {}) => followOffice(open('stream'), options),
      followSession: (id, { replay, runId, ...options } = {}) => {
        const path =
          runId === undefined
            ? `${of(id, 'stream')}${queryOf({ replay })}`
            : `${of(id, 'run-events/stream')}${queryOf({ run_id: runId })}`;
        return followOffice(open(path), options);
      },
    },
    queue: (limit) => ask('queue', { limit }),
    budgets: { list: (query = {}) => ask('budgets', query as Record<string, string | number>) },
  };
}
