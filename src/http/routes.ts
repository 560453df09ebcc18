// Every path of the daemon on one page: its method, its guard, and the shape of its errors.
import type { Caller, KeyCaller } from '../domain/user.ts';
import type { makeAdministration } from './admin.ts';
import { renderModels } from './chat-wire.ts';
import type { Conversations } from './conversation.ts';
import type { Exchange } from './exchange.ts';
import type { Operations } from '../operations/operations.ts';
import type { Readiness } from '../operations/status.ts';
import type { ErrorShape } from './render-error.ts';
import type { makeOverviewHandlers } from './overview.ts';
import type { Reply } from './reply.ts';
import { makeSessionHandlers } from './sessions.ts';
import { makeTokenEndpoint, MAX_GRANT_BYTES } from './token.ts';

/** A reply, or nothing when the handler has taken the response over for a stream. */
type Answer = Promise<Reply | undefined> | Reply;

/**
 * Who may pass: anyone; a caller with an API key; or an administrator (the operator behind the socket, an
 * administrator's key of scope `admin`, or their login token). The guard decides what the handler is given.
 */
type Guarded =
  | { readonly guard: 'none'; readonly handler: (exchange: Exchange) => Answer }
  | { readonly guard: 'key'; readonly handler: (exchange: Exchange, caller: KeyCaller) => Answer }
  | { readonly guard: 'admin'; readonly handler: (exchange: Exchange, caller: Caller) => Answer };

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Route = Guarded & {
  readonly method: Method;
  readonly path: string;
  readonly shape: ErrorShape;
  /** Absent: no body is read. */
  readonly body?: 'required' | 'optional';
  /** A smaller limit than that of all bodies (A5). */
  readonly maxBodyBytes?: number;
  /** Answers with an event stream, so HEAD has no meaning here (A7). */
  readonly sse?: true;
};

export interface RouteParts {
  readonly operations: Operations;
  readonly conversations: Conversations;
  readonly administration: ReturnType<typeof makeAdministration>;
  readonly overview: ReturnType<typeof makeOverviewHandlers>;
  readonly readiness: () => Readiness;
}

/** The table of routes. */
export function makeRoutes(parts: RouteParts): readonly Route[] {
  const { operations, conversations, administration, overview: o, readiness } = parts;
  const bare = { guard: 'key', shape: 'bare' } as const;
  const chat = { guard: 'key', shape: 'chat' } as const;
  const admin = { guard: 'admin', shape: 'envelope' } as const;
  const open = { guard: 'none', shape: 'bare' } as const;
  const body = { body: 'required' } as const;
  const { messages, rejoin } = conversations;
  const a = administration;
  const sessions = makeSessionHandlers(operations);
  const { models, ready } = makeSimpleHandlers(operations, readiness);

  // biome-ignore format: a table reads best with one route a line
  return [
    { method: 'POST', path: '/openapi/v1/auth/token', ...open, ...body, maxBodyBytes: MAX_GRANT_BYTES, handler: makeTokenEndpoint(operations) },
    { method: 'POST', path: '/openapi/v1/messages', ...bare, ...body, handler: messages },
    { method: 'POST', path: '/openapi/v1/chat/completions', ...chat, ...body, handler: conversations.chat },
    { method: 'GET', path: '/openapi/v1/runs/:id', ...bare, handler: conversations.poll },
    { method: 'GET', path: '/openapi/v1/runs/:id/stream', ...bare, sse: true, handler: rejoin },
    { method: 'GET', path: '/openapi/v1/sessions', ...bare, handler: sessions.list },
    { method: 'GET', path: '/openapi/v1/sessions/:id/messages', ...bare, handler: sessions.messages },
    { method: 'GET', path: '/openapi/v1/sessions/:id/capability-config', ...bare, handler: sessions.capabilityConfig },
    { method: 'POST', path: '/openapi/v1/sessions/:id/stop', ...bare, handler: sessions.stop },
    { method: 'DELETE', path: '/openapi/v1/sessions/:id', ...bare, handler: sessions.remove },
    { method: 'GET', path: '/openapi/v1/models', ...chat, handler: models },

    { method: 'GET', path: '/healthz', ...open, handler: () => ({ status: 200, body: { status: 'ok' } }) },
    { method: 'GET', path: '/readyz', ...open, handler: ready },

    { method: 'GET', path: '/api/v1/status', ...admin, handler: a.status },
    { method: 'GET', path: '/api/v1/users', ...admin, handler: a.listUsers },
    { method: 'POST', path: '/api/v1/users', ...admin, ...body, handler: a.createUser },
    { method: 'GET', path: '/api/v1/users/:ref', ...admin, handler: a.getUser },
    { method: 'PATCH', path: '/api/v1/users/:ref', ...admin, ...body, handler: a.changeUser },
    { method: 'PUT', path: '/api/v1/users/:ref/password', ...admin, body: 'optional', handler: a.setPassword },
    { method: 'GET', path: '/api/v1/teams', ...admin, handler: a.listTeams },
    { method: 'POST', path: '/api/v1/teams', ...admin, ...body, handler: a.createTeam },
    { method: 'PATCH', path: '/api/v1/teams/:ref', ...admin, ...body, handler: a.changeTeam },
    { method: 'GET', path: '/api/v1/keys', ...admin, handler: a.listKeys },
    { method: 'POST', path: '/api/v1/keys', ...admin, ...body, handler: a.createKey },
    { method: 'GET', path: '/api/v1/keys/:ref', ...admin, handler: a.getKey },
    { method: 'DELETE', path: '/api/v1/keys/:ref', ...admin, handler: a.revokeKey },
    { method: 'GET', path: '/api/v1/sessions', ...admin, handler: o.listSessions },
    { method: 'GET', path: '/api/v1/sessions/:id', ...admin, handler: o.getSession },
    { method: 'DELETE', path: '/api/v1/sessions/:id', ...admin, handler: o.deleteSession },
    { method: 'GET', path: '/api/v1/sessions/:id/messages', ...admin, handler: o.messages },
    { method: 'POST', path: '/api/v1/sessions/:id/stop', ...admin, handler: o.stopSession },
    { method: 'GET', path: '/api/v1/runs', ...admin, handler: o.listRuns },
    { method: 'GET', path: '/api/v1/runs/:id', ...admin, handler: o.getRun },
    { method: 'GET', path: '/api/v1/runs/:id/stream', ...admin, sse: true, handler: o.stream },
    { method: 'POST', path: '/api/v1/runs/:id/stop', ...admin, handler: o.stopRun },
    { method: 'GET', path: '/api/v1/queue', ...admin, handler: o.queue },
    { method: 'GET', path: '/api/v1/tokens/keys', ...admin, handler: a.listSigningKeys },
    { method: 'POST', path: '/api/v1/tokens/rotate', ...admin, handler: a.rotateSigningKey },
    { method: 'POST', path: '/api/v1/tokens/revoke-all', ...admin, handler: a.revokeAllTokens },
  ];
}

function makeSimpleHandlers(operations: Operations, readiness: () => Readiness) {
  return {
    models: (_exchange: Exchange, caller: KeyCaller): Reply => {
      return { status: 200, body: renderModels(operations.modelNameOf(caller), caller.key.createdAt) };
    },
    ready: (): Reply => {
      const { ready, parts } = readiness();
      const body = { ready, parts: parts.map(({ name, state, detail }) => ({ name, state, detail })) };
      return ready ? { status: 200, body } : { status: 503, headers: { 'Retry-After': '5' }, body };
    },
  };
}
