// The real binary as another node of an installation: a data directory of its own, on the same database and the same bucket.
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type DaemonOptions, type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { type Cluster, ROLE, startCluster } from '../../support/postgres/cluster.ts';
import { faultyS3, S3_BUCKET, S3_KEY } from '../../support/s3/faulty-s3.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let cluster: Cluster;
let model: ModelServer;
let made = 0;
beforeAll(async () => {
  cluster = await startCluster();
  model = await startModelServer();
});
afterAll(async () => {
  await model.close();
  await cluster.close();
});

/** What the nodes of an installation have in common. */
async function anInstallation(): Promise<DaemonOptions> {
  const name = `joined_${(made += 1)}`;
  await cluster.query('postgres', `CREATE DATABASE ${name} OWNER ${ROLE}`);
  const { endpoint } = (await faultyS3()).target;
  const keyFile = join(temporaryDirectory({ key: `${S3_KEY.id}:${S3_KEY.secret}\n` }), 'key');
  const s3 = { endpoint, bucket: S3_BUCKET, key_file: keyFile };
  const errandYaml = `blobs: { s3: ${JSON.stringify(s3)} }\n`;
  return { modelServerUrl: model.url, database: cluster.url(name), errandYaml };
}

async function aNode(options: DaemonOptions): Promise<DaemonProcess> {
  const node = await startDaemonProcess(options);
  onTestFinished(() => node.close());
  return node;
}

interface Files {
  readonly artifact_status: string;
  readonly files: readonly { readonly url: string }[];
}

/** The text of the only file of a run, as a node sends it. */
async function fileOf(node: DaemonProcess, runId: string): Promise<string> {
  const headers = { authorization: `Bearer ${node.apiKey}` };
  const { files } = await waitFor(async () => {
    const found = (await (await fetch(`${node.url}/openapi/v1/runs/${runId}/artifacts`, { headers })).json()) as Files;
    return found.artifact_status === 'ready' && found;
  });
  return (await fetch(files[0]!.url)).text();
}

async function writeFile(node: DaemonProcess) {
  const content = randomBytes(100_000).toString('hex');
  model.script(({ step }) =>
    step === 0 ? { tools: [{ name: 'write_file', input: { path: '/large.txt', content } }] } : { text: 'Done.' },
  );
  return { content, runId: (await takeTurn(node, { content: 'Write.' })).runId! };
}

test('another data directory joins with the master key, has the files of the first one, and its own can be had there', async () => {
  const shared = await anInstallation();
  const first = await aNode(shared);
  const one = await writeFile(first);
  expect(await fileOf(first, one.runId)).toBe(one.content);
  await first.stop();
  const second = await aNode({ ...shared, joins: first });
  expect(await fileOf(second, one.runId)).toBe(one.content);
  const other = await writeFile(second);
  expect(await fileOf(second, other.runId)).toBe(other.content);
  await second.restart();
  await second.stop();
  await first.restart();
  expect(await fileOf(first, other.runId)).toBe(other.content);
});

test('one with another key, or whose settings say that files are elsewhere, does not start, and says what to do', async () => {
  const shared = await anInstallation();
  const first = await aNode(shared);
  await first.stop();
  const refusal = (options: DaemonOptions) => aNode({ ...shared, joins: first, ...options }).then(() => '', String);
  expect(await refusal({ errandYaml: '' })).toMatch(/For another node of it, blobs\.s3 has to name that bucket/);
  const dataDir = temporaryDirectory();
  writeFileSync(join(dataDir, 'master.key'), randomBytes(32), { mode: 0o600 });
  expect(await refusal({ joins: { ...first, dataDir } })).toMatch(
    /master\.key is another master key than the one that .* is used with\. Copy master\.key from the data directory/,
  );
});
