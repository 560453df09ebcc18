// Every path of the daemon, those of Office Mode, webhooks and publishing from pages of their own: its method, its guard, the shape of
// its errors, what it reads and what it replies.
import type { Clock } from '../domain/clock.ts';
import { ErrandError, notFound } from '../domain/errors.ts';
import type { Settings } from '../domain/settings.ts';
import { installation } from '../wire/installation.ts';
import { audit } from '../wire/people/audit.ts';
import { retention } from '../wire/retention.ts';
import type { Operations } from '../operations/operations.ts';
import type { Renderer } from '../rendering/renderer.ts';
import type { Readiness } from '../operations/status.ts';
import { connections } from '../wire/capabilities/connection.ts';
import { DEFINITION_NOUNS, definitionsOf } from '../wire/capabilities/definition.ts';
import { mcpServers, models } from '../wire/capabilities/model.ts';
import { ids } from '../wire/found-id.ts';
import { once } from '../wire/shapes/composites.ts';
import { nodes } from '../wire/nodes.ts';
import { programs } from '../wire/programs.ts';
import { keys } from '../wire/people/key.ts';
import { teams } from '../wire/people/team.ts';
import { tokens } from '../wire/people/token.ts';
import { users } from '../wire/people/user.ts';
import { insights } from '../wire/sessions/insight.ts';
import { scheduledTasks } from '../wire/schedules/scheduled-task.ts';
import { questions } from '../wire/sessions/question.ts';
import { runs } from '../wire/sessions/runs.ts';
import { sessions } from '../wire/sessions/session.ts';
import { description, frontPage, readiness as readinessShape } from '../wire/status.ts';
import { renderModel, renderModels } from './conversations/chat-wire.ts';
import type { Conversations } from './conversations/conversation.ts';
import type { Exchange } from './frame/exchange.ts';
import type { KeyCaller } from '../domain/people/user.ts';
import { renderedJson } from './replies/json-pieces.ts';
import { ok } from './replies/reply.ts';
import type { Route } from './frame/route.ts';
import { routesOf } from './frame/serve.ts';
import { backups } from '../wire/backups/backup.ts';
import { makeBackupHandlers } from './backups/backups.ts';
import { budgets } from '../wire/people/budget.ts';
import { makeFileHandler } from './files/signed-files.ts';
import { makeDefinitionHandlers } from './management/definitions.ts';
import { describeRoutes } from './openapi.ts';
import type { CountMisses } from './public/miss-limit.ts';
import { publishes } from '../wire/publishing/page.ts';
import { publicPages, sharePages } from '../wire/publishing/public.ts';
import { shares } from '../wire/publishing/share.ts';
import type { makeMcpHandlers } from './mcp/handler.ts';
import { mcp } from '../wire/mcp/endpoint.ts';
import { makeContentHandlers } from './public/contents.ts';
import { makeFrontPage } from './public/front-page.ts';
import { makePublicPageHandlers } from './public/pages.ts';
import { VERSION } from '../version.ts';
import { makeTokenEndpoint } from './management/token.ts';
import type { ClientAddressOf } from './server/client-address.ts';
import type { makeResponseHandlers } from './conversations/responses.ts';
import type { makeRunHandlers } from './sessions/runs.ts';
import { makeQuestionsOfSession } from './sessions/questions.ts';
import { makeSessionHandlers } from './sessions/sessions.ts';

import { officeLogins, officePages, officePlaces, plainOffice } from '../wire/office/browser.ts';
import { office } from '../wire/office/office.ts';
import { makeOfficeSessionHandlers } from './office/sessions.ts';
import type { makeOfficeStreams } from './office/streams.ts';
import { makeAssets } from './office/web/assets.ts';
import { makeOfficeLogins } from './office/web/log-in.ts';
import { mountedForBrowsers } from './office/web/mount.ts';
import { makePlainFloor } from './office/web/plain.ts';
import { makeShell } from './office/web/shell.ts';
import { makeShareHandlers } from './share/handlers.ts';
import { sendStaticFile } from './share/static-files.ts';
import { deliveries } from '../wire/webhooks/delivery.ts';
import { webhookEvents } from '../wire/webhooks/event.ts';
import { webhooks } from '../wire/webhooks/webhook.ts';
import { makeListDeliveries, makeListen } from './webhooks/handlers.ts';

export interface RouteParts {
  readonly operations: Operations;
  readonly conversations: Conversations;
  readonly officeStreams: ReturnType<typeof makeOfficeStreams>;
  readonly runs: ReturnType<typeof makeRunHandlers>;
  readonly responses: ReturnType<typeof makeResponseHandlers>;
  readonly mcp: ReturnType<typeof makeMcpHandlers>;
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
  const management = managementRoutes(parts);
  const routes: Route[] = [
    ...programRoutes(parts),
    ...routesOf(mcp, {}, parts.mcp),
    ...management,
    ...routesOf(backups, parts.operations, makeBackupHandlers(parts.operations)),
    ...officeRoutes(parts, management),
    ...routesOf(publishes, parts.operations),
    ...routesOf(shares, parts.operations),
    ...routesOf(publicPages, {}, { ...makePublicPageHandlers(parts), ...makeContentHandlers(parts) }),
    ...routesOf(sharePages, {}, { ...makeShareHandlers(parts), staticFile: sendStaticFile }),
    ...routesOf(frontPage, {}, { front: makeFrontPage(parts.settings) }),
    ...routesOf(description, {}, { openapi: () => ok(renderedJson<object>(document())) }),
  ];
  // Made at the first request: it takes some milliseconds that a start need not have.
  const document = once(() => JSON.stringify(describeRoutes(routes, VERSION)));
  return routes;
}

/** Office Mode: for programs, and for browsers (0054). */
function officeRoutes(
  { operations, officeStreams, clientAddressOf }: RouteParts,
  management: readonly Route[],
): Route[] {
  const own = routesOf(office, operations, { ...makeOfficeSessionHandlers(operations), ...officeStreams });
  const assets = makeAssets();
  const shell = makeShell(assets);
  return [
    ...own,
    ...mountedForBrowsers([...own, ...management]),
    ...routesOf(officeLogins, {}, makeOfficeLogins(operations, clientAddressOf)),
    ...routesOf(officePages, {}, { ...shell, officeFile: assets.send }),
    ...routesOf(plainOffice, {}, { plain: makePlainFloor(operations) }),
    // Last: it takes every path below.
    ...routesOf(officePlaces, {}, shell),
  ];
}

/** What programs with a key, and anybody, may ask. */
function programRoutes(parts: RouteParts): Route[] {
  const { operations, conversations, runs, clientAddressOf } = parts;
  const sessions = makeSessionHandlers(operations);
  return routesOf(programs, operations, {
    ...conversations,
    ...parts.responses,
    logIn: makeTokenEndpoint(operations, clientAddressOf),
    listSessions: sessions.listOwn,
    history: sessions.messages,
    artifacts: sessions.artifacts,
    runArtifacts: runs.artifacts,
    file: makeFileHandler(operations, parts.clock),
    ...makeSimpleHandlers(parts),
  });
}

/** The management interface. */
function managementRoutes(parts: RouteParts): Route[] {
  const { operations } = parts;

  // biome-ignore format: a table reads best with one route a line
  return [
    ...routesOf(installation, operations),
    ...routesOf(audit, operations),
    ...routesOf(retention, operations),
    ...routesOf(nodes, operations),
    ...routesOf(users, operations),
    ...routesOf(teams, operations),
    ...routesOf(keys, operations),
    ...routesOf(budgets, operations),
    ...DEFINITION_NOUNS.flatMap((noun) =>
      routesOf(definitionsOf(noun), {}, makeDefinitionHandlers(operations, noun)),
    ),
    ...routesOf(models, operations),
    ...routesOf(mcpServers, operations),
    ...routesOf(connections, operations),
    ...routesOf(sessions, operations, makeSessionHandlers(operations)),
    ...routesOf(runs, operations, parts.runs),
    ...routesOf(ids, operations),
    ...routesOf(questions, operations, { listOfSession: makeQuestionsOfSession(operations) }),
    ...routesOf(insights, operations),
    ...routesOf(scheduledTasks, operations),
    ...routesOf(webhooks, operations, { listDeliveries: makeListDeliveries(operations) }),
    ...routesOf(deliveries, operations),
    ...routesOf(webhookEvents, operations, { listen: makeListen(operations) }),
    ...routesOf(tokens, operations),
  ];
}

function makeSimpleHandlers({ operations, readiness, starting }: RouteParts) {
  return {
    models: (_exchange: Exchange, caller: KeyCaller) =>
      ok(renderModels(operations.getModelName(caller), caller.key.createdAt)),
    model: ({ params }: Exchange, caller: KeyCaller) => {
      const name = operations.getModelName(caller);
      if (params['id'] !== name) throw notFound('Model');
      return ok(renderModel(name, caller.key.createdAt));
    },
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
