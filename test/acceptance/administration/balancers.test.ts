// Several daemons behind the real nginx and HAProxy with config/proxies: who gets which turn, and what is never sent twice.
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { makeAskThrough } from '../../support/http/ask-through.ts';
import { freePort } from '../../support/http/free-port.ts';
import { hasHaproxy, startHaproxy } from '../../support/http/haproxy.ts';
import { hasNginx, startNginx } from '../../support/http/nginx.ts';
import { type StandIn, type StandInExchange, startStandIn } from '../../support/http/stand-in.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8');
const SHOWN = ['192.0.2.11:8484', '192.0.2.12:8484', '192.0.2.13:8484'] as const;
const TURNS = '/openapi/v1/messages';
const ERRAND_YAML = 'public_url: https://errand.example.com\ntrusted_proxies: [127.0.0.1]\n';
const TURN = { method: 'POST', body: { model: 'any', messages: [{ role: 'user', content: 'Hi' }] } } as const;

interface Balancer {
  readonly name: string;
  readonly has: boolean;
  /** Whether it looks at the nodes by itself, now and then. */
  readonly looks: boolean;
  start(addresses: Readonly<Record<string, string>>): Promise<number>;
}

const BALANCERS: readonly Balancer[] = [
  {
    name: 'nginx',
    has: hasNginx(),
    looks: false,
    start: (of) => startNginx(read('config/proxies/nginx-nodes.conf'), of),
  },
  {
    name: 'HAProxy',
    has: hasHaproxy(),
    looks: true,
    start: (of) => startHaproxy(read('config/proxies/haproxy-nodes.cfg'), of),
  },
];

/** How long a node may take to say whether it takes turns: more than in the files, since all that answers here may stand still at times. */
const patience = (seconds: number) => ({
  'proxy_read_timeout 2s': `proxy_read_timeout ${seconds}s`,
  'proxy_next_upstream_timeout 15s': `proxy_next_upstream_timeout ${3 * seconds}s`,
  'timeout connect 3s': `timeout connect 3s\n  timeout check ${seconds}s`,
});

describe.each(BALANCERS.filter(({ has }) => has))('behind $name', ({ start, looks }) => {
  const askNodes = async (nodes: readonly string[], key = 'none', seconds = 60) => {
    const addresses = Object.fromEntries(SHOWN.map((shown, at) => [shown, nodes[at]!]));
    return makeAskThrough(await start({ ...addresses, ...patience(seconds) }), key);
  };

  async function askStandIns(seconds?: number) {
    const nodes = [await startStandIn('one'), await startStandIn('two'), await startStandIn('three')] as const;
    const ask = await askNodes(
      nodes.map(({ address }) => address),
      'none',
      seconds,
    );
    /** Sends turns, or others, one after another; answers the status of each. */
    const turns = async (count: number, path = TURNS) => {
      const statuses = [];
      for (let turn = 0; turn < count; turn += 1) statuses.push((await said(await ask(path, TURN))).status);
      return statuses;
    };
    return { nodes, ask, turns };
  }

  test('turns go to the nodes that take them; where none does, one says why; a node that comes back gets its share', async () => {
    const models = await startModelServer();
    onTestFinished(models.close);
    models.script({ text: 'Well.' });
    const daemon = async () => {
      const started = await startDaemonProcess({ modelServerUrl: models.url, errandYaml: ERRAND_YAML });
      onTestFinished(started.close);
      return started;
    };
    const [north, south] = [await daemon(), await daemon()];
    const dead = `127.0.0.1:${await freePort()}`;
    const ask = await askNodes([new URL(north.url).host, dead, new URL(south.url).host], north.apiKey);
    const nodes = [north, south];
    const turn = async () => said(await ask(TURNS, TURN));
    /** What became of ten turns, and how many each node had. */
    const tenTurns = async () => {
      const before = nodes.map(runsOf);
      const statuses = new Set<number>();
      for (let count = 0; count < 10; count += 1) statuses.add((await turn()).status);
      return { statuses: [...statuses], shares: nodes.map((node, at) => runsOf(node) - before[at]!) };
    };
    /** Until the balancer has looked at the nodes. */
    const settled = (isSo: (shares: readonly number[]) => boolean) =>
      waitFor(async () => {
        const { statuses, shares } = await tenTurns();
        return statuses.length === 1 && statuses[0] === 200 && isSo(shares);
      });
    const both = ([one, other]: readonly number[]) => one! > 0 && other! > 0;

    await settled(both);
    expect((await turn()).headers['set-cookie']).toBeUndefined();

    await drain(north, true);
    if (looks) await settled(([share]) => share === 0);
    expect(await tenTurns()).toEqual({ statuses: [200], shares: [0, 10] });

    await writeFile(join(south.configDir, 'errand.yaml'), `${ERRAND_YAML}disk: { keep_free_mb: 16777216 }\n`);
    await waitFor(async () => (await fetch(`${south.url}/readyz`)).status === 503);
    const refused = await turn();
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(JSON.parse(refused.body)).toMatchObject({ error: { message: expect.stringMatching(/drains|almost full/) } });
    // What is no turn goes on.
    await waitFor(async () => (await ask('/openapi/v1/sessions')).statusCode === 200);
    expect((await ask('/openapi/v1/sessions')).statusCode).toBe(200);

    await drain(north, false);
    await settled(([, share]) => share === 0);
    expect(await tenTurns()).toEqual({ statuses: [200], shares: [10, 0] });

    await writeFile(join(south.configDir, 'errand.yaml'), ERRAND_YAML);
    await settled(both);
    await south.kill();
    expect(await tenTurns()).toEqual({ statuses: [200], shares: [10, 0] });
    await south.restart();
    await settled(both);
  });

  test('what reached a node that died is not sent again, be it a turn or another POST; what reached none is', async () => {
    const { nodes, turns } = await askStandIns();
    const all = () => nodes.reduce((sum, { asked }) => sum + asked.length, 0);
    expect(await turns(6)).toEqual(Array.from({ length: 6 }, () => 200));
    for (const node of nodes) node.answer = ({ reply }) => reply.destroy();
    expect(await turns(2)).toEqual([502, 502]);
    expect(await turns(1, '/api/v1/scheduled-tasks/1/run')).toEqual([502]);
    expect(all()).toBe(9);
    await nodes[0].die();
    await nodes[2].die();
    nodes[1].answer = ({ reply }) => reply.end('two');
    expect(await turns(4)).toEqual([200, 200, 200, 200]);
    expect(all()).toBe(13);
  });

  test('a node that neither answers nor refuses gets no turns', async () => {
    const { nodes, turns } = await askStandIns(10);
    const [one, two, three] = nodes;
    two.become('still');
    if (looks) await noticed([two]);
    expect(await turns(6)).toEqual(Array.from({ length: 6 }, () => 200));
    expect([one.asked.length + three.asked.length, two.asked.length]).toEqual([6, 0]);
  });

  test('while no node takes turns, everything still reaches one that lives', async () => {
    const { nodes, ask, turns } = await askStandIns();
    for (const node of nodes) node.become('busy');
    if (looks) await noticed(nodes);
    expect(await turns(3)).toEqual([200, 200, 200]);
    expect((await said(await ask('/openapi/v1/sessions'))).status).toBe(200);
  });

  test('a stream arrives as it is written, and after the death of its node it is rejoined on another one', async () => {
    const { nodes, ask } = await askStandIns();
    const gate = Promise.withResolvers<void>();
    let teller: StandIn | undefined;
    const tell = async (node: StandIn, { asked, reply }: StandInExchange) => {
      const from = Number(asked.headers['last-event-id'] ?? 0);
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      reply.write(`id: ${from + 1}\ndata: of ${node.address}\n\n`);
      if (from > 0) reply.end('data: [DONE]\n\n');
      else {
        teller = node;
        await gate.promise;
        reply.write(`id: ${from + 2}\ndata: more\n\n`);
      }
    };
    for (const node of nodes) node.answer = (exchange) => tell(node, exchange);
    const stream = await ask(TURNS, { ...TURN, body: { ...TURN.body, stream: true } });
    let seen = '';
    let end = 'closed';
    try {
      for await (const chunk of stream) {
        seen += String(chunk);
        // The second event is written when the first was read.
        if (seen.includes('id: 1\n')) gate.resolve();
        if (seen.includes('id: 2\n')) await teller!.die();
      }
    } catch {
      end = 'broken';
    }
    expect([end, seen]).toEqual(['broken', `id: 1\ndata: of ${teller!.address}\n\nid: 2\ndata: more\n\n`]);
    const rejoined = await said(await ask('/openapi/v1/runs/0/stream', { headers: { 'last-event-id': '2' } }));
    expect(rejoined.body).toMatch(/^id: 3\ndata: of \S+\n\ndata: \[DONE\]\n\n$/);
    expect(rejoined.body).not.toContain(teller!.address);
  });

  test('nodes learn who asked, by which scheme and for which host, and nothing that a client made up', async () => {
    const { nodes, ask } = await askStandIns();
    const headers = { host: 'shares.example.com', 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'http' };
    await said(await ask('/share/p/1', { headers, localAddress: '127.0.0.5' }));
    await said(await ask(TURNS, { ...TURN, headers: { ...headers, host: 'errand.example.com' } }));
    const seen = nodes.flatMap(({ asked }) => asked.map(({ asked: of }) => of.headers));
    const last = (list: string | string[] | undefined) => String(list).split(/, */).at(-1);
    const told = seen.map((of) => `${of.host} ${last(of['x-forwarded-for'])} ${String(of['x-forwarded-proto'])}`);
    expect(told.toSorted((one, other) => one.localeCompare(other))).toEqual([
      'errand.example.com 127.0.0.1 https',
      'shares.example.com 127.0.0.5 https',
    ]);
  });
});

/** Two checks have failed when the third one comes. */
const noticed = (nodes: readonly StandIn[]) => waitFor(() => nodes.every(({ checks }) => checks() > 2));

const runsOf = (daemon: DaemonProcess) => rowsOf<{ n: number }>(daemon, 'SELECT count(*) AS n FROM runs')[0]!.n;

async function drain(daemon: DaemonProcess, drains: boolean): Promise<void> {
  const { items } = (await daemon.admin('GET', '/api/v1/nodes')) as { items: { id: string }[] };
  await daemon.admin('POST', `/api/v1/nodes/${items[0]!.id}/${drains ? 'drain' : 'undrain'}`);
}

async function said(reply: IncomingMessage) {
  return { status: reply.statusCode!, headers: reply.headers, body: await text(reply) };
}
