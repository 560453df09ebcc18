// What the check of the examples finds, and what must fit together in them.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkShape, type ExampleKind } from '../../scripts/examples/check-shape.ts';
import { looseEndsOfCompose, looseEndsOfManifests } from '../../scripts/examples/find-loose-ends.ts';

const read = (name: string) => readFileSync(fileURLToPath(new URL(`../../config/${name}`, import.meta.url)), 'utf8');
const COMPOSE = read('examples/compose/compose.yaml');
const KUBERNETES = read('examples/kubernetes/errand.yaml');

/** The problems of an example after one text in it was replaced. */
function problemsWith(kind: ExampleKind, text: string, [from, to]: readonly [string, string]): readonly string[] {
  expect(text).toContain(from);
  const { parts, problems } = checkShape(kind, text.replaceAll(from, to));
  if (kind === 'traefik') return problems;
  const loose =
    kind === 'compose'
      ? parts.flatMap((part) => looseEndsOfCompose(part, (path) => path !== './gone'))
      : looseEndsOfManifests(parts);
  return [...problems, ...loose];
}

test.each([
  ['stop_grace_period', 'stop_grace', '/services/errand-1 must NOT have additional properties: stop_grace'],
  [
    'condition: service_healthy',
    'condition: ready',
    expect.stringContaining('must be equal to one of the allowed values'),
  ],
  ['"data-1:/data"', '"data-4:/data"', 'errand-1: no volume data-4'],
  ['secrets: [master-key, database', 'secrets: [master, database', 'errand-1: no secret master'],
  ['errand-1: { condition', 'errand-0: { condition', 'errand-2: no service errand-0'],
  ['./config:', './gone:', 'errand-1: no file ./gone'],
  ['data-2: {}', 'data-1: {}', 'Map keys must be unique'],
])('in the Compose file, %s as %s is a mistake', (from, to, problem) => {
  const found = problemsWith('compose', COMPOSE, [from, to]);
  expect(found.map((words) => words.split(' at line')[0])).toContainEqual(problem);
});

test.each([
  [
    'livenessProbe',
    'livenesProbe',
    '/spec/template/spec/containers/0 must NOT have additional properties: livenesProbe',
  ],
  ['replicas: 3', 'replicas: "3"', '/spec/replicas must be integer'],
  ['policy/v1', 'policy/v1beta1', 'no schema for policy/v1beta1 PodDisruptionBudget'],
  ['configMap: { name: errand }', 'configMap: { name: gone }', 'no ConfigMap gone'],
  ['serviceName: errand-nodes', 'serviceName: gone', 'no Service gone'],
  ['{ name: tmp, mountPath: /tmp }', '{ name: gone, mountPath: /tmp }', 'no volume gone'],
  ['path: /readyz, port: http', 'path: /readyz, port: web', 'no port web'],
  ['selector: { app.kubernetes.io/name: errand }', 'selector: { app: errand }', 'Service errand selects other pods'],
])('in the manifests, %s as %s is a mistake', (from, to, problem) => {
  expect(problemsWith('kubernetes', KUBERNETES, [from, to])).toContain(problem);
});

test.each([
  [' retry:', ' retries:', '/http/middlewares/errand-retry must NOT have additional properties: retries'],
  ['interval: 2s', 'interval: 2', '/http/services/errand-ready/loadBalancer/healthCheck/interval must be string'],
])('in the file for Traefik, %s as %s is a mistake', (from, to, problem) => {
  expect(problemsWith('traefik', read('proxies/traefik-nodes.yaml'), [from, to])).toContain(problem);
});

test('the nodes of the Compose file have the addresses of the file for nginx, and trust it', () => {
  const { services } = parse(COMPOSE, { merge: true }) as {
    services: Record<string, { networks: { default: { ipv4_address: string } } }>;
  };
  const addressOf = (name: string) => services[name]!.networks.default.ipv4_address;
  const nodes = Object.keys(services).filter((name) => name.startsWith('errand-'));
  const named = [...read('proxies/nginx-nodes.conf').matchAll(/^ *server ([\d.]+):8484/gm)].map(
    ([, address]) => address,
  );
  expect([...new Set(named)]).toEqual(nodes.map(addressOf));
  const settings = parse(read('examples/compose/config/errand.yaml')) as { trusted_proxies: string[] };
  expect(settings.trusted_proxies).toEqual([addressOf('nginx')]);
});

test('nothing kills a node before it has drained, or because its database is away', () => {
  const seconds = (text: string, name: RegExp) => Number(name.exec(text)?.[1]);
  const drain = seconds(read('examples/compose/config/errand.yaml'), /drain_seconds: (\d+)/);
  expect(seconds(COMPOSE, /&errand\n(?:.*\n)*? +stop_grace_period: (\d+)s/)).toBeGreaterThan(drain);
  const grace = seconds(KUBERNETES, /terminationGracePeriodSeconds: (\d+)/);
  const before = seconds(KUBERNETES, /sleep, "(\d+)"/);
  expect(grace).toBeGreaterThan(before + seconds(KUBERNETES, /drain_seconds: (\d+)/));
  const probes = [...KUBERNETES.matchAll(/(\w+)Probe:\n +httpGet: \{ path: (\S+),/g)].map(([, name, path]) => [
    name,
    path,
  ]);
  expect(probes).toEqual([
    ['startup', '/healthz'],
    ['liveness', '/healthz'],
    ['readiness', '/readyz'],
  ]);
});
