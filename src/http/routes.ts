// Every path of the daemon, those of Office Mode, webhooks and publishing from pages of their own: its method, its guard, the shape of
// its errors, what it reads and what it replies.
import type { Clock } from '../domain/clock.ts';
import { ErrandError } from '../domain/errors.ts';
import type { Settings } from '../domain/settings.ts';
import { DEFINITION_NOUNS } from '../operations/capabilities/definitions.ts';
import { administrationRoutes } from './administration/routes.ts';
import type { Operations } from '../operations/operations.ts';
import type { Renderer } from '../rendering/renderer.ts';
import type { Readiness } from '../operations/status.ts';
import { connections } from '../wire/capabilities/connection.ts';
import { definitionCheck, definitionListOf, definitionOf } from '../wire/capabilities/definition.ts';
import { mcpServers, models } from '../wire/capabilities/model.ts';
import { chatStreamData, completion, models as ownModels } from '../wire/chat/completion.ts';
import { chatRequest } from '../wire/chat/request.ts';
import { conversationEvent } from '../wire/conversations/stream-event.ts';
import { followHeaders, rejoinHeaders, turnHeaders } from '../wire/conversations/headers.ts';
import { ids } from '../wire/found-id.ts';
import { journalEvent } from '../wire/journal-event.ts';
import { listOf, pageOf, pageQuery } from '../wire/listing.ts';
import { backgroundMessage, conversationReply } from '../wire/messages/message.ts';
import { messagesRequest } from '../wire/messages/request.ts';
import { messagesStreamEvent } from '../wire/messages/stream-event.ts';
import { keys } from '../wire/people/key.ts';
import { teams } from '../wire/people/team.ts';
import { grant, loginToken, tokens } from '../wire/people/token.ts';
import { users } from '../wire/people/user.ts';
import { followQuery } from '../wire/query.ts';
import { runArtifacts, sessionArtifacts } from '../wire/sessions/artifact.ts';
import { history } from '../wire/sessions/history.ts';
import { insight, insightChange, insightQuery } from '../wire/sessions/insight.ts';
import { scheduledTasks } from '../wire/schedules/scheduled-task.ts';
import { answer, question, questionQuery, sessionQuestionQuery, sessionQuestions } from '../wire/sessions/question.ts';
import { queue } from '../wire/sessions/queue.ts';
import { run, runQuery } from '../wire/sessions/run.ts';
import { runExport } from '../wire/sessions/run-export.ts';
import { timeline } from '../wire/sessions/timeline.ts';
import { deletion, ownSession, session, sessionCapabilities, sessionQuery, stop } from '../wire/sessions/session.ts';
import { health, openApiDocument, readiness as readinessShape } from '../wire/status.ts';
import { renderModels } from './conversations/chat-wire.ts';
import type { Conversations } from './conversations/conversation.ts';
import type { Exchange } from './frame/exchange.ts';
import type { KeyCaller } from '../domain/people/user.ts';
import { renderedJson } from './replies/json-pieces.ts';
import { ok } from './replies/reply.ts';
import { type Route, routesWith } from './frame/route.ts';
import { routesOf } from './frame/serve.ts';
import { backupRoutes } from './backups/routes.ts';
import { budgets } from '../wire/people/budget.ts';
import { makeFileHandler } from './files/signed-files.ts';
import { makeDefinitionHandlers } from './management/definitions.ts';
import { describeRoutes } from './openapi.ts';
import type { CountMisses } from './public/miss-limit.ts';
import { publicRoutes } from './public/routes.ts';
import { publishingRoutes } from './publishing/routes.ts';
import { VERSION } from '../version.ts';
import { makeTokenEndpoint, MAX_GRANT_BYTES } from './management/token.ts';
import type { ClientAddressOf } from './server/client-address.ts';
import { makeInsightHandlers } from './sessions/insights.ts';
import type { makeRunHandlers } from './sessions/runs.ts';
import { makeSessionHandlers } from './sessions/sessions.ts';
import { makeUserInputHandlers, MAX_ANSWER_BODY_BYTES } from './sessions/user-inputs.ts';

import { type OfficeRouteParts, officeRoutes } from './office/routes.ts';
import { shareRoutes } from './share/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

const ofKey = routesWith('key', 'bare');
const ofChat = routesWith('key', 'chat');
const ofAnyone = routesWith('none', 'bare');
const ofAdmin = routesWith('admin', 'envelope');
const ofUser = routesWith('user', 'envelope');

export interface RouteParts {
  readonly operations: Operations;
  readonly conversations: Conversations;
  readonly officeStreams: OfficeRouteParts['officeStreams'];
  readonly runs: ReturnType<typeof makeRunHandlers>;
  readonly readiness: () => Readiness;
  readonly starting: () => Promise<void> | null;
  readonly clientAddressOf: ClientAddressOf;
  readonly countMisses: CountMisses;
  readonly renderer: Pick<Renderer, 'render'>;
  readonly settings: () => Settings;
  readonly clock: Clock;
}

/** The table of routes. */
export function makeRoutes(parts: RouteParts): readonly Route[] {
  const routes: Route[] = [
    ...programRoutes(parts),
    ...managementRoutes(parts),
    ...backupRoutes(parts.operations),
    ...officeRoutes(parts),
    ...publishingRoutes(parts),
    ...publicRoutes(parts),
    ...shareRoutes(parts),
    ofAnyone('GET /openapi.json', 'This description of the interface', {
      reply: openApiDocument,
      handler: () => ok(renderedJson<object>(document())),
    }),
  ];
  // Made at the first request: it takes some milliseconds that a start need not have.
  const document = once(() => JSON.stringify(describeRoutes(routes, VERSION)));
  return routes;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** What programs with a key, and anybody, may ask. */
function programRoutes(parts: RouteParts): Route[] {
  const { operations, conversations, runs, clientAddressOf } = parts;
  const turn = { takesAttachments: true, headers: turnHeaders } as const;
  const stream = { query: followQuery, headers: rejoinHeaders, events: conversationEvent, sse: true } as const;
  const sessions = makeSessionHandlers(operations);
  const { ownModel, alive, ready } = makeSimpleHandlers(parts);
  const logIn = makeTokenEndpoint(operations, clientAddressOf);
  const file = makeFileHandler(operations, parts.clock);

  // biome-ignore format: a table reads best with one route a line
  return [
    ofAnyone('POST /openapi/v1/auth/token', 'Log in: exchange a password, an SSO token or an API key for a login token', { body: grant, maxBodyBytes: MAX_GRANT_BYTES, reply: loginToken, handler: logIn }),
    ofKey('POST /openapi/v1/messages', 'Send a turn in the Messages protocol: waited for, streamed, or in the background', { ...turn, body: messagesRequest, events: messagesStreamEvent, reply: conversationReply, statuses: [200, 202], handler: conversations.messages }),
    ofChat('POST /openapi/v1/chat/completions', 'Send a turn in the chat-completions protocol: waited for or streamed', { ...turn, body: chatRequest, events: chatStreamData, reply: completion, handler: conversations.chat }),
    ofKey('GET /openapi/v1/runs/:id', 'Look up a background run', { reply: backgroundMessage, isSmall: true, handler: conversations.poll }),
    ofKey('GET /openapi/v1/runs/:id/stream', 'Follow a run, in the protocol that began it', { ...stream, handler: conversations.rejoin }),
    ofKey('GET /openapi/v1/sessions', 'List the sessions of the key', { query: pageQuery, reply: pageOf(ownSession), handler: sessions.listOwn }),
    ofKey('GET /openapi/v1/sessions/:id/messages', 'Read the history of a session', { reply: history, handler: sessions.messages }),
    ofKey('GET /openapi/v1/sessions/:id/artifacts', 'List the files of a session', { reply: sessionArtifacts, handler: sessions.artifacts }),
    ofKey('GET /openapi/v1/runs/:id/artifacts', 'List the files that a run added or changed', { reply: runArtifacts, handler: runs.artifacts }),
    ofKey('GET /openapi/v1/sessions/:id/capability-config', 'Read what the agent of a session can use', { reply: sessionCapabilities, handler: sessions.capabilityConfig }),
    ofKey('POST /openapi/v1/sessions/:id/stop', 'Stop the runs of a session', { reply: stop, handler: sessions.stop }),
    ofKey('DELETE /openapi/v1/sessions/:id', 'Delete a session with its files', { reply: deletion, handler: sessions.remove }),
    ofChat('GET /openapi/v1/models', 'List the model of the key', { reply: ownModels, handler: ownModel }),

    ofAnyone('GET /files/:address/:name', 'Download a file at its signed address', { sendsFile: true, handler: file }),
    ofAnyone('GET /healthz', 'Whether the daemon answers at all', { reply: health, isSmall: true, handler: alive }),
    ofAnyone('GET /readyz', 'Whether the daemon takes new turns', { reply: readinessShape, isSmall: true, statuses: [200, 503], handler: ready }),
  ];
}

/** Runs and the queue. */
function runRoutes({ runs }: RouteParts): Route[] {
  const stream = { query: followQuery, headers: followHeaders, events: journalEvent, sse: true } as const;
  // biome-ignore format: a table reads best with one route a line
  return [
    ofAdmin('GET /api/v1/runs', 'List runs', { query: runQuery, reply: listOf(run), handler: runs.list }),
    ofAdmin('GET /api/v1/runs/:id', 'Read a run', { reply: run, handler: runs.get }),
    ofAdmin('GET /api/v1/runs/:id/timeline', 'Read where the time of a run went', { reply: timeline, handler: runs.timeline }),
    ofAdmin('GET /api/v1/runs/:id/export', 'Read what the model was asked in a run, without secrets', { reply: runExport, handler: runs.export }),
    ofAdmin('GET /api/v1/runs/:id/stream', 'Follow the journal of a run', { ...stream, handler: runs.stream }),
    ofAdmin('POST /api/v1/runs/:id/stop', 'Stop a run', { reply: stop, handler: runs.stop }),
    ofAdmin('GET /api/v1/queue', 'List the runs that wait, and why each of them waits', { query: pageQuery, reply: queue, handler: runs.queue }),
  ];
}

/** The management interface. */
function managementRoutes(parts: RouteParts): Route[] {
  const { operations, runs } = parts;
  const sessions = makeSessionHandlers(operations);

  // biome-ignore format: a table reads best with one route a line
  return [
    ...administrationRoutes(operations),
    ...routesOf(users, operations),
    ...routesOf(teams, operations),
    ...routesOf(keys, operations),
    ...routesOf(budgets, operations),
    ...definitionRoutes(operations),
    ...routesOf(models, operations),
    ...routesOf(mcpServers, operations),
    ...routesOf(connections, operations),
    ofAdmin('GET /api/v1/sessions', 'List sessions', { query: sessionQuery, reply: listOf(session), handler: sessions.list }),
    ofAdmin('GET /api/v1/sessions/:id', 'Read a session', { reply: session, handler: sessions.get }),
    ofAdmin('DELETE /api/v1/sessions/:id', 'Delete a session with its files', { reply: deletion, handler: sessions.remove }),
    ofAdmin('GET /api/v1/sessions/:id/messages', 'Read the history of a session', { reply: history, handler: sessions.messages }),
    ofAdmin('GET /api/v1/sessions/:id/artifacts', 'List the files of a session', { reply: sessionArtifacts, handler: sessions.artifacts }),
    ofAdmin('GET /api/v1/runs/:id/artifacts', 'List the files that a run added or changed', { reply: runArtifacts, handler: runs.artifacts }),
    ofAdmin('POST /api/v1/sessions/:id/stop', 'Stop the runs of a session', { reply: stop, handler: sessions.stop }),
    ...runRoutes(parts),
    ...routesOf(ids, operations),
    ...questionRoutes(parts),
    ...routesOf(scheduledTasks, operations),
    ...webhookRoutes(operations),
    ...routesOf(tokens, operations),
  ];
}

/** What agents ask and report: for the people themselves, and for the key of the session. */
function questionRoutes({ operations }: RouteParts): Route[] {
  const inputs = makeUserInputHandlers(operations);
  const insights = makeInsightHandlers(operations);
  const answers = { body: answer, maxBodyBytes: MAX_ANSWER_BODY_BYTES, reply: question, handler: inputs.answer };
  // biome-ignore format: a table reads best with one route a line
  return [
    ofKey('GET /openapi/v1/sessions/:id/user-inputs', 'List the questions of a session', { query: sessionQuestionQuery, reply: sessionQuestions, handler: inputs.listOfSession }),
    ofKey('POST /openapi/v1/user-inputs/:id/answer', 'Answer a question', answers),
    ofUser('GET /api/v1/user-inputs', 'List questions', { query: questionQuery, reply: listOf(question), handler: inputs.list }),
    ofUser('GET /api/v1/user-inputs/:id', 'Read a question', { reply: question, handler: inputs.get }),
    ofUser('POST /api/v1/user-inputs/:id/answer', 'Answer a question', answers),
    ofUser('POST /api/v1/user-inputs/:id/expire', 'Let a question expire', { reply: question, handler: inputs.expire }),
    ofUser('GET /api/v1/insights', 'List insights', { query: insightQuery, reply: listOf(insight), handler: insights.list }),
    ofUser('GET /api/v1/insights/:id', 'Read an insight', { reply: insight, handler: insights.get }),
    ofUser('PATCH /api/v1/insights/:id', 'Change the status of an insight', { body: insightChange, reply: insight, handler: insights.setStatus }),
  ];
}

/** What the config directory defines: `experts`, `expert-teams`, `skills`, `plugins`, `mcp-servers` and `connectors`. */
function definitionRoutes(operations: Operations): Route[] {
  return DEFINITION_NOUNS.flatMap((noun): Route[] => {
    const { list, get, check } = makeDefinitionHandlers(operations, noun);
    const words = noun === 'mcp-servers' ? 'MCP servers' : noun.replace('-', ' ');
    return [
      ofAdmin(`GET /api/v1/${noun}`, `List ${words}`, { reply: definitionListOf(noun), handler: list }),
      ofAdmin(`GET /api/v1/${noun}/:ref`, `Read one of the ${words}`, { reply: definitionOf(noun), handler: get }),
      ofAdmin(
        `POST /api/v1/definitions/${noun}/check`,
        `Read the files of ${words} now, and report what is wrong with them`,
        { reply: definitionCheck, handler: check },
      ),
    ];
  });
}

function makeSimpleHandlers({ operations, readiness, starting }: RouteParts) {
  return {
    ownModel: (_exchange: Exchange, caller: KeyCaller) =>
      ok(renderModels(operations.getModelName(caller), caller.key.createdAt)),
    alive: async () => {
      await starting();
      if (starting() !== null) throw new ErrandError('unavailable', 'The daemon stops before it has started.');
      return ok({ status: 'ok' } as const);
    },
    ready: () => {
      const { ready, parts } = readiness();
      const body = readinessShape.render({ ready, parts });
      return ready ? ok(body) : { status: 503, headers: { 'Retry-After': '5' }, body };
    },
  };
}
