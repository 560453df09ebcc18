// The routes as an OpenAPI 3.1 document: what each reads and replies, as their shapes describe it.
import type { FieldsShape } from '../wire/shapes/composites.ts';
import { ERROR_SHAPES, envelopeOf, type ErrorShape } from '../wire/error.ts';
import { type AnyShape, type Components, type JsonSchema, schemasOf } from '../wire/shapes/shape.ts';
import { string, uuid } from '../wire/shapes/scalars.ts';
import type { Route } from './frame/route.ts';
import { isPagePath } from './share/page-reply.ts';
import { describeWebhooks } from './openapi-webhooks.ts';

/** An OpenAPI document, as JSON. */
export type OpenApiDocument = { readonly [field: string]: unknown };

const SECURITY_SCHEMES = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key.' },
  apiKeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
    description: 'An API key, as the Anthropic client sends it.',
  },
  adminKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key of scope `admin` whose owner is an administrator.',
  },
  loginToken: { type: 'http', scheme: 'bearer', description: 'A login token of `POST /openapi/v1/auth/token`.' },
};

/** The credentials that each guard admits; one of them is enough. */
const SECURITY: Readonly<Record<Route['guard'], readonly (keyof typeof SECURITY_SCHEMES)[]>> = {
  none: [],
  key: ['apiKey', 'apiKeyHeader'],
  admin: ['adminKey', 'loginToken'],
  office: ['adminKey'],
  web: ['adminKey'],
  user: ['loginToken', 'adminKey'],
};

const ERROR_RESPONSES: Readonly<Record<ErrorShape, string>> = {
  bare: 'Refused',
  chat: 'ChatRefused',
  envelope: 'EnvelopeRefused',
  rpc: 'RpcRefused',
};

const REFUSED = { description: 'The request was refused, or failed.' };
const PAGE = { 'text/html': { schema: { type: 'string' } } };

/** Describes the routes. `version` is that of the interface's daemon. */
export function describeRoutes(routes: readonly Route[], version: string): OpenApiDocument {
  const components: Components = new Map();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes.filter(isDescribed)) {
    const path = route.path.replace(/[:*](\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) };
  }
  const webhooks = describeWebhooks(components);
  const responses = Object.entries(ERROR_RESPONSES).map(([shape, name]) => [
    name,
    { ...REFUSED, content: jsonOf(ERROR_SHAPES[shape as ErrorShape], components) },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Errand',
      version,
      description: 'A self-hosted daemon that runs autonomous AI agents behind the OpenAI and Anthropic protocols.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      responses: { ...Object.fromEntries(responses), PageRefused: { ...REFUSED, content: PAGE } },
      schemas: schemasOf(components),
    },
  };
}

/** What Office Mode in a browser is made of is for browsers; programs read the same elsewhere. */
const isDescribed = ({ path }: Route) => !path.startsWith('/office/');

function operationOf(route: Route, components: Components): object {
  const { summary, guard, errors } = route;
  const refused = {
    $ref: `#/components/responses/${isPagePath(route.path) ? 'PageRefused' : ERROR_RESPONSES[errors]}`,
  };
  return {
    operationId: operationIdOf(route),
    summary,
    tags: [tagOf(route.path)],
    security: SECURITY[guard].map((scheme) => ({ [scheme]: [] })),
    parameters: [
      ...pathParametersOf(route),
      ...parametersOf('query', route.query, components),
      ...parametersOf('header', route.headers, components),
    ],
    ...(route.body && {
      requestBody: { required: route.bodyIsOptional !== true, content: jsonOf(route.body, components) },
    }),
    responses: { ...successesOf(route, components), '4XX': refused, '5XX': refused },
  };
}

/** Such as `getApiSessionsByIdMessages`. */
function operationIdOf({ method, path }: Route): string {
  const words = path
    .replace('/v1/', '/')
    .replaceAll(/[:*]/g, 'by-')
    .split(/[/.-]/)
    .filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

/** The first segment of a path after the common prefix. */
function tagOf(path: string): string {
  return path.replace(/^\/(openapi|api)\/v1\//, '/').split('/')[1] || 'front';
}

function pathParametersOf({ path, params }: Route): object[] {
  return [...path.matchAll(/[:*](\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: (params?.[name!] ?? (name === 'id' ? uuid : string)).describe(new Map()),
  }));
}

function parametersOf(place: 'query' | 'header', shape: FieldsShape | undefined, components: Components): object[] {
  return Object.entries(shape?.byName() ?? {}).map(([name, field]) => ({
    name,
    in: place,
    required: field.absence === undefined,
    schema: field.describe(components),
  }));
}

function successesOf(route: Route, components: Components): object {
  const reply = route.reply && route.errors === 'envelope' ? envelopeOf(route.reply, route.messages) : route.reply;
  const content = {
    ...(reply && jsonOf(reply, components)),
    ...(route.events && { 'text/event-stream': { schema: eventStreamOf(route.events, components) } }),
    ...(route.sendsFile && { '*/*': { schema: {} } }),
    ...(route.sendsPage && PAGE),
  };
  const statuses = route.statuses ?? (route.sendsFile ? [200, 206] : [200]);
  return Object.fromEntries(statuses.map((status) => [status, { description: DESCRIPTIONS[status], content }]));
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  200: 'The result.',
  201: 'It was created.',
  202: 'The run was accepted; it is executed in the background.',
  206: 'The requested part.',
  503: 'Not ready.',
};

function eventStreamOf(events: AnyShape, components: Components): JsonSchema {
  return {
    type: 'string',
    description: 'Server-sent events. The data of each is JSON of this schema.',
    contentMediaType: 'application/json',
    contentSchema: events.describe(components),
  };
}

function jsonOf(shape: AnyShape, components: Components): object {
  return { 'application/json': { schema: shape.describe(components) } };
}
