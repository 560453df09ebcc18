// Every path of the daemon on one page: its method, its guard, and the shape of its errors.
import type { KeyCaller } from '../domain/user.ts';
import type { makeAdministration } from './admin.ts';
import { renderModels } from './chat-wire.ts';
import type { Conversations } from './conversation.ts';
import { type Exchange, idInPath } from './exchange.ts';
import { renderHistory } from './history-wire.ts';
import type { Operations } from '../operations/operations.ts';
import type { Readiness } from '../operations/status.ts';
import type { ErrorShape } from './render-error.ts';
import type { Reply } from './reply.ts';

/** A reply, or nothing when the handler has taken the response over for a stream. */
type Answer = Promise<Reply | undefined> | Reply;

/**
 * Who may pass: anyone; a caller with an API key; or an administrator (the operator behind the socket, or an
 * administrator's key of scope `admin`). The guard decides what the handler is given.
 */
type Guarded =
  | { readonly guard: 'none'; readonly handler: (exchange: Exchange) => Answer }
  | { readonly guard: 'key'; readonly handler: (exchange: Exchange, caller: KeyCaller) => Answer }
  | { readonly guard: 'admin'; readonly handler: (exchange: Exchange) => Answer };

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Route = Guarded & {
  readonly method: Method;
  readonly path: string;
  readonly shape: ErrorShape;
  /** Absent: no body is read. */
  readonly body?: 'required' | 'optional';
  /** Answers with an event stream, so HEAD has no meaning here (A7). */
  readonly sse?: true;
};

export interface RouteParts {
  readonly operations: Operations;
  readonly conversations: Conversations;
  readonly administration: ReturnType<typeof makeAdministration>;
  readonly readiness: () => Readiness;
}

/** The table of routes. */
export function makeRoutes({ operations, conversations, administration, readiness }: RouteParts): readonly Route[] {
  const bare = { guard: 'key', shape: 'bare' } as const;
  const chat = { guard: 'key', shape: 'chat' } as const;
  const admin = { guard: 'admin', shape: 'envelope' } as const;
  const open = { guard: 'none', shape: 'bare' } as const;
  const body = { body: 'required' } as const;
  const { messages, rejoin } = conversations;
  const a = administration;
  const { history, models, ready } = makeSimpleHandlers(operations, readiness);

  // biome-ignore format: a table reads best with one route a line
  return [
    { method: 'POST', path: '/openapi/v1/messages', ...bare, ...body, handler: messages },
    { method: 'POST', path: '/openapi/v1/chat/completions', ...chat, ...body, handler: conversations.chat },
    { method: 'GET', path: '/openapi/v1/runs/:id/stream', ...bare, sse: true, handler: rejoin },
    { method: 'GET', path: '/openapi/v1/sessions/:id/messages', ...bare, handler: history },
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
  ];
}

function makeSimpleHandlers(operations: Operations, readiness: () => Readiness) {
  return {
    history: async (exchange: Exchange, caller: KeyCaller): Promise<Reply> => {
      const found = await operations.listMessages(caller, idInPath(exchange, 'Session'));
      return { status: 200, body: renderHistory(found) };
    },
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
