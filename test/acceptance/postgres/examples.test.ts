// The examples for Compose and Kubernetes, as far as no container is needed: what they set starts a node on PostgreSQL and a bucket.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import S3rver from 's3rver';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { runErrand } from '../../support/daemon/daemon-process.ts';
import { BINARY } from '../../support/daemon/initialized.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { freePort } from '../../support/http/free-port.ts';
import { type Cluster, ROLE, startCluster } from '../../support/postgres/cluster.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const EXAMPLES = join(ROOT, 'config/examples');
const read = (name: string) => readFileSync(join(EXAMPLES, name), 'utf8');
const VERSION = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;

type Texts = Readonly<Record<string, string>>;

/** A pod or a container of an example. */
interface Box {
  readonly image: string;
  readonly environment: Texts;
  readonly config: Texts;
  readonly secrets: readonly string[];
}

function ofCompose(): Box {
  const { services } = parse(read('compose/compose.yaml'), { merge: true }) as {
    services: Record<string, { image: string; environment: Texts; secrets: string[] }>;
  };
  const { image, environment, secrets } = services['errand-1']!;
  const config = Object.fromEntries(
    readdirSync(join(EXAMPLES, 'compose/config')).map((name) => [name, read(`compose/config/${name}`)]),
  );
  // As the image sets them.
  const own = { ERRAND_DATA_DIR: '/data', ERRAND_LISTEN: '0.0.0.0:8484' };
  return { image, environment: { ...own, ...environment }, config, secrets };
}

interface Variable {
  readonly name: string;
  readonly value?: string;
}

function ofKubernetes(): Box {
  const parts = parseAllDocuments(read('kubernetes/errand.yaml'), { version: '1.1' }).map(
    (document) => document.toJS() as Record<string, unknown>,
  );
  const only = <T>(kind: string) => parts.find((part) => part['kind'] === kind) as T;
  const { data } = only<{ data: Texts }>('ConfigMap');
  const { spec } = only<{
    spec: { template: { spec: { containers: { image: string; env: Variable[] }[] } } };
  }>('StatefulSet');
  const [container] = spec.template.spec.containers;
  // The name of the first pod.
  const environment = container!.env.map(({ name, value = 'errand-0' }) => [name, value]);
  const own = { ERRAND_LISTEN: '0.0.0.0:8484' };
  const secrets = /secret generic errand (.*)$/m
    .exec(read('kubernetes/errand.yaml'))![1]!
    .matchAll(/--from-file=(\S+)/g);
  return {
    image: container!.image,
    environment: { ...own, ...Object.fromEntries(environment) },
    config: data,
    secrets: [...secrets].map(([, name]) => name!),
  };
}

const PASSWORD = 'of the role';
let cluster: Cluster;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  cluster = await startCluster({ tcp: { password: PASSWORD } });
  ends.push(cluster.close);
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

/** Files as a cluster mounts them: links through one that is replaced when they change. */
function mounted(files: Texts): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, '..first'));
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(directory, '..first', name), text, { mode: 0o440 });
  symlinkSync('..first', join(directory, '..data'));
  for (const name of Object.keys(files)) symlinkSync(`..data/${name}`, join(directory, name));
  return directory;
}

function change(directory: string, files: Texts): void {
  mkdirSync(join(directory, '..second'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, '..second', name), text);
  symlinkSync('..second', join(directory, '..next'));
  renameSync(join(directory, '..next'), join(directory, '..data'));
}

test.each([
  ['compose', ofCompose, ['errand-1', 'errand-2']],
  ['kubernetes', ofKubernetes, ['errand-0', 'errand-1']],
] as const)(
  '%s: nodes start with its settings, secrets and variables, and each keeps what it must',
  async (database, of, [first, second]) => {
    const { image, environment, config, secrets } = of();
    expect(image.endsWith(`/errand:${VERSION}`)).toBe(true);
    expect(secrets).toEqual(['master-key', 'database', 's3-key']);
    expect(environment['ERRAND_NODE_NAME']).toBe(first);
    await cluster.query('postgres', `CREATE DATABASE ${database} OWNER ${ROLE}`);
    const bucket = await startBucket();
    const here = (text: string) => text.replace(/endpoint: \S+/, `endpoint: ${bucket.url}`);
    const files = Object.fromEntries(Object.entries(config).map(([file, text]) => [file, here(text)]));
    const configDir = mounted(files);
    const credentials = mounted({
      'master-key': 'k'.repeat(32),
      database: `${cluster.tcpUrl(database)}?sslmode=disable\n`,
      's3-key': 'S3RVER:S3RVER\n',
    });
    const startNode = async (name: string) => startBox(environment, { name, configDir, credentials });

    const one = await startNode(first);
    expect(await cluster.query(database, 'SELECT name FROM worker_nodes')).toEqual([{ name: first }]);
    expect(existsSync(join(one.dataDir, 'master.key'))).toBe(false);
    const apiKey = /API key +(\S+)/.exec(readFileSync(join(one.dataDir, 'first-credentials'), 'utf8'))![1]!;
    const data = Buffer.alloc(100_000, 'x').toString('base64');
    const source = { type: 'base64', media_type: 'text/plain', data };
    const content = [
      { type: 'document', title: 'large.txt', source },
      { type: 'text', text: 'Keep it.' },
    ];
    const turn = await takeTurn({ url: one.url, apiKey }, { content });
    expect(turn.status).toBe(200);
    expect(bucket.objects()).toBeGreaterThan(0);

    const shown = async () => (await runErrand(['config', 'show'], { env: one.env })).stdout;
    expect(await shown()).toContain('streams.drain_seconds\t60\n');
    const text = files['errand.yaml']!.replace('drain_seconds: 60', 'drain_seconds: 61');
    change(configDir, { ...files, 'errand.yaml': text });
    await waitFor(async () => (await shown()).includes('streams.drain_seconds\t61\n'), { everyMs: 250 });
    expect(await one.stop()).toEqual([0, null]);

    const two = await startNode(second);
    const again = await takeTurn({ url: two.url, apiKey }, { content: 'And this.', sessionId: turn.sessionId });
    expect([again.status, again.sessionId]).toEqual([200, turn.sessionId]);
    expect(existsSync(join(two.dataDir, 'first-credentials'))).toBe(false);
    const names = await cluster.query(database, 'SELECT name FROM worker_nodes ORDER BY name');
    expect(names).toEqual([{ name: first }, { name: second }]);
    await two.stop();
  },
);

/** A server with the buckets of both examples. */
async function startBucket() {
  const directory = temporaryDirectory();
  const configureBuckets = ['errand', 'example-errand'].map((name) => ({ name }));
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets });
  const { port } = await server.run();
  onTestFinished(() => server.close());
  const objects = () =>
    readdirSync(directory, { recursive: true }).filter((file) => String(file).endsWith('._S3rver_object')).length;
  return { url: `http://127.0.0.1:${port}`, objects };
}

interface Places {
  readonly name: string;
  readonly configDir: string;
  readonly credentials: string;
}

/** Starts the daemon of a box on a volume of its own, and waits until it is ready. */
async function startBox(environment: Texts, { name, configDir, credentials }: Places) {
  const volume = temporaryDirectory();
  const listen = `127.0.0.1:${await freePort()}`;
  const dataDir = environment['ERRAND_DATA_DIR']!.replace('/data', join(volume, 'data'));
  const places: Texts = {
    '/etc/errand': configDir,
    [environment['CREDENTIALS_DIRECTORY']!]: credentials,
    [environment['ERRAND_DATA_DIR']!]: dataDir,
    '0.0.0.0:8484': listen,
  };
  const own = Object.entries(environment).map(([key, value]) => [key, places[value] ?? value]);
  const env: Texts = { ...Object.fromEntries(own), ERRAND_NODE_NAME: name };
  mkdirSync(join(volume, 'data'), { mode: 0o700 });
  const tests = Object.entries(process.env).filter(([key]) => !/^(ERRAND_|NODE_OPTIONS$|VITEST)/.test(key));
  const child = spawn(BINARY, ['serve'], { env: { ...Object.fromEntries(tests), ...env }, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://${listen}`;
  await waitFor(async () => (await fetch(`${url}/readyz`)).status === 200);
  const stop = async () => {
    child.kill('SIGTERM');
    return (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  };
  return { url, dataDir, env, stop };
}
