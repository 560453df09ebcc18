// Sessions: as the key of a session reads them, and as the management interface returns them for any user (§2.6,
// §2.10-2.12).
import { FORKED_WORKSPACES } from '../../domain/sessions/continued/fork.ts';
import { type Session, SESSION_KINDS, SESSION_STATUSES } from '../../domain/sessions/session.ts';
import { STOP_CAUSES, STOP_STATES } from '../../domain/sessions/stop.ts';
import { capabilityConfig } from '../capabilities/capability.ts';
import { object } from '../shapes/composites.ts';
import { endpoints, idOf } from '../endpoint.ts';
import { listOf, pageFields } from '../listing.ts';
import { called, made, record, request } from '../shapes/record.ts';
import { boolean, constant, integer, oneOf, string, time, uuid } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse, refersTo } from '../shapes/shape.ts';
import { sessionArtifacts } from './artifact.ts';
import { history } from './history.ts';

const fork = record({ sessionId: uuid, runId: uuid });

/** Whose conversation a session begins with, and the last run that it has of it; null unless it is a fork (M2). */
const origin = made(nullable(fork), ({ originSession, originRun }: Pick<Session, 'originSession' | 'originRun'>) =>
  originSession === null || originRun === null ? null : { sessionId: originSession, runId: originRun },
);

/** A key's own session. */
export const ownSession = named(
  'OwnSession',
  record({
    id: called('session_id', uuid),
    title: string,
    status: oneOf(SESSION_STATUSES),
    createdAt: time,
    updatedAt: time,
  }),
);

/** Where to fork a session: after which of its runs; after the newest that has ended when absent. */
const newFork = request({ runId: orElse(refersTo('runs', uuid), null) });

/** A fork. `workspace`: whether its files are those that the session had after the run, or those that it has now. */
const forked = named('Fork', record({ ...ownSession.fields, origin, workspace: oneOf(FORKED_WORKSPACES) }));
export type ForkWire = JsonOf<typeof forked>;

/** What forks a session. */
export const forking = {
  operation: 'forkSession',
  body: newFork,
  bodyIsOptional: true,
  reply: forked,
  statuses: [201],
} as const;

const stopped = record({
  cause: called('termination_reason', oneOf(STOP_CAUSES)),
  requestedAt: time,
  confirmedAt: nullable(time),
});

/** A session of anybody. `confirmed_at` is null while an executor may still be at work. */
const session = named(
  'Session',
  record({
    id: called('session_id', uuid),
    title: string,
    status: oneOf(SESSION_STATUSES),
    kind: oneOf(SESSION_KINDS),
    userId: uuid,
    username: string,
    keyId: nullable(string),
    projectId: nullable(uuid),
    stop: nullable(stopped),
    origin,
    createdAt: time,
    updatedAt: time,
  }),
);
export type SessionWire = JsonOf<typeof session>;

/** What to list of sessions. `user` is a name or an id, `key` a public id. */
const sessionQuery = request({
  user: orElse(refersTo('users', string), null),
  key: orElse(string, null),
  ...pageFields,
});

/** What a stop did (§2.11). */
export const stop = named(
  'Stop',
  record({
    sessionId: uuid,
    status: oneOf(SESSION_STATUSES),
    stopState: oneOf(STOP_STATES),
    cause: called('termination_reason', oneOf(STOP_CAUSES)),
    cancelledRuns: integer({ from: 0 }),
    expiredQuestions: called('expired_user_input_requests', integer({ from: 0 })),
    executorCancelled: boolean,
  }),
);
export type StopWire = JsonOf<typeof stop>;

/** What a delete did (§2.12). */
export const deletion = named(
  'Deletion',
  record({
    id: made(uuid, (id: string) => id),
    cleanup: made(object({ scheduled: constant(true) }), () => ({ scheduled: true as const })),
  }),
);

/** What the agent of a session may use (§2.10). */
export const sessionCapabilities = named(
  'SessionCapabilities',
  record({ sessionId: uuid, config: called('capability_config', capabilityConfig) }),
);

const params = { id: idOf('Session', 'sessions') };

/** The sessions of all, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const sessions = endpoints('admin', 'envelope', {
  list: { route: 'GET /api/v1/sessions', summary: 'List sessions', operation: 'listSessions', query: sessionQuery, reply: listOf(session) },
  get: { route: 'GET /api/v1/sessions/:id', summary: 'Read a session', operation: 'getSession', params, reply: session },
  remove: { route: 'DELETE /api/v1/sessions/:id', summary: 'Delete a session with its files', operation: 'deleteSession', params, reply: deletion },
  messages: { route: 'GET /api/v1/sessions/:id/messages', summary: 'Read the history of a session', params, reply: history },
  artifacts: { route: 'GET /api/v1/sessions/:id/artifacts', summary: 'List the files of a session', params, reply: sessionArtifacts },
  stop: { route: 'POST /api/v1/sessions/:id/stop', summary: 'Stop the runs of a session', operation: 'stopSession', params, reply: stop },
  fork: { route: 'POST /api/v1/sessions/:id/fork', summary: 'Open a session that begins with the conversation of another one', params, ...forking },
});
