import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { formatProblem } from '../../../src/catalog/reading/problem.ts';
import type { Environment, Flags } from '../../../src/config/environment.ts';
import { type ConfigEvent, makeLiveConfig } from '../../../src/config/live/live-config.ts';
import { loadLiveConfig } from '../../../src/config/read-configuration.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { makeLog } from '../../../src/log/log.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { makeCertificate, pemOf } from '../../support/http/certificates.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const MODELS = `
endpoints: { local: { kind: openai, base_url: "http://127.0.0.1:1/v1", api_key_file: local.key } }
models: { qwen: { endpoint: local, model: qwen3 } }
scenarios: { general: { model: qwen } }
`;

function open(configDir: string, flags: Flags = {}, environment: Environment = {}) {
  const loaded = loadLiveConfig({ configDir, ...flags }, environment);
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  const events: ConfigEvent[] = [];
  const log = makeLog({ level: 'fatal' });
  const live = makeLiveConfig({ ...loaded, report: (event) => events.push(event), clock: systemClock, log });
  onTestFinished(() => live.stop());
  const write = (name: string, text: string) => writeFileSync(path.join(configDir, name), text);
  return { live, events, write };
}

const steps = (text: number) => `model: { max_steps: ${text} }\n`;

test('the first load reports the problems of both files and of the environment together', () => {
  const configDir = temporaryDirectory({ 'errand.yaml': 'listne: x\n', 'models.yaml': 'model: {}\n' });
  const loaded = loadLiveConfig({ configDir }, { MAX_UPLOAD_SIZE_MB: '0' });
  expect(loaded.ok ? [] : loaded.problems.map(formatProblem)).toEqual([
    'errand.yaml:1:1 listne: is not a known key (did you mean "listen"?)',
    'MAX_UPLOAD_SIZE_MB: must be a whole number of megabytes from 1 to 1024',
    'models.yaml:1:1 model: is not a known key (did you mean "models"?)',
    'models.yaml:1:1 endpoints: must have at least one entry',
    'models.yaml:1:1 models: must have at least one entry',
    'models.yaml:1:1 scenarios: must have at least one entry',
  ]);
});

test('a changed file applies by itself, and is reported once', { tags: ['J1-reload'] }, async () => {
  const { live, events, write } = open(temporaryDirectory({ 'errand.yaml': steps(1) }));
  const changes: string[] = [];
  live.onChange((changed) => changes.push(changed));
  await live.start();
  expect(events).toEqual([]);
  write('errand.yaml', steps(2));
  await waitFor(() => live.settings().model.maxSteps === 2);
  expect(changes).toEqual(['settings']);
  expect(events).toEqual([{ kind: 'accepted', file: 'errand.yaml' }]);
});

test('a file that an editor replaces by renaming applies, again and again', async () => {
  const configDir = temporaryDirectory({ 'errand.yaml': steps(1) });
  const { live, write } = open(configDir);
  await live.start();
  for (const count of [2, 3, 4]) {
    write('.errand.yaml.new', steps(count));
    renameSync(path.join(configDir, '.errand.yaml.new'), path.join(configDir, 'errand.yaml'));
    await waitFor(() => live.settings().model.maxSteps === count);
  }
});

test('a change made before the watch is ready applies when it is', async () => {
  const { live, write } = open(temporaryDirectory());
  write('errand.yaml', steps(5));
  await live.start();
  expect(live.settings().model.maxSteps).toBe(5);
});

test('a config directory that is created later is noticed, even in a missing one', async () => {
  const configDir = path.join(temporaryDirectory(), 'etc', 'errand');
  const { live, write } = open(configDir);
  await live.start();
  mkdirSync(configDir, { recursive: true });
  write('errand.yaml', steps(6));
  await waitFor(() => live.settings().model.maxSteps === 6);
  write('errand.yaml', steps(7));
  await waitFor(() => live.settings().model.maxSteps === 7);
});

test('a config directory that disappears leaves everything in effect, and is noticed when it is back', async () => {
  const configDir = path.join(temporaryDirectory({ 'conf/errand.yaml': steps(1) }), 'conf');
  const { live, write } = open(configDir);
  await live.start();
  rmSync(configDir, { recursive: true });
  await waitFor(() => live.problems().length === 3);
  expect(live.problems().map(formatProblem)).toEqual([
    `errand.yaml is gone, and so is its directory ${configDir}`,
    `models.yaml is gone, and so is its directory ${configDir}`,
    `definitions is gone, and so is its directory ${configDir}`,
  ]);
  expect(live.settings().model.maxSteps).toBe(1);
  mkdirSync(configDir);
  write('errand.yaml', steps(2));
  await waitFor(() => live.settings().model.maxSteps === 2);
  expect(live.problems()).toEqual([]);
});

test('a config directory that is a link is watched where it leads', async () => {
  const directory = temporaryDirectory({ 'real/errand.yaml': steps(1) });
  symlinkSync('real', path.join(directory, 'link'));
  const { live } = open(path.join(directory, 'link'));
  await live.start();
  writeFileSync(path.join(directory, 'real', 'errand.yaml'), steps(2));
  await waitFor(() => live.settings().model.maxSteps === 2);
});

test('files that are links into a versioned directory change when the version does', async () => {
  const directory = temporaryDirectory({ '..v1/errand.yaml': steps(1), '..v2/errand.yaml': steps(2) });
  symlinkSync('..v1', path.join(directory, '..data'));
  symlinkSync('..data/errand.yaml', path.join(directory, 'errand.yaml'));
  const { live } = open(directory);
  await live.start();
  expect(live.settings().model.maxSteps).toBe(1);
  symlinkSync('..v2', path.join(directory, '..data_new'));
  renameSync(path.join(directory, '..data_new'), path.join(directory, '..data'));
  await waitFor(() => live.settings().model.maxSteps === 2);
});

test('a broken file is reported once, and the last valid state stays in effect until the file is fixed', {
  tags: ['J1-reload'],
}, async () => {
  const { live, events, write } = open(temporaryDirectory({ 'errand.yaml': steps(3) }));
  await live.start();
  write('errand.yaml', steps(0));
  await waitFor(() => live.problems().length === 1);
  live.reload();
  expect(live.settings().model.maxSteps).toBe(3);
  const message = 'model.max_steps: must be a whole number from 1 to 10000';
  expect(live.problems().map(formatProblem)).toEqual([`errand.yaml:1:21 ${message}`]);
  expect(events.map((event) => event.kind)).toEqual(['rejected']);
  write('errand.yaml', steps(3));
  await waitFor(() => live.problems().length === 0);
  expect(events.map((event) => event.kind)).toEqual(['rejected', 'accepted']);
});

test('a fault in one file does not hold back the other', () => {
  const { live, write } = open(temporaryDirectory({ 'local.key': 'k1' }));
  write('errand.yaml', 'listen: [\n');
  write('models.yaml', MODELS);
  live.reload();
  expect(live.catalog().models.has('qwen')).toBe(true);
  expect(live.problems()).toMatchObject([{ file: 'errand.yaml' }]);
  write('errand.yaml', steps(9));
  write('models.yaml', 'models: {}\nscenarios: { a: { model: b } }\n');
  live.reload();
  expect(live.settings().model.maxSteps).toBe(9);
  expect(live.catalog().models.has('qwen')).toBe(true);
});

test('a new key file next to the configuration applies', async () => {
  const { live, write } = open(temporaryDirectory({ 'models.yaml': MODELS, 'local.key': 'k1' }));
  await live.start();
  write('local.key', 'k2');
  await waitFor(() => live.catalog().endpoints.get('local')?.apiKey === 'k2');
});

test('removing a file brings back the defaults', async () => {
  const configDir = temporaryDirectory({ 'errand.yaml': steps(3) });
  const { live } = open(configDir);
  await live.start();
  unlinkSync(path.join(configDir, 'errand.yaml'));
  await waitFor(() => live.settings().model.maxSteps === 200);
});

test('a different listening address waits for a restart, and is reported once', { tags: ['J1-reload'] }, () => {
  const { live, events, write } = open(temporaryDirectory({ 'errand.yaml': 'listen: 127.0.0.1:1\n' }));
  write('errand.yaml', `listen: 127.0.0.1:2\n${steps(4)}`);
  live.reload();
  live.reload();
  expect(live.settings()).toMatchObject({
    listen: '127.0.0.1:1',
    publicUrl: 'http://127.0.0.1:1',
    model: { maxSteps: 4 },
  });
  expect(events.filter((event) => event.kind === 'restart-needed')).toEqual([
    { kind: 'restart-needed', setting: 'listen', wanted: '127.0.0.1:2', inEffect: '127.0.0.1:1' },
  ]);
  write('errand.yaml', 'public_url: https://errand.example\n');
  live.reload();
  expect(live.settings()).toMatchObject({ listen: '127.0.0.1:1', publicUrl: 'https://errand.example' });
});

test('a different address of the metrics waits for a restart, too', () => {
  const { live, events, write } = open(temporaryDirectory({ 'errand.yaml': 'metrics: { listen: "127.0.0.1:1" }\n' }));
  write('errand.yaml', 'metrics: { listen: "unix:/run/metrics.sock" }\n');
  live.reload();
  live.reload();
  expect(live.settings().metrics.listen).toBe('127.0.0.1:1');
  expect(events.filter((event) => event.kind === 'restart-needed')).toEqual([
    {
      kind: 'restart-needed',
      setting: 'metrics.listen',
      wanted: 'unix:/run/metrics.sock',
      inEffect: '127.0.0.1:1',
    },
  ]);
});

test('a different database waits for a restart, too, and is reported without its password', () => {
  const { live, events, write } = open(
    temporaryDirectory({ 'errand.yaml': 'database: "postgres://u:p1@db/errand"\n' }),
  );
  write('errand.yaml', 'database: "postgres://u:p2@other/errand"\ndatabase_connections: 20\n');
  live.reload();
  live.reload();
  expect(live.settings()).toMatchObject({ database: 'postgres://u:p1@db/errand', databaseConnections: 12 });
  const [wanted, inEffect] = ['postgres://u:[removed]@other/errand', 'postgres://u:[removed]@db/errand'];
  expect(events.filter((event) => event.kind === 'restart-needed')).toEqual([
    { kind: 'restart-needed', setting: 'database', wanted, inEffect },
  ]);
});

test('the address that port 0 resulted in is in effect, and does not require a restart', () => {
  const { live, events } = open(temporaryDirectory({ 'errand.yaml': 'listen: 127.0.0.1:0\n' }));
  live.bound('127.0.0.1:4711');
  live.reload();
  expect(live.settings()).toMatchObject({ listen: '127.0.0.1:4711', publicUrl: 'http://127.0.0.1:4711' });
  expect(events.filter((event) => event.kind === 'restart-needed')).toEqual([]);
});

test('flags and environment override a changed file', () => {
  const { live, write } = open(
    temporaryDirectory(),
    { publicUrl: 'https://flag.example' },
    { ERRAND_MODEL_MAX_STEPS: '11' },
  );
  write('errand.yaml', `public_url: https://file.example\n${steps(12)}`);
  live.reload();
  expect(live.settings()).toMatchObject({ publicUrl: 'https://flag.example', model: { maxSteps: 11 } });
});

test('of a burst of half-written states, only the last one applies', async () => {
  const { live, events, write } = open(temporaryDirectory({ 'errand.yaml': steps(1) }));
  await live.start();
  let last = 1;
  let pauseMs = Infinity;
  // A busy machine may pause longer than a burst does: then it was several of them.
  while (pauseMs > 100) {
    events.length = 0;
    last += 1;
    pauseMs = 0;
    for (const state of ['model: {', 'model: { max_st', 'model: { max_steps: 0 }', steps(last)]) {
      const writtenAt = performance.now();
      write('errand.yaml', state);
      // Long enough for each to be noticed by itself, short enough to be one burst.
      await new Promise((resolve) => setTimeout(resolve, 20));
      pauseMs = Math.max(pauseMs, performance.now() - writtenAt);
    }
    await waitFor(() => live.settings().model.maxSteps === last);
  }
  expect(events).toEqual([{ kind: 'accepted', file: 'errand.yaml' }]);
});

test('a listener that has left is not called', () => {
  const { live, write } = open(temporaryDirectory());
  const calls: string[] = [];
  const leave = live.onChange((changed) => calls.push(changed));
  write('errand.yaml', steps(2));
  live.reload();
  leave();
  write('errand.yaml', steps(3));
  live.reload();
  expect(calls).toEqual(['settings']);
});

test('an error in the midst of a reload ends nothing: all else that has changed is announced to all others', () => {
  const { live, write } = open(temporaryDirectory());
  const calls: string[] = [];
  live.onChange((changed) => {
    throw new Error(`no listener expects ${changed}`);
  });
  live.onChange((changed) => calls.push(changed));
  write('errand.yaml', steps(2));
  write('models.yaml', MODELS);
  write('local.key', 'secret');
  expect(live.reload).not.toThrow();
  expect(live.settings().model.maxSteps).toBe(2);
  expect(calls).toEqual(['settings', 'catalog']);
});

/** How many places this process has the kernel watch. */
function countWatches(): number {
  return readdirSync('/proc/self/fdinfo')
    .map((descriptor) => {
      try {
        return readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8').match(/^inotify /gm)?.length ?? 0;
      } catch {
        return 0;
      }
    })
    .reduce((sum, count) => sum + count, 0);
}

test('links in the directory that lead out of it are not followed', async () => {
  const configDir = temporaryDirectory({ 'errand.yaml': steps(1) });
  symlinkSync('/', path.join(configDir, 'root'));
  const { live, write } = open(configDir);
  const before = countWatches();
  await live.start();
  expect(countWatches() - before).toBeGreaterThan(0);
  expect(countWatches() - before).toBeLessThan(10);
  write('errand.yaml', steps(2));
  await waitFor(() => live.settings().model.maxSteps === 2);
});

test('it can be stopped twice, before it was started, and while it starts; after that nothing is read', async () => {
  const { live, write, events } = open(temporaryDirectory());
  await live.stop();
  const starting = live.start();
  write('errand.yaml', steps(8));
  await Promise.all([live.stop(), starting]);
  await live.stop();
  expect(live.settings().model.maxSteps).toBe(200);
  expect(events).toEqual([]);
});

const expert = (description: string, model = '') => `---\ndescription: ${description}${model}\n---\nWork.\n`;

test.each([
  ['an expert', 'experts/ann.md', expert('First'), expert('Second')],
  [
    'a skill',
    'skills/s/SKILL.md',
    '---\nname: s\ndescription: First\n---\n',
    '---\nname: s\ndescription: Second\n---\n',
  ],
  [
    "a plugin's skill",
    'plugins/p/skills/s/SKILL.md',
    '---\nname: s\ndescription: First\n---\n',
    '---\nname: s\ndescription: Second\n---\n',
  ],
])('%s that changes applies by itself, and so does a new one', async (_, file, first, second) => {
  const configDir = temporaryDirectory({ 'plugins/p/plugin.yaml': 'description: P\n' });
  const { live, events, write } = open(configDir);
  const changes: string[] = [];
  live.onChange((changed) => changes.push(changed));
  await live.start();
  const descriptions = () =>
    [...live.definitions().experts.values(), ...live.definitions().skills.values()].map((one) => one.description);
  mkdirSync(path.dirname(path.join(configDir, file)), { recursive: true });
  write(file, first);
  await waitFor(() => descriptions().includes('First'));
  write(file, second);
  await waitFor(() => descriptions().includes('Second'));
  expect([...new Set(changes)]).toEqual(['definitions']);
  expect(events.at(-1)).toEqual({ kind: 'accepted', file: 'definitions' });
});

test('a broken definition is reported with its place, and the last valid ones stay in effect', {
  tags: ['J1-reload'],
}, () => {
  const configDir = temporaryDirectory({ 'experts/ann.md': expert('First') });
  const { live, events, write } = open(configDir);
  write('experts/ann.md', expert('Second', '\nmodel: none'));
  live.reload();
  live.reload();
  const problem = 'experts/ann.md:3:8 model: refers to a model that does not exist in models.yaml: "none"';
  expect(live.problems().map(formatProblem)).toEqual([problem]);
  expect(live.checkDefinitions().map(formatProblem)).toEqual([problem]);
  expect(live.definitions().experts.get('ann')?.description).toBe('First');
  expect(events.map(({ kind }) => kind)).toEqual(['rejected']);
  write('experts/ann.md', expert('Third'));
  expect(live.checkDefinitions()).toEqual([]);
  expect(live.definitions().experts.get('ann')?.description).toBe('First');
});

test('a broken skill is left out at start, stays as it was when it breaks later, and is reported once each time', async () => {
  const skill = (about: string) => `---\nname: tides\ndescription: ${about}\n---\nMind the moon.\n`;
  const configDir = temporaryDirectory({
    'experts/ann.md': expert('First'),
    'skills/tides/SKILL.md': skill('x'.repeat(1_077)),
  });
  const { live, events, write } = open(configDir);
  live.reload();
  live.reload();
  expect(live.definitions().skills.size).toBe(0);
  expect(live.definitions().experts.size).toBe(1);
  expect(live.problems()).toMatchObject([{ file: 'skills/tides/SKILL.md', line: 3 }]);
  expect(live.check()).toEqual(live.problems());
  expect(events).toEqual([{ kind: 'left-out', problems: live.problems() }]);
  write('skills/tides/SKILL.md', skill('About tides'));
  live.reload();
  expect(live.problems()).toEqual([]);
  write('skills/tides/SKILL.md', skill(''));
  write('experts/ann.md', expert('Second'));
  live.reload();
  expect(live.definitions().skills.get('tides')?.description).toBe('About tides');
  expect(live.definitions().experts.get('ann')?.description).toBe('Second');
  expect(events.map(({ kind }) => kind)).toEqual(['left-out', 'accepted', 'accepted', 'left-out']);
});

test('an expert whose model disappears from models.yaml is reported', () => {
  const files = { 'models.yaml': MODELS, 'local.key': 'k', 'experts/ann.md': expert('A', '\nmodel: qwen') };
  const { live, write } = open(temporaryDirectory(files));
  expect(live.definitions().experts.get('ann')?.model).toBe('qwen');
  write('models.yaml', MODELS.replaceAll('qwen', 'other'));
  live.reload();
  expect(live.problems()).toMatchObject([{ file: 'experts/ann.md', line: 3 }]);
  expect(live.catalog().models.has('other')).toBe(true);
});

test('the first load reports problems of definitions too', () => {
  const configDir = temporaryDirectory({ 'experts/ann.md': 'Work.\n', 'skills/x/y': '' });
  const loaded = loadLiveConfig({ configDir }, {});
  expect(loaded.ok ? [] : loaded.problems.map(({ file }) => file)).toEqual(['experts/ann.md', 'skills/x/SKILL.md']);
});

test('TLS begins and ends with a restart; other files of it are taken at once', () => {
  const { cert, key } = makeCertificate('errand.test');
  const configDir = temporaryDirectory({ 'errand.yaml': '', 'chain.pem': cert });
  writeFileSync(path.join(configDir, 'key.pem'), pemOf(key), { mode: 0o600 });
  const [plain, secure] = ['', 'tls: { cert_file: chain.pem, key_file: key.pem }\n'];
  const { live, events, write } = open(configDir);
  write('errand.yaml', secure);
  live.reload();
  live.reload();
  const restart = { kind: 'restart-needed', setting: 'tls', wanted: 'https', inEffect: 'http' };
  expect(events.filter(({ kind }) => kind === 'restart-needed')).toEqual([restart]);
  expect(live.settings()).toMatchObject({ tls: { certFile: '' }, publicUrl: 'http://127.0.0.1:8484' });

  const again = open(configDir);
  expect(again.live.settings().publicUrl).toBe('https://127.0.0.1:8484');
  write('errand.yaml', secure.replace('key.pem', '"credential:tls-key"'));
  again.live.reload();
  expect(again.live.settings().tls.keyFile).toBe('credential:tls-key');
  write('errand.yaml', plain);
  again.live.reload();
  expect(again.live.settings().tls.keyFile).toBe('credential:tls-key');
  expect(again.events.filter(({ kind }) => kind === 'restart-needed').at(-1)).toEqual({
    ...restart,
    wanted: 'http',
    inEffect: 'https',
  });
});

test('a certificate that cannot be used is among the problems of a start, and of a check', () => {
  const configDir = temporaryDirectory({ 'errand.yaml': '', 'models.yaml': MODELS, 'local.key': 'k' });
  const { live, write } = open(configDir);
  write('errand.yaml', 'tls: { cert_file: chain.pem, key_file: key.pem }\nlisten: 127.0.0.1:1\n');
  const problem = `tls.cert_file: ${path.join(configDir, 'chain.pem')} does not exist`;
  expect(live.check().map(formatProblem)).toEqual([problem]);
  const loaded = loadLiveConfig({ configDir }, {});
  expect(loaded.ok ? [] : loaded.problems.map(formatProblem)).toEqual([problem]);
});

test('the credentials of a proxy apply when their file changes, and ones that are none leave those before', async () => {
  const yaml = 'egress: { proxy: "http://proxy.test:3128", proxy_credentials_file: proxy.txt }\n';
  const { live, events, write } = open(temporaryDirectory({ 'errand.yaml': yaml, 'proxy.txt': 'a:first\n' }));
  const sent = () => Buffer.from(live.ways().proxies['https:']?.authorization?.slice(6) ?? '', 'base64').toString();
  const changes: string[] = [];
  live.onChange((changed) => changes.push(changed));
  await live.start();
  expect(sent()).toBe('a:first');
  write('proxy.txt', 'a:second\n');
  await waitFor(() => sent() === 'a:second');
  write('proxy.txt', 'none\n');
  await waitFor(() => live.problems().length > 0);
  expect(sent()).toBe('a:second');
  expect(JSON.stringify(events)).not.toMatch(/first|second/);
  expect(changes).toEqual(['ways']);
});
