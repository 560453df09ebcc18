// Every path of the daemon on one page: its method, its guard, and the shape of its errors.
import type { Clock } from '../domain/clock.ts';
import type { KeyCaller } from '../domain/user.ts';
import type { makeAdministration } from './management/admin.ts';
import { makeCheckHandlers } from './management/check-handlers.ts';
import { renderModels } from './conversations/chat-wire.ts';
import type { ClientAddressOf } from './server/client-address.ts';
import { makeConnectionHandlers } from './management/connections.ts';
import type { Conversations } from './conversations/conversation.ts';
import { makeDefinitionHandlers } from './management/definitions.ts';
import type { Exchange } from './frame/exchange.ts';
import { makeFileHandler } from './sessions/files.ts';
import { makeInsightHandlers } from './sessions/insights.ts';
import { DEFINITION_NOUNS } from '../operations/capabilities/definitions.ts';
import type { Operations } from '../operations/operations.ts';
import type { Readiness } from '../operations/status.ts';
import type { ErrorShape } from '../wire/error.ts';
import type { CallerOf, Guard } from './frame/guards.ts';
import { ok, type Reply } from './frame/reply.ts';
import type { makeRunHandlers } from './sessions/runs.ts';
import { makeSessionHandlers } from './sessions/sessions.ts';
import { makeTokenEndpoint, MAX_GRANT_BYTES } from './management/token.ts';
import { makeUserInputHandlers, MAX_ANSWER_BODY_BYTES } from './sessions/user-inputs.ts';

/** A reply, or nothing when the handler has taken the response over for a stream. */
type Answer = Promise<Reply | undefined> | Reply;

/** Who may pass: anyone, or whom the guard admits. The guard decides what the handler is given. */
type Guarded =
  | { readonly guard: 'none'; readonly handler: (exchange: Exchange) => Answer }
  | {
      [G in Guard]: { readonly guard: G; readonly handler: (exchange: Exchange, caller: CallerOf[G]) => Answer };
    }[Guard];

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type Route = Guarded & {
  readonly method: Method;
  readonly path: string;
  /** Of its errors; in the shape `envelope` its successes have one too. */
  readonly shape: ErrorShape;
  /** Absent: no body is read. */
  readonly body?: 'required' | 'optional';
  /** Its body may have attachments, and so be as large as they are (A5); others have 1 MB. */
  readonly takesAttachments?: true;
  /** A smaller limit than that. */
  readonly maxBodyBytes?: number;
  /** Answers with an event stream, so HEAD has no meaning here (A7). */
  readonly sse?: true;
};

export interface RouteParts {
  readonly operations: Operations;
  readonly conversations: Conversations;
  readonly administration: ReturnType<typeof makeAdministration>;
  readonly runs: ReturnType<typeof makeRunHandlers>;
  readonly readiness: () => Readiness;
  readonly clientAddressOf: ClientAddressOf;
  readonly clock: Clock;
}

/** The table of routes. */
export function makeRoutes(parts: RouteParts): readonly Route[] {
  return [...programRoutes(parts), ...managementRoutes(parts)];
}

/** What programs with a key, and anybody, may ask. */
function programRoutes(parts: RouteParts): Route[] {
  const { operations, conversations, runs, readiness, clientAddressOf } = parts;
  const bare = { guard: 'key', shape: 'bare' } as const;
  const chat = { guard: 'key', shape: 'chat' } as const;
  const open = { guard: 'none', shape: 'bare' } as const;
  const body = { body: 'required' } as const;
  const turn = { body: 'required', takesAttachments: true } as const;
  const { messages, rejoin } = conversations;
  const sessions = makeSessionHandlers(operations);
  const { models, ready } = makeSimpleHandlers(operations, readiness);

  // biome-ignore format: a table reads best with one route a line
  return [
    { method: 'POST', path: '/openapi/v1/auth/token', ...open, ...body, maxBodyBytes: MAX_GRANT_BYTES, handler: makeTokenEndpoint(operations, clientAddressOf) },
    { method: 'POST', path: '/openapi/v1/messages', ...bare, ...turn, handler: messages },
    { method: 'POST', path: '/openapi/v1/chat/completions', ...chat, ...turn, handler: conversations.chat },
    { method: 'GET', path: '/openapi/v1/runs/:id', ...bare, handler: conversations.poll },
    { method: 'GET', path: '/openapi/v1/runs/:id/stream', ...bare, sse: true, handler: rejoin },
    { method: 'GET', path: '/openapi/v1/sessions', ...bare, handler: sessions.listOwn },
    { method: 'GET', path: '/openapi/v1/sessions/:id/messages', ...bare, handler: sessions.messages },
    { method: 'GET', path: '/openapi/v1/sessions/:id/artifacts', ...bare, handler: sessions.artifacts },
    { method: 'GET', path: '/openapi/v1/runs/:id/artifacts', ...bare, handler: runs.artifacts },
    { method: 'GET', path: '/openapi/v1/sessions/:id/capability-config', ...bare, handler: sessions.capabilityConfig },
    { method: 'POST', path: '/openapi/v1/sessions/:id/stop', ...bare, handler: sessions.stop },
    { method: 'DELETE', path: '/openapi/v1/sessions/:id', ...bare, handler: sessions.remove },
    { method: 'GET', path: '/openapi/v1/models', ...chat, handler: models },

    { method: 'GET', path: '/files/:address/:name', ...open, handler: makeFileHandler(operations, parts.clock) },
    { method: 'GET', path: '/healthz', ...open, handler: () => ok({ status: 'ok' }) },
    { method: 'GET', path: '/readyz', ...open, handler: ready },
  ];
}

/** The management interface. */
function managementRoutes(parts: RouteParts): Route[] {
  const { operations, administration: a, runs } = parts;
  const admin = { guard: 'admin', shape: 'envelope' } as const;
  const body = { body: 'required' } as const;
  const connections = makeConnectionHandlers(operations);
  const checks = makeCheckHandlers(operations);
  const sessions = makeSessionHandlers(operations);

  // biome-ignore format: a table reads best with one route a line
  return [
    { method: 'GET', path: '/api/v1/status', ...admin, handler: a.status },
    { method: 'GET', path: '/api/v1/configuration', ...admin, handler: a.configuration },
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
    { method: 'PATCH', path: '/api/v1/keys/:ref', ...admin, ...body, handler: a.changeKey },
    { method: 'DELETE', path: '/api/v1/keys/:ref', ...admin, handler: a.revokeKey },
    ...definitionRoutes(operations),
    { method: 'GET', path: '/api/v1/models', ...admin, handler: checks.listModels },
    { method: 'POST', path: '/api/v1/models/:ref/check', ...admin, body: 'optional', handler: checks.checkModel },
    { method: 'POST', path: '/api/v1/mcp-servers/:ref/check', ...admin, handler: checks.checkMcpServer },
    { method: 'GET', path: '/api/v1/connections', ...admin, handler: connections.list },
    { method: 'POST', path: '/api/v1/connections', ...admin, ...body, handler: connections.create },
    { method: 'DELETE', path: '/api/v1/connections/:id', ...admin, handler: connections.revoke },
    { method: 'POST', path: '/api/v1/connectors/:ref/check', ...admin, handler: connections.checkConnector },
    { method: 'POST', path: '/api/v1/connections/:id/check', ...admin, handler: connections.check },
    { method: 'GET', path: '/api/v1/sessions', ...admin, handler: sessions.list },
    { method: 'GET', path: '/api/v1/sessions/:id', ...admin, handler: sessions.get },
    { method: 'DELETE', path: '/api/v1/sessions/:id', ...admin, handler: sessions.remove },
    { method: 'GET', path: '/api/v1/sessions/:id/messages', ...admin, handler: sessions.messages },
    { method: 'GET', path: '/api/v1/sessions/:id/artifacts', ...admin, handler: sessions.artifacts },
    { method: 'GET', path: '/api/v1/runs/:id/artifacts', ...admin, handler: runs.artifacts },
    { method: 'POST', path: '/api/v1/sessions/:id/stop', ...admin, handler: sessions.stop },
    { method: 'GET', path: '/api/v1/runs', ...admin, handler: runs.list },
    { method: 'GET', path: '/api/v1/runs/:id', ...admin, handler: runs.get },
    { method: 'GET', path: '/api/v1/runs/:id/stream', ...admin, sse: true, handler: runs.stream },
    { method: 'POST', path: '/api/v1/runs/:id/stop', ...admin, handler: runs.stop },
    { method: 'GET', path: '/api/v1/queue', ...admin, handler: runs.queue },
    ...questionRoutes(parts),
    { method: 'GET', path: '/api/v1/tokens/keys', ...admin, handler: a.listSigningKeys },
    { method: 'POST', path: '/api/v1/tokens/rotate', ...admin, handler: a.rotateSigningKey },
    { method: 'POST', path: '/api/v1/tokens/revoke-all', ...admin, handler: a.revokeAllTokens },
  ];
}

/** What agents ask and report: for the people themselves, and for the key of the session. */
function questionRoutes({ operations }: RouteParts): Route[] {
  const bare = { guard: 'key', shape: 'bare' } as const;
  const user = { guard: 'user', shape: 'envelope' } as const;
  const answers = { body: 'required', maxBodyBytes: MAX_ANSWER_BODY_BYTES } as const;
  const inputs = makeUserInputHandlers(operations);
  const insights = makeInsightHandlers(operations);
  // biome-ignore format: a table reads best with one route a line
  return [
    { method: 'GET', path: '/openapi/v1/sessions/:id/user-inputs', ...bare, handler: inputs.listOfSession },
    { method: 'POST', path: '/openapi/v1/user-inputs/:id/answer', ...bare, ...answers, handler: inputs.answer },
    { method: 'GET', path: '/api/v1/user-inputs', ...user, handler: inputs.list },
    { method: 'GET', path: '/api/v1/user-inputs/:id', ...user, handler: inputs.get },
    { method: 'POST', path: '/api/v1/user-inputs/:id/answer', ...user, ...answers, handler: inputs.answer },
    { method: 'POST', path: '/api/v1/user-inputs/:id/expire', ...user, handler: inputs.expire },
    { method: 'GET', path: '/api/v1/insights', ...user, handler: insights.list },
    { method: 'GET', path: '/api/v1/insights/:id', ...user, handler: insights.get },
    { method: 'PATCH', path: '/api/v1/insights/:id', ...user, body: 'required', handler: insights.setStatus },
  ];
}

/** What the config directory defines: `experts`, `expert-teams`, `skills`, `plugins`, `mcp-servers` and `connectors`. */
function definitionRoutes(operations: Operations): Route[] {
  const admin = { guard: 'admin', shape: 'envelope' } as const;
  return DEFINITION_NOUNS.flatMap((noun): Route[] => {
    const { list, get, check } = makeDefinitionHandlers(operations, noun);
    return [
      { method: 'GET', path: `/api/v1/${noun}`, ...admin, handler: list },
      { method: 'GET', path: `/api/v1/${noun}/:ref`, ...admin, handler: get },
      { method: 'POST', path: `/api/v1/definitions/${noun}/check`, ...admin, handler: check },
    ];
  });
}

function makeSimpleHandlers(operations: Operations, readiness: () => Readiness) {
  return {
    models: (_exchange: Exchange, caller: KeyCaller): Reply => {
      return ok(renderModels(operations.getModelName(caller), caller.key.createdAt));
    },
    ready: (): Reply => {
      const { ready, parts } = readiness();
      const body = { ready, parts: parts.map(({ name, state, detail }) => ({ name, state, detail })) };
      return ready ? ok(body) : { status: 503, headers: { 'Retry-After': '5' }, body };
    },
  };
}
