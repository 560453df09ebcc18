// What `errand sessions artifacts` and `errand runs artifacts` show and save.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDirectory, refuse, type Received, run, start, startFakeDaemon } from '../../outside.ts';

const SESSION = '0190f6a0-0000-7000-8000-000000000001';
const RUN = '0190f6a0-0000-7000-8000-000000000002';
const PATH = '/files/k1.abc.def/';
const BYTES = Buffer.from('PK, in a manner of speaking');
const SHA256 = createHash('sha256').update(BYTES).digest('hex');

const archive = (filename: string) => ({
  url: `https://errand.example.com/base${PATH}${filename}`,
  filename,
  size: BYTES.length,
  sha256: SHA256,
});

const file = (path: string, more: object = {}) => ({
  id: path,
  name: path.slice(path.lastIndexOf('/') + 1),
  type: 'file',
  path,
  children: null,
  url: 'u',
  downloadUrl: 'd',
  mimeType: 'text/plain',
  oss_status: null,
  oss_meta: { size: 3, sha256: 'abc' },
  ...more,
});
const folder = (path: string, children: object[]) => ({ ...file(path), type: 'folder', children, oss_meta: null });

const WORKSPACE = {
  session_id: SESSION,
  workspace_export_status: 'ready',
  files: [folder('/deep', [file('/deep/b.txt')]), file('/a.txt')],
  archive: archive(`workspace-${SESSION}.zip`),
};
const ARTIFACTS = {
  session_id: SESSION,
  run_id: RUN,
  artifact_status: 'ready',
  file_count: 1,
  total_size: 3,
  files: [file('/a.txt', { oss_status: 'added' })],
  archive: archive(`run-artifacts-${RUN}.tar.gz`),
  error: null,
  skipped: { links: 2, too_large: 1, special: 0 },
};

const sends = (bytes: Buffer) => (_received: Received, response: ServerResponse) => {
  response.writeHead(200, { 'content-length': BYTES.length });
  response.end(bytes);
};

const daemon = (routes: Parameters<typeof startFakeDaemon>[0] = {}) =>
  startFakeDaemon({
    [`GET /api/v1/sessions/${SESSION}/artifacts`]: () => WORKSPACE,
    [`GET /api/v1/runs/${RUN}/artifacts`]: () => ARTIFACTS,
    [`GET ${PATH}workspace-${SESSION}.zip`]: sends(BYTES),
    [`GET ${PATH}run-artifacts-${RUN}.tar.gz`]: sends(BYTES),
    ...routes,
  });

test('a workspace is a line a file in order of path, or the whole document', async () => {
  const { dataDir } = await daemon();
  const listed = await run(['sessions', 'artifacts', SESSION], { dataDir });
  expect(listed).toMatchObject({ code: 0, stderr: '' });
  expect(listed.stdout).toBe('/a.txt\t3\ttext/plain\tabc\n/deep/b.txt\t3\ttext/plain\tabc\n');
  const json = await run(['sessions', 'artifacts', SESSION, '-o', 'json'], { dataDir });
  expect(JSON.parse(json.stdout)).toEqual(WORKSPACE);
});

test('a run shows what it did to each file, and what was skipped', async () => {
  const { dataDir } = await daemon();
  const listed = await run(['runs', 'artifacts', RUN], { dataDir });
  expect(listed.stdout).toBe('added\t/a.txt\t3\ttext/plain\tabc\n');
  expect(listed.stderr).toBe('Skipped: 2 links, 1 too large.\n');
});

test.each([
  ['sessions', SESSION, `workspace-${SESSION}.zip`],
  ['runs', RUN, `run-artifacts-${RUN}.tar.gz`],
])('%s artifacts %s --download saves %s, fetched over the socket without a credential', async (noun, id, name) => {
  const { dataDir, received } = await daemon();
  const directory = join(makeDirectory(), 'made/for/it');
  const saved = await run([noun, 'artifacts', id, '--download', directory, '-o', 'json'], { dataDir });
  expect(saved.code).toBe(0);
  const path = join(directory, name);
  expect(JSON.parse(saved.stdout)).toEqual({ path, size: BYTES.length, sha256: SHA256 });
  expect(readFileSync(path)).toEqual(BYTES);
  expect(readdirSync(directory)).toEqual([name]);
  expect(received.at(-1)).toMatchObject({ path: PATH + name });
  expect(received.at(-1)!.headers.authorization).toBeUndefined();
});

test('an existing file is replaced only after confirmation', async () => {
  const { dataDir } = await daemon();
  const directory = makeDirectory();
  const path = join(directory, `workspace-${SESSION}.zip`);
  writeFileSync(path, 'mine');
  const args = ['sessions', 'artifacts', SESSION, '--download', directory];
  expect(await run(args, { dataDir })).toMatchObject({ code: 2 });
  const terminal = { stdin: true, stderr: true };
  expect(await run(args, { dataDir, terminal, stdin: 'n\n' })).toMatchObject({ code: 1 });
  expect(readFileSync(path, 'utf8')).toBe('mine');
  expect(await run([...args, '--yes'], { dataDir })).toMatchObject({ code: 0 });
  expect(readFileSync(path)).toEqual(BYTES);
});

test('bytes that are not those of the archive are not saved', async () => {
  const broken = Buffer.from(BYTES);
  broken[0] = 0;
  const { dataDir } = await daemon({ [`GET ${PATH}workspace-${SESSION}.zip`]: sends(broken) });
  const directory = makeDirectory();
  const ended = await run(['sessions', 'artifacts', SESSION, '--download', directory], { dataDir });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('damaged in transit') as unknown });
  expect(readdirSync(directory)).toEqual([]);
});

test('an archive that breaks off leaves nothing behind', async () => {
  const { dataDir } = await daemon({
    [`GET ${PATH}workspace-${SESSION}.zip`]: (_received, response) => {
      response.writeHead(200, { 'content-length': BYTES.length });
      response.write(BYTES.subarray(0, 3), () => response.destroy());
    },
  });
  const directory = makeDirectory();
  const ended = await run(['sessions', 'artifacts', SESSION, '--download', directory], { dataDir });
  expect(ended.code).toBe(1);
  expect(readdirSync(directory)).toEqual([]);
});

test('Ctrl-C in the middle ends with 130 and leaves nothing behind', async () => {
  const { dataDir } = await daemon({
    [`GET ${PATH}workspace-${SESSION}.zip`]: (_received, response) => {
      response.writeHead(200, { 'content-length': BYTES.length });
      response.write(BYTES.subarray(0, 3), () => running.signal('SIGINT'));
    },
  });
  const directory = makeDirectory();
  const running = start(['sessions', 'artifacts', SESSION, '--download', directory], { dataDir });
  expect(await running.code).toBe(130);
  expect(readdirSync(directory)).toEqual([]);
});

test.each([
  ['pending', null, 'There is no archive: its status is pending.'],
  ['failed', { type: 'api_error', message: 'No space is left.' }, 'No space is left.'],
])('while it is %s there is nothing to save, and it says why', async (status, error, words) => {
  const { dataDir } = await daemon({
    [`GET /api/v1/runs/${RUN}/artifacts`]: () => ({ ...ARTIFACTS, artifact_status: status, archive: null, error }),
  });
  const directory = join(makeDirectory(), 'not-made');
  const ended = await run(['runs', 'artifacts', RUN, '--download', directory], { dataDir });
  expect(ended.code).toBe(6);
  expect(ended.stderr).toContain(words);
  expect(existsSync(directory)).toBe(false);
  expect((await run(['runs', 'artifacts', RUN], { dataDir })).stderr).toContain(error?.message ?? status);
});

test('an expired address is reported as such', async () => {
  const { dataDir } = await daemon({
    [`GET ${PATH}workspace-${SESSION}.zip`]: (_received, response) => refuse(response, 403, 'The address has expired.'),
  });
  const ended = await run(['sessions', 'artifacts', SESSION, '--download', makeDirectory()], { dataDir });
  expect(ended).toMatchObject({ code: 4, stderr: expect.stringContaining('The address has expired.') as unknown });
});

test('an id that is none, and a directory that can’t be made, are refused in words', async () => {
  const { dataDir } = await daemon();
  expect((await run(['runs', 'artifacts', 'x'], { dataDir })).code).toBe(2);
  const path = join(makeDirectory(), 'file');
  writeFileSync(path, '');
  const ended = await run(['sessions', 'artifacts', SESSION, '--download', join(path, 'below')], { dataDir });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('could not be saved') as unknown });
});

test('one that is packed by its download is verified with what is said of it afterwards', async () => {
  for (const isDamaged of [false, true]) {
    let asked = 0;
    const unpacked = { ...WORKSPACE.archive, size: null, sha256: null };
    const { dataDir } = await daemon({
      [`GET /api/v1/sessions/${SESSION}/artifacts`]: () => {
        asked += 1;
        return asked === 1 ? { ...WORKSPACE, archive: unpacked } : WORKSPACE;
      },
      [`GET ${PATH}workspace-${SESSION}.zip`]: sends(isDamaged ? Buffer.from(BYTES).fill(0, 3, 4) : BYTES),
    });
    const directory = makeDirectory();
    const saved = await run(['sessions', 'artifacts', SESSION, '--download', directory, '-o', 'json'], { dataDir });
    if (isDamaged) expect(saved).toMatchObject({ code: 1, stdout: '' });
    else expect(JSON.parse(saved.stdout)).toMatchObject({ size: BYTES.length, sha256: SHA256 });
    expect(readdirSync(directory)).toEqual(isDamaged ? [] : [`workspace-${SESSION}.zip`]);
  }
});
