// `errand serve` and `errand init`: the first words of a new daemon, and the ways it ends.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Created, Daemon, DaemonVerbs } from '../../../../src/cli/frame/io.ts';
import { shellWord } from '../../../../src/terminal/shell-word.ts';
import { firstStepsText } from '../../../../src/cli/terminal/welcome.ts';
import { ErrandError } from '../../../../src/domain/errors.ts';
import { makeDirectory, run, start, startFakeDaemon } from '../../outside.ts';

const CREATED: Created = {
  dataDir: '/d',
  configDir: '/d/config',
  admin: { userId: 'u-1', username: 'admin', password: 'made-up' },
  apiKey: { id: 'ab12cd34', key: 'errand_ab12cd34_secret', scope: 'admin' },
};

const DOCUMENT = {
  data_dir: '/d',
  config_dir: '/d/config',
  admin: { user_id: 'u-1', username: 'admin', password: 'made-up' },
  api_key: { id: 'ab12cd34', key: 'errand_ab12cd34_secret', scope: 'admin' },
};

interface Acted {
  readonly verbs: DaemonVerbs;
  readonly calls: string[];
  /** Lets the drain succeed, and with it the daemon end. */
  readonly finish: () => void;
}

function actor(
  created: Created | null,
  faults: { drain?: Error; start?: Promise<never>; halt?: Promise<never>; ready?: () => void } = {},
): Acted {
  const calls: string[] = [];
  const ended = Promise.withResolvers<void>();
  const daemon: Daemon = {
    url: 'http://127.0.0.1:8484',
    created,
    ended: ended.promise,
    ready() {
      faults.ready?.();
      return Promise.resolve();
    },
    reload() {
      calls.push('reload');
    },
    drain() {
      calls.push('drain');
      return faults.drain ? Promise.reject(faults.drain) : ended.promise;
    },
    halt() {
      calls.push('halt');
      return faults.halt ?? Promise.resolve();
    },
  };
  const verbs: DaemonVerbs = {
    initialize: (config, adminName) => {
      calls.push(`initialize ${adminName} in ${config.locations.dataDir}`);
      return Promise.resolve(CREATED);
    },
    renewMasterKey: (config) => {
      calls.push(`renew the key in ${config.locations.dataDir}`);
      return Promise.resolve();
    },
    startDaemon: ({ config }) => {
      calls.push(`start on ${config.settings.listen}, workers ${config.workers}`);
      return faults.start ?? Promise.resolve(daemon);
    },
  };
  return { verbs, calls, finish: () => ended.resolve() };
}

test('a first start shows credentials and how to try them on a terminal, once', async () => {
  const { verbs, finish } = actor(CREATED);
  const running = start(['serve', '--data-dir', "/tmp/it's here"], { daemon: verbs, terminal: { stdout: true } });
  await running.until('chat --stream');
  finish();
  expect(await running.code).toBe(0);
  const out = running.stdout();
  expect(out).toContain('Administrator  admin\n');
  expect(out).toContain('Password       made-up\n');
  expect(out).toContain('Listening on http://127.0.0.1:8484\n');
  expect(out).toContain('curl http://127.0.0.1:8484/openapi/v1/messages \\\n');
  expect(out).toContain('export ERRAND_API_KEY=errand_ab12cd34_secret\n');
  expect(out).toContain(`errand --data-dir '/tmp/it'\\''s here' chat --stream`);
  expect(running.stderr()).toBe('');
});

test('without a terminal, the first credentials are written to a file that only the owner can read, and stdout says where', async () => {
  const dataDir = makeDirectory();
  const { verbs, finish } = actor({ ...CREATED, dataDir });
  finish();
  const { stdout, stderr } = await run(['serve'], { daemon: verbs, dataDir });
  const file = path.join(dataDir, 'first-credentials');
  expect(stdout).toContain(`are in ${file}.`);
  expect(stdout).toMatch(/export ERRAND_API_KEY=\$\(sed [^]*curl http:[^]* chat --stream/);
  for (const secret of ['made-up', 'errand_ab12cd34_secret']) expect(stdout + stderr).not.toContain(secret);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toMatch(/made-up\n[^]*errand_ab12cd34_secret[^]*curl [^]* chat --stream/);
});

test('if the credentials cannot be written, the daemon says how to create new ones, and continues', async () => {
  const { verbs, finish } = actor({ ...CREATED, dataDir: '/nowhere/at/all' });
  const running = start(['serve'], { daemon: verbs, dataDir: makeDirectory() });
  await running.until('errand keys create --user admin --scope admin');
  finish();
  expect(await running.code).toBe(0);
  expect(running.stdout()).toBe('');
});

test('init makes a new master key on request, and says what that costs', async () => {
  const { verbs, calls } = actor(null);
  const dataDir = makeDirectory();
  const { code, stderr } = await run(['init', '--new-master-key'], { daemon: verbs, dataDir });
  expect([code, calls]).toEqual([0, [`renew the key in ${dataDir}`]]);
  expect(stderr).toContain('All login tokens and file addresses become invalid');
});

test('a later start prints nothing to stdout, and the address to a terminal', async () => {
  const { verbs, finish } = actor(null);
  finish();
  const dataDir = makeDirectory();
  writeFileSync(path.join(dataDir, 'errand.db'), '');
  const setting = { daemon: verbs, dataDir };
  expect(await run(['serve'], setting)).toEqual({ code: 0, stdout: '', stderr: '' });
  const seen = await run(['serve'], { ...setting, terminal: { stderr: true } });
  expect(seen).toEqual({ code: 0, stdout: '', stderr: 'Errand listens on http://127.0.0.1:8484\n' });
});

test('flags of serve reach the configuration', async () => {
  const { verbs, calls, finish } = actor(null);
  finish();
  await run(['serve', '--listen', '127.0.0.1:1', '--no-workers'], { daemon: verbs, dataDir: makeDirectory() });
  expect(calls).toEqual(['start on 127.0.0.1:1, workers false']);
});

test.each(['SIGTERM', 'SIGINT'] as const)('%s drains, and a clean end is 0', { tags: ['K5-serve'] }, async (name) => {
  const { verbs, calls, finish } = actor(null);
  const running = start(['serve'], { daemon: verbs, dataDir: makeDirectory(), terminal: { stderr: true } });
  await running.until('Errand listens');
  running.signal(name);
  await expect.poll(() => calls).toContain('drain');
  finish();
  expect(await running.code).toBe(0);
  expect(calls).not.toContain('halt');
});

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)('a second %s halts and ends with %i', async (name, code) => {
  const { verbs, calls } = actor(null);
  const running = start(['serve'], { daemon: verbs, dataDir: makeDirectory(), terminal: { stderr: true } });
  await running.until('Errand listens');
  running.signal('SIGTERM');
  running.signal(name);
  expect(await running.code).toBe(code);
  expect(calls.slice(1)).toEqual(['drain', 'halt']);
});

test('a halt that hangs or fails does not keep the process', async () => {
  const failing = Promise.reject(new Error('No.'));
  failing.catch(() => undefined);
  for (const halting of [new Promise<never>(() => undefined), failing]) {
    const { verbs } = actor(null, { halt: halting });
    const running = start(['serve'], { daemon: verbs, dataDir: makeDirectory(), terminal: { stderr: true } });
    await running.until('Errand listens');
    running.signal('SIGTERM');
    running.signal('SIGTERM');
    expect(await running.code).toBe(143);
  }
});

test('a signal during the start drains the daemon when it is up; a second ends a hanging start', async () => {
  const { verbs, calls, finish } = actor(null);
  const opened = Promise.withResolvers<void>();
  const slow: DaemonVerbs = {
    ...verbs,
    startDaemon: async (config) => {
      calls.push('asked');
      await opened.promise;
      return await verbs.startDaemon(config);
    },
  };
  const running = start(['serve'], { daemon: slow, dataDir: makeDirectory() });
  await expect.poll(() => calls).toContain('asked');
  running.signal('SIGTERM');
  opened.resolve();
  await expect.poll(() => calls).toContain('drain');
  finish();
  expect(await running.code).toBe(0);

  const stuck = actor(null, { start: new Promise<never>(() => undefined) });
  const hanging = start(['serve'], { daemon: stuck.verbs, dataDir: makeDirectory() });
  await expect.poll(() => stuck.calls).toHaveLength(1);
  hanging.signal('SIGTERM');
  hanging.signal('SIGTERM');
  expect(await hanging.code).toBe(143);
});

test('SIGHUP reads the configuration again and ends nothing; the end of the terminal drains', async () => {
  const { verbs, calls, finish } = actor(null);
  const service = start(['serve'], { daemon: verbs, dataDir: makeDirectory(), terminal: { stderr: true } });
  await service.until('Errand listens');
  service.hangUp();
  service.hangUp();
  expect(calls.slice(1)).toEqual(['reload', 'reload']);
  service.signal('SIGTERM');
  finish();
  expect(await service.code).toBe(0);

  const seen = actor(null);
  const terminal = { stdin: true, stderr: true };
  const inTerminal = start(['serve'], { daemon: seen.verbs, dataDir: makeDirectory(), terminal });
  await inTerminal.until('Errand listens');
  inTerminal.hangUp();
  await expect.poll(() => seen.calls.slice(1)).toEqual(['drain']);
  seen.finish();
  expect(await inTerminal.code).toBe(0);
});

test('a daemon is reported as ready after its credentials have been shown', { tags: ['K5-first-start'] }, async () => {
  const dataDir = makeDirectory();
  const file = path.join(dataDir, 'first-credentials');
  const { verbs, calls, finish } = actor(
    { ...CREATED, dataDir },
    { ready: () => calls.push(`kept: ${existsSync(file)}`) },
  );
  finish();
  expect((await run(['serve'], { daemon: verbs, dataDir })).code).toBe(0);
  expect(calls).toContain('kept: true');
});

test('a drain that fails ends with 1 and says why', async () => {
  const { verbs } = actor(null, { drain: new Error('The disk is full.') });
  const running = start(['serve'], { daemon: verbs, dataDir: makeDirectory(), terminal: { stderr: true } });
  await running.until('Errand listens');
  running.signal('SIGTERM');
  expect(await running.code).toBe(1);
  expect(running.stderr()).toContain('The disk is full.');
});

test('a data directory that another daemon holds ends with 6', async () => {
  const held = Promise.reject(new ErrandError('conflict', 'Process 42 holds the data directory.'));
  held.catch(() => undefined);
  const ended = await run(['serve'], { daemon: actor(null, { start: held }).verbs, dataDir: makeDirectory() });
  expect(ended).toEqual({ code: 6, stdout: '', stderr: 'errand: Process 42 holds the data directory.\n' });
});

test('init prints its document, plain columns, or words for people', { tags: ['K5-init'] }, async () => {
  const { verbs, calls } = actor(null);
  const dataDir = makeDirectory();
  const json = await run(['init', '--admin', 'root', '-o', 'json'], { daemon: verbs, dataDir });
  expect(JSON.parse(json.stdout)).toEqual(DOCUMENT);
  expect(calls).toEqual([`initialize root in ${dataDir}`]);
  const columns = await run(['init'], { daemon: verbs, dataDir });
  expect(columns.stdout).toContain('api_key\terrand_ab12cd34_secret\n');
  const words = await run(['init'], { daemon: verbs, dataDir, terminal: { stdout: true } });
  expect(words.stdout).toContain('Administrator  admin\n');
  expect(words.stderr).toBe('Next: errand serve\n');
});

test('serve with -o json prints the same document', async () => {
  const { verbs, finish } = actor(CREATED);
  finish();
  const { stdout } = await run(['serve', '-o', 'json'], { daemon: verbs, dataDir: makeDirectory() });
  expect(JSON.parse(stdout)).toEqual(DOCUMENT);
});

test('a bad configuration ends serve, init and config with 78 and every problem, and starts nothing', {
  tags: ['J2-problems'],
}, async () => {
  const dataDir = makeDirectory();
  mkdirSync(path.join(dataDir, 'config'));
  writeFileSync(path.join(dataDir, 'config', 'errand.yaml'), 'listen: nowhere\nlistne: x\n');
  const { verbs, calls } = actor(null);
  for (const args of [['serve'], ['init'], ['config', 'show']]) {
    const ended = await run(args, { daemon: verbs, dataDir });
    expect(ended).toMatchObject({ code: 78, stdout: '' });
    expect(ended.stderr).toMatch(/errand\.yaml:1:\d+ listen/);
    expect(ended.stderr).toMatch(/errand\.yaml:2:\d+ /);
  }
  expect(calls).toEqual([]);
  const checked = await run(['config', 'check'], { dataDir });
  expect(checked.code).toBe(78);
  expect(checked.stderr).toContain(`Checked the files in ${path.join(dataDir, 'config')}`);
  expect(checked.stdout.trimEnd().split('\n')).toHaveLength(2);
  const document = await run(['config', 'check', '-o', 'json'], { dataDir });
  expect(document.code).toBe(78);
  expect(JSON.parse(document.stdout)).toMatchObject({
    ok: false,
    problems: [{ line: 1, column: expect.any(Number) as number }, { line: 2 }],
  });
});

test('a valid configuration passes the check, and shows where each setting comes from', async () => {
  const dataDir = makeDirectory();
  mkdirSync(path.join(dataDir, 'config'));
  const right = `The configuration in ${path.join(dataDir, 'config')} is valid.\n`;
  expect(await run(['config', 'check'], { dataDir })).toMatchObject({ code: 0, stdout: right });
  const environment = { ERRAND_LISTEN: '127.0.0.1:9', ERRAND_DATA_DIR: dataDir };
  const { stdout } = await run(['config', 'show', '--origin'], { environment });
  expect(stdout).toContain('listen\t127.0.0.1:9\tenvironment\tERRAND_LISTEN\n');
  expect(stdout).toContain('wait_timeout_seconds\t600\tdefault\t\n');
  const json = await run(['config', 'show', '-o', 'json'], { environment });
  expect(JSON.parse(json.stdout)).toMatchObject({ listen: '127.0.0.1:9', wait_timeout_seconds: 600 });
});

test('a missing directory does not pass the check', async () => {
  const dataDir = makeDirectory();
  const { code, stdout } = await run(['config', 'check'], { dataDir });
  expect({ code, stdout }).toEqual({ code: 78, stdout: `${dataDir}/config: the directory does not exist\n` });
});

test('a credential of the service passes a check from outside, which names it', async () => {
  const dataDir = makeDirectory();
  mkdirSync(path.join(dataDir, 'config'));
  const models = [
    'endpoints: { far: { kind: openai, base_url: "https://models.example.com/v1", api_key_file: "credential:far" } }',
    'models: { large: { endpoint: far, model: large-1 } }',
    'scenarios: { general: { model: large } }',
  ];
  writeFileSync(path.join(dataDir, 'config', 'models.yaml'), models.join('\n'));
  const ended = await run(['config', 'check'], { dataDir });
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.stderr).toContain('Only the running service can read credential:far.\n');
  const { stdout } = await run(['config', 'check', '-o', 'json'], { dataDir });
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, source: 'files', unresolved_credentials: ['credential:far'] });
  // Someone who starts a daemon without it must see a warning.
  expect((await run(['serve'], { dataDir })).stderr).toMatch(/api_key_file: refers to a service credential/);
});

const ASKED = {
  config_dir: '/etc/errand',
  problems: [{ file: 'models.yaml', line: 2, column: 9, message: 'models.m.price: must be a map' }],
  pins: { pins: [], total: 0 },
  settings: [{ name: 'listen', value: '127.0.0.1:9', origin: 'file', source: '/etc/errand/errand.yaml' }],
};

test('a running daemon is asked for its own configuration, unless another directory is named', async () => {
  const { dataDir } = await startFakeDaemon({ 'GET /api/v1/configuration': () => ASKED });
  const checked = await run(['config', 'check'], { dataDir });
  expect(checked).toEqual({ code: 78, stdout: 'models.yaml:2:9 models.m.price: must be a map\n', stderr: '' });
  const shown = await run(['config', 'show', '--origin'], { dataDir });
  expect(shown.stdout).toBe('listen\t127.0.0.1:9\tfile\t/etc/errand/errand.yaml\n');
  const own = await run(['config', 'check', '--config-dir', '/etc/errand'], { dataDir });
  expect(own.code).toBe(78);
  const other = makeDirectory();
  const elsewhere = await run(['config', 'check', '--config-dir', other], { dataDir });
  expect(elsewhere).toMatchObject({ code: 0, stdout: `The configuration in ${other} is valid.\n` });
});

test.each([[['serve']], [['init']], [['config', 'check']]])(
  'a file in place of the data directory is one clear message: %s',
  async (args) => {
    const file = path.join(makeDirectory(), 'file');
    writeFileSync(file, '');
    for (const dataDir of [file, path.join(file, 'below')]) {
      const { code, stdout, stderr } = await run(args, { dataDir });
      expect(code).toBe(78);
      const reports = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(`${file} is not a directory`));
      expect(reports).toHaveLength(1);
      expect(`${stdout}${stderr}`).not.toContain('cannot be read');
    }
  },
);

test('an invalid port is one line that says what is valid', async () => {
  const ended = await run(['serve', '--listen', '127.0.0.1:99999'], { dataDir: makeDirectory() });
  const line =
    'errand: --listen: must be HOST:PORT, such as 127.0.0.1:8484 or [::1]:8484, the port at most 65535, or unix:/path, the path at most 107 bytes\n';
  expect(ended).toEqual({ code: 78, stdout: '', stderr: line });
});

test('words are quoted for the shell only when they need it', () => {
  expect(['/srv/errand', 'a b', "it's"].map(shellWord)).toEqual(['/srv/errand', `'a b'`, `'it'\\''s'`]);
});

test('the curl line is JSON a shell passes on unchanged', () => {
  const [, body = ''] = /-d '([^']+)'/.exec(firstStepsText({ url: 'http://x', key: 'k', command: 'errand' })) ?? [];
  expect(JSON.parse(body)).toMatchObject({ model: 'errand', messages: [{ role: 'user' }] });
});
