// All that docs/WEBHOOKS.md shows works when it is pasted, and its example bodies are what Errand sends.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JsonValue } from '../../../src/domain/json.ts';
import { WEBHOOK_EVENT_TYPES, type WebhookEventType } from '../../../src/domain/webhooks/webhook.ts';
import { renderBody } from '../../../src/webhooks/bodies/render-body.ts';
import { sampleFacts } from '../../../src/webhooks/bodies/sample-facts.ts';
import { EVENT_BODIES } from '../../../src/wire/webhooks/event-bodies.ts';
import { startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { jsonIn, openReader, type Reader } from '../../support/daemon/document-reader.ts';
import { openTriedDocument } from '../../support/files/document-blocks.ts';
import { type HookReceiver, type Received, startHookReceiver } from '../../support/http/hook-receiver.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DOCUMENT = 'docs/WEBHOOKS.md';
/** The port that the document's receivers listen at. */
const SHOWN_PORT = '8900';
/** One block stands for the address of the daemon; set here, with a secret that is used by the test. */
const { blocks, block, fileBlock, tried, untried } = openTriedDocument(ROOT, DOCUMENT, 'export URL=');

describe('the events', () => {
  const examples = blocks
    .filter(({ language }) => language === 'json')
    .map((example) => ({
      example,
      value: JSON.parse(example.text) as { event_type: WebhookEventType; event_id: string },
    }));

  test('there is one example of each type', { tags: ['§6.2-types'] }, () => {
    expect(examples.map(({ value }) => value.event_type).toSorted()).toEqual(WEBHOOK_EVENT_TYPES.toSorted());
  });

  test.each(examples)(
    '$value.event_type fits its shape, and has the fields of a rendered body',
    { tags: ['§6.3-envelope'] },
    ({ example, value }) => {
      const { event_type: type, event_id: id } = value;
      tried(example);
      expect(EVENT_BODIES[type].read(value as unknown as JsonValue, '')).toEqual(value);
      expect(value).toMatchObject({ is_test: false, meta: { idempotency_key: id } });
      const user = { id: 'u', username: 'mara', fullName: '', department: '', role: 'user' } as const;
      const rendered = renderBody(sampleFacts(type, { user }, Date.now()), { id: 1, ownerScope: 'user' });
      expect(namesIn(value)).toEqual(namesIn(JSON.parse(rendered)));
    },
  );

  test('the table has a row for each type', () => {
    const lines = readFileSync(join(ROOT, DOCUMENT), 'utf8').split('\n');
    const rows = lines.flatMap((line) => /^\| `([a-z_]+\.[a-z_]+)` \|/.exec(line)?.[1] ?? []);
    expect(rows.toSorted()).toEqual(WEBHOOK_EVENT_TYPES.toSorted());
  });
});

/** The names in a document, in their order. */
function namesIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.entries(value).map(([name, inner]) => [name, namesIn(inner)]);
}

const isInstalled = (program: string) => spawnSync(program, ['--help']).error === undefined;

describe('webhooks, as a reader has them', () => {
  const SECRET = `whsec_${Buffer.from('thirty-two bytes that nobody has').toString('base64')}`;
  const NEW_SECRET = `whsec_${Buffer.from('other bytes, after the rotation.').toString('base64')}`;
  /** Records what is verified later. The document's receivers take its place. */
  let receiver: HookReceiver;
  let reader: Reader;
  const ends: (() => void | Promise<void>)[] = [];

  beforeAll(async () => {
    receiver = await startHookReceiver();
    const errandYaml = atPort(block('egress:').text);
    const daemon = await startDaemonProcess({ errandYaml });
    ends.push(daemon.close);
    reader = openReader(daemon, { onTestFinished: (end) => ends.push(end) });
    reader.set({ WEBHOOK_SECRET: SECRET, NEW_SECRET });
    const created = jsonIn(await reader.paste(atPort(block('"name": "first"').text)));
    expect(created).toMatchObject({ data: { has_secret: true, enabled: true } });
    reader.set({ WEBHOOK_ID: String((created['data'] as { id: number }).id) });
  });
  afterAll(async () => {
    await receiver.off();
    for (const end of ends) await end();
  });

  const atPort = (text: string) => text.replaceAll(SHOWN_PORT, String(receiver.port));

  /** Runs a receiver of the document in the place of the one that records, until the test ends. */
  async function runReceiver(command: string, file: string): Promise<{ printed(): string; stop(): Promise<void> }> {
    writeFileSync(join(reader.directory, file), atPort(fileBlock(file).text));
    await receiver.off();
    const child = spawn(command, [file], { cwd: reader.directory, env: reader.env(), stdio: 'pipe' });
    let printed = '';
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (some: string) => (printed += some));
    let running = true;
    const stop = async () => {
      if (!running) return;
      running = false;
      await end(child);
      await receiver.on();
    };
    onTestFinished(stop);
    await waitFor(() => printed.includes('Waiting for webhooks.'), { what: `${file} listens` });
    return { printed: () => printed, stop };
  }

  /** The two lines that send something: a test event, and a run whose end is an event. */
  const sending = () => block('/test"').text.split(/(?<=\n)(?=curl "\$URL\/openapi)/) as [string, string];

  /** Sends a test event; answers what came of it. */
  async function sendTest(): Promise<unknown> {
    return jsonIn(await reader.paste(sending()[0]))['data'];
  }

  /** A test event with its signature. */
  async function recordTest(): Promise<Received> {
    expect(await sendTest()).toMatchObject({ delivered: true, matched: true, status_code: 204 });
    return receiver.received.at(-1) ?? expect.fail('nothing arrived');
  }

  /** Posts a request again, with other headers or other bytes; answers the status. */
  async function repeat({ headers, body }: Pick<Received, 'headers' | 'body'>): Promise<number> {
    const own = Object.entries(headers).filter(([name]) => name.startsWith('x-service-')) as [string, string][];
    // Receivers close a connection that is kept after five seconds, perhaps just when it is used again.
    own.push(['connection', 'close']);
    return (await fetch(receiver.url, { method: 'POST', headers: own, body: new Uint8Array(body) })).status;
  }

  test('the receiver of ten lines prints the test, and the end of a run', async () => {
    expect(fileBlock('receiver.mjs').text.trim().split('\n').length).toBeLessThanOrEqual(10);
    const { printed } = await runReceiver('node', 'receiver.mjs');
    expect(await sendTest()).toMatchObject({ delivered: true, status_code: 204 });
    await reader.paste(sending()[1]);
    await waitFor(() => printed().match(/^session\.completed .+ completed$/gm)?.length === 2);
  });

  const languages = [
    { command: 'node', file: 'receiver.ts' },
    { command: 'python3', file: 'receiver.py' },
  ];
  test.for(languages)(
    'a receiver verifies what was sent, and nothing else: $command $file',
    { tags: ['§6.4-algorithm', '§6.4-receivers'] },
    async ({ command, file }, { skip }) => {
      if (!isInstalled(command)) skip(`SKIPPED: there is no ${command} on this machine`);
      const real = await recordTest();
      const { printed } = await runReceiver(command, file);
      expect(await sendTest()).toMatchObject({ delivered: true, status_code: 204 });
      expect(await repeat(real)).toBe(204);
      await waitFor(() => printed().includes(`session.completed ${real.eventId}`));
      const longAgo = new Date(Date.now() - 6 * 60_000).toISOString();
      const { 'x-service-signature': signature, 'x-service-timestamp': timestamp } = real.headers;
      const signed = (at: string) => hmac(at, real.body, SECRET);
      const refused: Received['headers'][] = [
        { ...real.headers, 'x-service-signature': signed(longAgo), 'x-service-timestamp': longAgo },
        { ...real.headers, 'x-service-timestamp': longAgo },
        {
          ...real.headers,
          'x-service-signature': String(signature).replace(/.$/, (last) => (last === '0' ? '1' : '0')),
        },
        { ...real.headers, 'x-service-signature': hmac(String(timestamp), real.body, NEW_SECRET) },
        { ...real.headers, 'x-service-signature': '' },
        { 'x-service-timestamp': String(timestamp) },
        {},
      ];
      for (const headers of refused)
        expect([headers, await repeat({ headers, body: real.body })]).toEqual([headers, 401]);
      const changed = Buffer.from(real.body.toString().replace('completed', 'kompleted'));
      expect(await repeat({ headers: real.headers, body: changed })).toBe(401);
    },
  );

  test('receiver.ts is right by its types', async () => {
    writeFileSync(join(reader.directory, 'receiver.ts'), fileBlock('receiver.ts').text);
    const options = '--noEmit --strict --skipLibCheck --module nodenext --target es2024 --erasableSyntaxOnly';
    await reader.paste(`node node_modules/typescript/bin/tsc ${options} --types node receiver.ts`);
  });

  test('the shell verifies a delivery', async ({ skip }) => {
    if (!isInstalled('openssl')) skip('SKIPPED: there is no openssl on this machine');
    const { headers, body } = await recordTest();
    const shell = block('openssl dgst').text;

    writeFileSync(join(reader.directory, 'body.json'), body);
    reader.set({
      TIMESTAMP: String(headers['x-service-timestamp']),
      SIGNATURE: String(headers['x-service-signature']),
    });
    expect(await reader.paste(shell)).toContain('genuine\n');
    writeFileSync(join(reader.directory, 'body.json'), `${body.toString()} `);
    await expect(reader.paste(shell)).rejects.toThrow();
  });

  test('the command line verifies a delivery', async () => {
    const { headers, body } = await recordTest();
    writeFileSync(join(reader.directory, 'body.json'), body);
    writeFileSync(join(reader.directory, 'secret.txt'), `${SECRET}\n`);
    reader.set({
      TIMESTAMP: String(headers['x-service-timestamp']),
      SIGNATURE: String(headers['x-service-signature']),
    });
    const line = block('webhooks verify').text;
    expect(await reader.paste(line)).toMatch(/signature\s+true/);
    writeFileSync(join(reader.directory, 'body.json'), `${body.toString()} `);
    await expect(reader.paste(line)).rejects.toThrow('What does not fit: signature.');
  });

  test('a receiver that the daemon does not know is sent what the command line hears and makes up', async () => {
    writeFileSync(join(reader.directory, 'secret.txt'), `${SECRET}\n`);
    reader.set({ XDG_STATE_HOME: reader.directory });
    const [listen, trigger] = atPort(block('webhooks listen').text).split(/(?<=\n)/) as [string, string];
    const child = spawn('bash', ['-c', `exec ${listen}`], { cwd: reader.directory, env: reader.env(), stdio: 'pipe' });
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    for (const output of [child.stdout, child.stderr])
      output.setEncoding('utf8').on('data', (some: string) => (printed += some));
    await waitFor(() => printed.includes('Listening as "ledger" from now on'));
    await reader.paste(sending()[1]);
    await waitFor(() => / session\.completed .* → 204 in \d+ ms/.test(printed));
    expect(await reader.paste(trigger)).toMatch(/delivered\s+true/);
    const { headers, body } = receiver.received.at(-1)!;
    expect(JSON.parse(body.toString())).toMatchObject({ event_type: 'session.failed', webhook: { id: 0 } });
    expect(headers['x-service-signature']).toBe(hmac(String(headers['x-service-timestamp']), body, SECRET));
    await end(child);
  });

  test('the command line creates, tests and changes webhooks, and shows their deliveries', async () => {
    const printed = await reader.paste(atPort(block('webhooks create second').text));
    expect(printed).toMatch(/secret\s+whsec_/);
    expect(printed).toContain('X-Service-Signature');
    expect(printed).toMatch(/delivered\s+\d+\s+session\.completed/);
  });

  test('failed deliveries are listed, and sent again', async () => {
    const lines = block('state=failed').text.split(/(?<=\n)(?=curl)/);
    expect(jsonIn(await reader.paste(lines[0] ?? ''))).toHaveProperty('data.items');
    expect(jsonIn(await reader.paste(lines[1] ?? ''))).toHaveProperty('data.count');
  });

  test('after a rotation, receivers with the old and with the new secret verify', async () => {
    await reader.paste(block('$NEW_SECRET').text);
    for (const { command, file } of languages.filter((language) => isInstalled(language.command)))
      for (const secret of [SECRET, NEW_SECRET]) {
        reader.set({ WEBHOOK_SECRET: secret });
        const { stop } = await runReceiver(command, file);
        expect([file, await sendTest()]).toMatchObject([file, { delivered: true, status_code: 204 }]);
        await stop();
      }
  });
});

test('every block of the document was pasted above', () => {
  expect(untried()).toEqual([]);
});

/** A signature by the rule of §6.4. */
function hmac(timestamp: string, body: Buffer, secret: string): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}

async function end(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill();
  await closed;
}
