// The endpoints of runs and of their queue, for administrators.
import { followHeaders } from '../conversations/headers.ts';
import { endpoints, idOf } from '../endpoint.ts';
import { journalEvent } from '../journal-event.ts';
import { listOf, pageQuery } from '../listing.ts';
import { followQuery } from '../shapes/query.ts';
import { runArtifacts } from './artifact.ts';
import { queue } from './queue.ts';
import { runExport } from './run-export.ts';
import { run, runQuery } from './run.ts';
import { stop } from './session.ts';
import { timeline } from './timeline.ts';

const params = { id: idOf('Run', 'runs') };
const stream = { query: followQuery, headers: followHeaders, events: journalEvent, sse: true } as const;

// biome-ignore format: a table reads best with one endpoint a line
export const runs = endpoints('admin', 'envelope', {
  artifacts: { route: 'GET /api/v1/runs/:id/artifacts', summary: 'List the files that a run added or changed', params, reply: runArtifacts },
  list: { route: 'GET /api/v1/runs', summary: 'List runs', operation: 'listRuns', query: runQuery, reply: listOf(run) },
  get: { route: 'GET /api/v1/runs/:id', summary: 'Read a run', operation: 'getRun', params, reply: run },
  timeline: { route: 'GET /api/v1/runs/:id/timeline', summary: 'Read where the time of a run went', params, reply: timeline },
  export: { route: 'GET /api/v1/runs/:id/export', summary: 'Read what the model was asked in a run, without secrets', params, reply: runExport },
  stream: { route: 'GET /api/v1/runs/:id/stream', summary: 'Follow the journal of a run', params, ...stream },
  stop: { route: 'POST /api/v1/runs/:id/stop', summary: 'Stop a run', operation: 'stopRun', params, reply: stop },
  queue: { route: 'GET /api/v1/queue', summary: 'List the runs that wait, and why each of them waits', operation: 'getQueue', query: pageQuery, reply: queue },
});
