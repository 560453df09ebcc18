// The export of a run: each request in the chat form, with tools and schema, and without any secret that the daemon holds.
import { OPERATOR } from '../../../support/http/callers.ts';
import { makeSlices } from '../../../../src/domain/loop/slices.ts';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadCatalog } from '../../../../src/catalog/kinds/models.ts';
import { loadDefinitions } from '../../../../src/catalog/load-definitions.ts';
import type { JsonObject } from '../../../../src/domain/json.ts';
import { notFound } from '../../../../src/domain/errors.ts';
import { newId } from '../../../../src/domain/ids.ts';
import type { SetupText } from '../../../../src/domain/sessions/run-setup.ts';
import { secretContextOf } from '../../../../src/domain/webhooks/webhook.ts';
import { deriveFrom } from '../../../../src/files/master-key.ts';
import { makeSecretBox } from '../../../../src/files/secret-box.ts';
import { renderRunExport } from '../../../../src/http/sessions/run-export-wire.ts';
import { makeExportRun } from '../../../../src/operations/turns/exports/export-run.ts';
import { runExport } from '../../../../src/wire/sessions/run-export.ts';
import { readWhole } from '../../../../src/wire/shapes/composites.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { aStep, fenceOf, FREE, storeFixture, type StoreFixture } from '../../../support/store/store-fixture.ts';
import { aWebhook } from '../../../support/store/webhooks.ts';

const SECRETS = {
  modelKey: 'canary-model-key-1',
  modelHeader: 'canary-model-header-2',
  mcpFile: 'canary-mcp-file-3',
  client: 'canary-client-secret-4',
  connection: 'canary-connection-token-5',
  ownWebhook: 'canary-own-webhook-6',
  fixtureWebhook: 'canary-house-webhook-7',
  apiKey: 'errand_abcd1234_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg',
};
/** Of another user, whose secret this one has learned. */
const OF_ANOTHER = 'canary-of-another-8';
const FILES = {
  'model.key': SECRETS.modelKey,
  'mcp.txt': SECRETS.mcpFile,
  'client.txt': SECRETS.client,
  'models.yaml': `endpoints:
  local: { kind: openai, base_url: "http://127.0.0.77:9/v1", api_key_file: model.key, headers: { x-house: ${SECRETS.modelHeader} } }
models:
  scripted: { endpoint: local, model: scripted }
scenarios:
  general: { model: scripted }
`,
  'mcp-servers.yaml': `servers:
  tide: { url: "http://127.0.0.77:9/mcp", header_files: { x-key: mcp.txt } }
`,
  'connectors.yaml': `connectors:
  crm:
    description: Customers
    base_url: https://crm.example
    auth: { kind: oauth2_client_credentials, token_url: "https://crm.example/token", client_id: me, client_secret_file: client.txt }
`,
};
const box = makeSecretBox(deriveFrom(randomBytes(32)));
const ROOT = OPERATOR;

async function plantSecrets({ store, user }: StoreFixture): Promise<void> {
  const connect = (userSeq: number, secret: string, id = newId()) =>
    store.connections.create({ id, userSeq, connector: 'crm', name: id, secret: box.seal(secret, id) });
  await connect(user.seq, SECRETS.connection);
  const { seq: stranger } = await store.users.create({ ...user, username: 'other', teamId: null, passwordHash: 'x' });
  await connect(stranger, OF_ANOTHER);
  const hook = (userSeq: number | null, secret: string) =>
    store.webhooks.create(aWebhook({ userSeq, sealSecret: (id) => box.seal(secret, secretContextOf(id)) }));
  await hook(user.seq, SECRETS.ownWebhook);
  await hook(null, SECRETS.fixtureWebhook);
}

async function exporter() {
  const fixture = await storeFixture(join(temporaryDirectory(), 'errand.db'));
  await plantSecrets(fixture);
  const locations = { configDir: temporaryDirectory(FILES), credentialsDirectory: null };
  const catalog = loadCatalog(locations.configDir, null);
  const loaded = loadDefinitions(locations, { models: null, tools: new Set() });
  if (!catalog.ok || !loaded.ok) throw new Error(JSON.stringify([catalog, loaded]));
  const outfit = { instructions: `Be exact with ${SECRETS.client}.`, tools: ['read_file'], equipment: {} as never };
  const exportOf = makeExportRun({
    store: fixture.store,
    clock: fixture.clock,
    slices: makeSlices(fixture.clock),
    auditedAccess: { run: async (_, id) => (await fixture.store.runs.find(id))! },
    secrets: box,
    locations,
    blobs: {
      read: async (key) => {
        if (key === 'gone.png') throw notFound('The blob');
        return Buffer.from(`image of ${key}`);
      },
    },
    catalog: () => catalog.catalog,
    definitions: () => loaded.definitions,
    equip: async () => ({ ok: true, outfit }),
  });
  const wholeOf = async (id: string) => (await (await exportOf(ROOT, id)).read())[0]!;
  /** Through its shape, as a client reads it. */
  const exported = async (id: string) =>
    readWhole(runExport, JSON.parse(JSON.stringify(renderRunExport(await wholeOf(id)))) as JsonObject);
  return { ...fixture, exported };
}

type Scene = Awaited<ReturnType<typeof exporter>>;
const output = Object.entries(SECRETS)
  .map(([name, secret]) => `${name}: ${secret}`)
  .join('\n');

/** A run that asks twice: its reply has two calls, one of which was never answered. */
async function aRun(scene: Scene, text: string, sessionId: string | null = null, schema: JsonObject | null = null) {
  const content = [{ type: 'text', text }] as const;
  const run = await scene.accept({ content, sessionId, outputSchema: schema });
  const [claimed] = await scene.claim();
  const fence = fenceOf(claimed!);
  const { runs } = scene.store;
  const calls = ['a', 'b'].map((id) => ({
    id: `${run.id}${id}`,
    name: 'shell',
    input: { command: `echo ${SECRETS.modelKey}` },
  }));
  await runs.recordStep(fence, aStep({ text: 'I look.', calls }), FREE);
  const result = { step: 1, toolUseId: calls[0]!.id, name: 'shell', ok: true, output, durationMs: 1 };
  await runs.recordToolResult(fence, result);
  await runs.recordStep(fence, aStep({ step: 2, text: 'Done.' }), FREE);
  await runs.finalize(fence, { outcome: 'failed', error: { type: 'api_error', message: output, retryable: false } });
  await runs.settle(fence);
  return run;
}

const TURN = ['user', 'assistant', 'tool', 'assistant'];

test('each step is asked with what came before its reply, and a later run is not in it', async () => {
  const scene = await exporter();
  const first = await aRun(scene, 'First.');
  const second = await aRun(scene, 'Second.', first.sessionId, { type: 'object', title: 'Tide' });
  await aRun(scene, 'Third.', first.sessionId);
  const document = await scene.exported(second.id);
  expect(document.conversation.map(({ role }) => role)).toEqual([...TURN, ...TURN]);
  expect(document.requests).toMatchObject([
    { step: 1, messages: 5, model: 'scripted', input_tokens: 10, output_tokens: 4, first_token_ms: 40 },
    { step: 2, messages: 7 },
  ]);
  expect(document.conversation[5]).toMatchObject({ content: 'I look.', tool_calls: [{ type: 'function' }, {}] });
  expect(document).toMatchObject({
    complete: true,
    older_left_out: false,
    output_schema: { type: 'object', title: 'Tide' },
    model: { name: 'scripted', endpoint: 'local', kind: 'openai' },
    setups: [
      {
        recorded: false,
        tools: [{ type: 'function', function: { name: 'read_file', parameters: { type: 'object' } } }],
      },
    ],
  });
  expect(JSON.stringify(document)).not.toContain('Third.');
});

test('what the daemon holds of the installation, of the user and of others is blotted', async () => {
  const scene = await exporter();
  const { id } = await aRun(scene, `My token is ${SECRETS.connection}, theirs ${OF_ANOTHER}, or a=${OF_ANOTHER}.`);
  const document = await scene.exported(id);
  const text = JSON.stringify(document);
  const secrets = [...Object.values(SECRETS), OF_ANOTHER];
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  expect(document.setups[0]?.system).toBe('Be exact with [credential].');
});

/** A run whose one reply was asked with this. */
async function aRunWith(scene: Scene, setup: SetupText, changes: Parameters<Scene['accept']>[0] = {}) {
  const run = await scene.accept(changes);
  const [claimed] = await scene.claim();
  const text = JSON.stringify(setup);
  const fence = fenceOf(claimed!);
  for (const step of [1, 2])
    await scene.store.runs.recordStep(
      fence,
      aStep({ step, setup: step === 1 ? { sha256: text, bytes: Buffer.from(text) } : null }),
      FREE,
    );
  return run;
}

test('what was recorded of instructions and tools is exported as it was, without secrets', async () => {
  const scene = await exporter();
  const schema = { type: 'object', title: `of ${SECRETS.mcpFile}` };
  const tools = [{ name: 'tide_look', description: `Looks with ${SECRETS.mcpFile}.`, schema }];
  const { id } = await aRunWith(scene, { system: `Ask ${SECRETS.connection}.`, tools, omitted: ['tide_all'] });
  const document = await scene.exported(id);
  expect(document.setups).toEqual([
    {
      from_step: 1,
      recorded: true,
      system: 'Ask [credential].',
      tools: [
        {
          type: 'function',
          function: {
            name: 'tide_look',
            description: 'Looks with [credential].',
            parameters: { type: 'object', title: 'of [credential]' },
          },
        },
      ],
      tools_left_out: ['tide_all'],
    },
  ]);
  expect(document.requests.map(({ setup }) => setup)).toEqual([0, 0]);
});

test('attachments are named in their message; images and texts of documents are there once, within bounds', async () => {
  const scene = await exporter();
  const file = (name: string, mimeType: string, size: number) => {
    const facts = { id: newId(), name, path: `attachments/${name}`, workspacePath: `/uploads/${name}`, shown: null };
    return { ...facts, mimeType, size, sha256: name };
  };
  const attachments = [
    file('chart.png', 'image/png', 5),
    file('gone.png', 'image/png', 5),
    file('huge.png', 'image/png', 5_000_000),
    file('tides.pdf', 'application/pdf', 900),
    file('torn.pdf', 'application/pdf', 900),
    file('tides.bin', 'application/octet-stream', 9),
  ];
  const content = [
    { type: 'text', text: 'Look.' } as const,
    { type: 'attachment', attachmentId: attachments[0]!.id, media: 'image' } as const,
  ];
  await scene.store.documents.keep('tides.pdf', { text: `High at ${SECRETS.connection}.` });
  await scene.store.documents.keep('torn.pdf', { fault: 'is damaged' });
  const { id } = await scene.accept({ content, attachments });
  const document = await scene.exported(id);
  expect(document.conversation[0]!.content).toContain('[attached: chart.png, image/png, 5 bytes, sha256 chart.png]');
  expect(document.files.map(({ sha256, size: _size, mime_type: _type, ...shown }) => [sha256, shown])).toEqual([
    ['chart.png', { base64: Buffer.from('image of chart.png').toString('base64') }],
    ['gone.png', { left_out: 'it could not be read' }],
    ['huge.png', { left_out: 'no model is shown an image of this size' }],
    ['tides.pdf', { text: 'High at [credential].', characters: 34 }],
    ['torn.pdf', { left_out: 'it is damaged' }],
    ['tides.bin', { left_out: 'it has no text' }],
  ]);
});

test('a run that has only begun has its question, and no requests', async () => {
  const scene = await exporter();
  const { id } = await scene.accept();
  const document = await scene.exported(id);
  expect(document).toMatchObject({ complete: false, requests: [], conversation: [{ content: 'Tell me of tides.' }] });
});
