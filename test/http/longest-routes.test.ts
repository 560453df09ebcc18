// No request takes the main thread for longer than 50 ms at once, whatever it asks and whatever a tenant has: each route has its
// largest requests here, or is known to touch a few rows. Times are those of the processor, and the least of five.
import { expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import type { Route } from '../../src/http/frame/route.ts';
import { DEFINITION_NOUNS } from '../../src/operations/capabilities/definitions.ts';
import { type LargeIds, largestDaemon } from '../support/daemon/largest-daemon.ts';
import type { Components, JsonSchema } from '../../src/wire/shapes/shape.ts';
import { type Ask, clientThread } from '../support/http/client-thread.ts';
import { BODIES, ENDS, REQUESTS, WORST } from '../support/http/largest-requests.ts';
import { ROUTES } from '../support/http/route-table.ts';
import { longestTurnMsOf } from '../support/time/cpu-time.ts';
import { leastOfFive } from '../support/time/machine-speed.ts';

const LONGEST_MS = 50;

/** What they touch is a few rows with short texts; those that send files send what they read, in pieces. */
const FEW_ROWS: readonly string[] = [
  ...`GET /openapi/v1/runs/:id, GET /openapi/v1/responses/:id, POST /openapi/v1/responses/:id/cancel, DELETE /openapi/v1/responses/:id,
  GET /openapi/v1/responses/:id/input_items, GET /openapi/v1/sessions/:id/capability-config, GET /openapi/v1/models,
  GET /openapi/v1/models/:id, GET /,  GET /files/:address/:name, GET /healthz, GET /readyz, GET /api/v1/audit/head, GET /api/v1/retention/orphans, GET /api/v1/retention/progress,
  GET /api/v1/nodes/:ref, POST /api/v1/nodes/:ref/drain, POST /api/v1/nodes/:ref/undrain, DELETE /api/v1/nodes/:ref,
  GET /api/v1/users/:ref, GET /api/v1/keys/:ref, DELETE /api/v1/keys/:ref, GET /api/v1/budgets/:id,
  DELETE /api/v1/budgets/:id, DELETE /api/v1/connections/:id, POST /api/v1/mcp-servers/:ref/check,
  POST /api/v1/connectors/:ref/check, POST /api/v1/connections/:id/check, GET /api/v1/sessions/:id,
  GET /api/v1/runs/:id, POST /api/v1/runs/:id/stop, GET /api/v1/ids/:noun/:start, GET /api/v1/user-inputs/:id,
  POST /api/v1/user-inputs/:id/expire, GET /api/v1/insights/:id, GET /api/v1/scheduled-tasks/:id,
  DELETE /api/v1/scheduled-tasks/:id, POST /api/v1/scheduled-tasks/:id/run, GET /api/v1/webhooks/:id,
  POST /api/v1/webhook-deliveries/:id/redeliver, GET /api/v1/tokens/keys, POST /api/v1/tokens/rotate,
  POST /api/v1/tokens/revoke-all, GET /api/v1/backups/latest, POST /api/v1/backups/:id/cancel,
  GET /api/v1/office-mode/sessions/:id/computer/browser/:tool_use_id, POST /api/v1/office-mode/links, DELETE /api/v1/office-mode/links, GET /share/static/:name,
  POST /office/login, POST /office/logout, GET /office/assets/:name, GET /office/, GET /office, GET /office/*path,
  GET /api/v1/shares/:share_code, DELETE /api/v1/shares/:share_code, GET /api/v1/public/shares/:share_code`.split(
    /,\s+/,
  ),
  ...DEFINITION_NOUNS.map((noun) => `GET /api/v1/${noun}/:ref`),
  ...['content', 'assets/*path', 'media'].map((what) => `GET /api/v1/public/shares/:share_code/${what}`),
];

/** Known to be longer, and why. */
const LONGER: Readonly<Record<string, string>> = {
  'GET /api/v1/configuration':
    'all definitions are read at once, and nothing limits how many an operator has: 53 ms with 200',
  'POST /api/v1/doctor': 'it examines the whole installation: 80 ms',
  ...Object.fromEntries(DEFINITION_NOUNS.map((noun) => [`POST /api/v1/definitions/${noun}/check`, 'the same: 43 ms'])),
};

/** A thread makes it, piece by piece alike: its beginning is enough. */
const BACKUP = 'POST /api/v1/backups/archive';

/** In browsers, the same handlers answer as elsewhere. */
const MEASURED = ROUTES.filter(({ path }) => !path.startsWith('/office/api/'));

const nameOf = ({ method, path }: Route) => `${method} ${path}`;

function fill(path: string, word: string, ids: LargeIds): string {
  const [names = '', query = ''] = word.split('?');
  const values = names.split('/').map((name) => ids[name] ?? name);
  const named = query.replace(/run_id=(\w+)/, (_, name: string) => `run_id=${ids[name]}`);
  return `${path.replace(/[:*]\w+/g, () => values.shift()!)}${named === '' ? '' : `?${named}`}`;
}

/** The fields of its body, as its shape describes them. */
function fieldsOf({ body }: Route): string[] {
  const components: Components = new Map();
  const { $ref } = body!.describe(components);
  const schema = components.get(String($ref).split('/').at(-1)!)?.schema ?? body!.describe(components);
  const all = [schema, ...((schema['oneOf'] ?? []) as JsonSchema[])];
  return [...new Set(all.flatMap(({ properties }) => Object.keys(properties ?? {})))];
}

type Asked = Pick<Ask, 'body'> & { readonly path: string };

function asksOf(route: Route, ids: LargeIds, name: () => string): Asked[] {
  const body = (value: JsonObject) => [[JSON.stringify(value), 1]] as const;
  const words = { ...REQUESTS, ...ENDS }[nameOf(route)];
  if (words !== undefined) return words.split(' ').map((word) => ({ path: fill(route.path, word, ids) }));
  const [names, bodies] = BODIES[nameOf(route)]!;
  const path = fill(route.path, names, ids);
  const whole = bodies(name());
  // What reads a field is its own; what parses a body is the same for all fields.
  const worst = fieldsOf(route).flatMap((field, index) =>
    (index === 0 ? WORST : WORST.slice(0, 1)).map((value) => ({ ...whole.at(-1)!, [field]: value })),
  );
  return [...whole, ...worst].map((one) => ({ path, body: body(one) }));
}

test('no request takes longer than 50 ms at once, and each route has a case or is known to need none', async () => {
  const known = [REQUESTS, ENDS, BODIES, LONGER].flatMap((table) => Object.keys(table));
  expect([...known, ...FEW_ROWS].toSorted()).toEqual(MEASURED.map(nameOf).toSorted());
  const warnings: string[] = [];
  const warn = ({ name, message }: Error) => void warnings.push(`${name}: ${message}`);
  process.on('warning', warn);
  onTestFinished(() => void process.off('warning', warn));
  const { url, key, ids } = await largestDaemon();
  const prepare = clientThread();
  let names = 0;
  const longer: [string, number][] = [];
  const refused: string[] = [];
  const measure = async (route: Route) => {
    const longest: number[] = [];
    for (const { path, body } of asksOf(route, ids, () => `name${(names += 1)}`)) {
      const authorization =
        route.path.startsWith('/api/v1/public') || route.path.startsWith('/share')
          ? {}
          : { authorization: `Bearer ${key}` };
      const ask = await prepare({
        url: url + path,
        method: route.method,
        headers: { accept: 'application/json, text/event-stream', ...authorization },
        body,
        staysOpen: route.events !== undefined || nameOf(route) === BACKUP,
      });
      const ms = await longestTurnMsOf(async () => {
        const { status, text } = await ask();
        if (body === undefined && status >= 300) refused.push(`${status} ${nameOf(route)} ${text}`);
      });
      longest.push(ms);
    }
    return Math.max(...longest);
  };
  for (const table of [REQUESTS, BODIES, ENDS])
    for (const route of Object.keys(table).map((name) => ROUTES.find((one) => nameOf(one) === name)!)) {
      const least = await leastOfFive(LONGEST_MS, async () => measure(route));
      if (least >= LONGEST_MS) longer.push([nameOf(route), Math.round(least)]);
    }
  expect(refused).toEqual([]);
  // Of listeners and timers that add up.
  expect(warnings).toEqual([]);
  expect(longer).toEqual([]);
}, 600_000);
