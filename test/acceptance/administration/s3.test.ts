// A daemon whose files are in a bucket, on a real server behind a proxy that can break.
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { zipEntries } from '../../support/files/archives.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { faultyS3, type FaultyS3, S3_BUCKET, S3_KEY } from '../../support/s3/faulty-s3.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let [s3, model, daemon]: [FaultyS3, ModelServer, DaemonProcess] = [] as never;
const closers: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  const of = { onTestFinished: (close: () => void | Promise<void>) => void closers.push(close) };
  s3 = await faultyS3(of);
  model = await startModelServer();
  const keyFile = join(temporaryDirectory({ key: `${S3_KEY.id}:${S3_KEY.secret}\n` }, of), 'key');
  const { endpoint, prefix } = { ...s3.target, prefix: 'errand/' };
  const s3Settings = { endpoint, bucket: S3_BUCKET, prefix, key_file: keyFile };
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: `blobs: { s3: ${JSON.stringify(s3Settings)} }\nartifacts: { max_file_mb: 64 }\n`,
  });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
  for (const close of closers.toReversed()) await close();
});

interface Files {
  readonly artifact_status: string;
  readonly files: readonly { readonly path: string; readonly url: string; readonly downloadUrl: string }[];
  readonly archive: { readonly url: string } | null;
}

async function get<T>(path: string): Promise<T> {
  const headers = { authorization: `Bearer ${daemon.apiKey}` };
  return (await (await fetch(`${daemon.url}${path}`, { headers })).json()) as T;
}

const ofRun = (runId: string | null) =>
  waitFor(async () => {
    const found = await get<Files>(`/openapi/v1/runs/${runId}/artifacts`);
    return found.artifact_status === 'pending' ? null : found;
  });

async function bytesAt(url: string): Promise<Buffer> {
  return Buffer.from(await (await fetch(url)).arrayBuffer());
}

/** Has the agent write a file of so many random letters; returns them. */
async function write(sessionId: string | null = null) {
  const content = randomBytes(100_000).toString('hex');
  model.script(({ step }) =>
    step === 0 ? { tools: [{ name: 'write_file', input: { path: '/large.txt', content } }] } : { text: 'Done.' },
  );
  return { content, turn: await takeTurn(daemon, { content: 'Write.', sessionId }) };
}

/** All local copies are gone, as on another machine. */
function dropCopies(): void {
  const blobs = join(daemon.dataDir, 'blobs');
  for (const name of readdirSync(blobs)) if (name.length === 2) rmSync(join(blobs, name), { recursive: true });
}

test('what agents write is in the bucket before it is listed, and is read from there', async () => {
  const { content, turn } = await write();
  const { files, archive } = await ofRun(turn.runId);
  expect(s3.asked.filter(({ method }) => method === 'PUT')).not.toEqual([]);
  await daemon.stop();
  dropCopies();
  await daemon.restart();
  expect((await bytesAt(files[0]!.url)).toString()).toBe(content);
  dropCopies();
  const packed = await waitFor(
    async () => (await get<Pick<Files, 'archive'>>(`/openapi/v1/sessions/${turn.sessionId}/artifacts`)).archive,
  );
  expect(zipEntries(await bytesAt(packed.url))).toEqual({ 'large.txt': content });
  expect(archive).not.toBeNull();
});

test('downloads lead to the bucket where the settings say so, and nothing else does', async () => {
  const { content, turn } = await write();
  const [file] = (await ofRun(turn.runId)).files;
  const yaml = join(daemon.configDir, 'errand.yaml');
  const settings = readFileSync(yaml, 'utf8');
  writeFileSync(yaml, settings.replace('blobs: {', 'blobs: { redirect: true,'));
  const asked = (url: string) => fetch(url, { redirect: 'manual' });
  const there = await waitFor(async () => {
    const reply = await asked(file!.downloadUrl);
    return reply.status === 307 ? reply.headers.get('location') : null;
  });
  expect(there).toContain(s3.target.endpoint);
  const reply = await fetch(there);
  expect(reply.headers.get('content-disposition')).toBe('attachment; filename=large.txt');
  expect(await reply.text()).toBe(content);
  expect((await asked(file!.url)).status).toBe(200);
  const folder = temporaryDirectory();
  await runErrand(['sessions', 'artifacts', turn.sessionId!, '--download', folder, '--data-dir', daemon.dataDir]);
  const [saved] = readdirSync(folder);
  expect(zipEntries(readFileSync(join(folder, saved!)))).toEqual({ 'large.txt': content });
  writeFileSync(yaml, settings);
});

test('files wait for a bucket that is away: the run ends, nothing is listed that is not stored, and readiness names it', async () => {
  s3.cut(true);
  const { content, turn } = await write();
  expect(turn.status).toBe(200);
  const away = await waitFor(async () => {
    const { parts } = await get<{ readonly parts: readonly { name: string; state: string; detail: string }[] }>(
      '/readyz',
    );
    const files = parts.find(({ name }) => name === 'files');
    return files?.state === 'degraded' ? files : null;
  });
  expect(away.detail).toBe('the bucket of files cannot be reached, or refuses');
  const status = await get<{ readonly data: { readonly parts: readonly { name: string; detail: string }[] } }>(
    '/api/v1/status',
  );
  expect(status.data.parts.find(({ name }) => name === 'files')?.detail).toContain("The bucket can't be reached");
  expect((await get<Files>(`/openapi/v1/runs/${turn.runId}/artifacts`)).artifact_status).toBe('pending');
  s3.cut(false);
  const { files } = await ofRun(turn.runId);
  dropCopies();
  expect((await bytesAt(files[0]!.url)).toString()).toBe(content);
});

test('a bucket that has the files of another installation is refused', async () => {
  const another = startDaemonProcess({ errandYaml: readFileSync(join(daemon.configDir, 'errand.yaml'), 'utf8') });
  await expect(another).rejects.toThrow(`s3://${S3_BUCKET}/errand/ has files already`);
});

test('files move to a bucket and back, beside the stopped daemon', async () => {
  const here = { data: daemon.dataDir, config: daemon.configDir };
  const errand = (...args: string[]) => runErrand(['blobs', ...args, '--data-dir', here.data, '-o', 'json']);
  const yaml = join(here.config, 'errand.yaml');
  const settings = readFileSync(yaml, 'utf8');
  const { content, turn } = await write();
  const { files } = await ofRun(turn.runId);
  await expect(errand('copy', '--to', 'local')).rejects.toThrow('is in use by another Errand');
  await daemon.stop();
  dropCopies();
  const back = JSON.parse((await errand('copy', '--to', 'local')).stdout) as { blobs: number };
  expect(back.blobs).toBeGreaterThan(0);
  writeFileSync(yaml, '{}\n');
  s3.cut(true);
  await daemon.restart();
  expect((await bytesAt(files[0]!.url)).toString()).toBe(content);
  s3.cut(false);
  await daemon.stop();
  writeFileSync(yaml, settings.replace('"errand/"', '"moved/"'));
  await expect(daemon.restart()).rejects.toThrow('errand blobs copy --to s3');
  expect(JSON.parse((await errand('copy', '--to', 's3')).stdout)).toMatchObject({
    bucket: `s3://${S3_BUCKET}/moved/`,
    blobs: back.blobs,
    copied: back.blobs,
  });
  await daemon.restart();
  dropCopies();
  expect((await bytesAt(files[0]!.url)).toString()).toBe(content);
  await daemon.stop();
  expect((await runErrand(['blobs', 'own', '--data-dir', here.data])).stdout).toContain(`s3://${S3_BUCKET}/moved/`);
});

test('a daemon whose files are elsewhere than its settings say does not start', async () => {
  writeFileSync(join(daemon.configDir, 'errand.yaml'), '{}\n');
  await expect(daemon.restart()).rejects.toThrow(
    `The bytes of files are in s3://${S3_BUCKET}/moved/, and blobs.s3 names no bucket`,
  );
  expect(daemon.stderr()).not.toContain(`:${S3_KEY.secret}`);
});
