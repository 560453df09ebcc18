// What nodes compare of their configuration: what is in effect, wherever its files are, without telling it.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { formatProblem } from '../../src/catalog/reading/problem.ts';
import { makeFingerprints } from '../../src/config/fingerprints.ts';
import { makeLiveConfig } from '../../src/config/live/live-config.ts';
import { loadLiveConfig } from '../../src/config/read-configuration.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { makeLog } from '../../src/log/log.ts';
import { CLERK, skill } from '../support/files/definitions.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const MODELS = `
endpoints: { local: { kind: openai, base_url: "http://127.0.0.1:1/v1", api_key_file: local.key } }
models: { qwen: { endpoint: local, model: qwen3 } }
scenarios: { general: { model: qwen } }
`;
const FILES = {
  'errand.yaml': 'public_url: https://errand.example\n',
  'models.yaml': MODELS,
  'local.key': 'secret\n',
  'experts/clerk.md': CLERK,
  'skills/filing/SKILL.md': skill('filing'),
};
const KEY = Buffer.alloc(32, 7);

function open(changes: Partial<typeof FILES> = {}, key = KEY) {
  const configDir = temporaryDirectory({ ...FILES, ...changes });
  const loaded = loadLiveConfig({ configDir }, {});
  if (!loaded.ok) throw new Error(loaded.problems.map(formatProblem).join('\n'));
  const log = makeLog({ level: 'fatal' });
  const live = makeLiveConfig({ ...loaded, report: () => undefined, clock: systemClock, log });
  onTestFinished(() => live.stop());
  const fingerprints = makeFingerprints({ live, configDir, key });
  const write = (name: string, text: string) => writeFileSync(path.join(configDir, name), text);
  return { live, write, fingerprints };
}

/** The names whose fingerprints aren't those of `FILES`. */
function differing(changes: Partial<typeof FILES>): readonly string[] {
  const [one, other] = [open().fingerprints(), open(changes).fingerprints()];
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].filter((name) => one[name] !== other[name]);
}

test('the same files in another directory are the same; defaults that are written out are the same as none', () => {
  expect(differing({})).toEqual([]);
  expect(differing({ 'errand.yaml': 'public_url: https://errand.example/\nmodel: { max_steps: 200 }\n' })).toEqual(
    open().live.settings().model.maxSteps === 200 ? [] : ['model.max_steps'],
  );
  expect(Object.keys(open().fingerprints())).toContain('public_url');
});

test('each setting and each kind of definitions differs by its name, a key of a model too', () => {
  expect(differing({ 'errand.yaml': 'public_url: https://other.example\nshell: { enabled: false }\n' })).toEqual([
    'public_url',
    'shell.enabled',
  ]);
  expect(differing({ 'local.key': 'another\n' })).toEqual(['endpoints']);
  expect(differing({ 'models.yaml': MODELS.replace('qwen3', 'qwen4') })).toEqual(['models']);
  expect(differing({ 'experts/clerk.md': CLERK.replace('File it', 'Sort it') })).toEqual(['experts']);
  expect(differing({ 'skills/filing/SKILL.md': skill('filing').replace('About', 'On') })).toEqual(['skills']);
});

test('settings of the machine aren’t compared', () => {
  const own = 'listen: 127.0.0.1:9\nnode: { name: south }\nworkers: { threads: 7 }\nlog: { level: warn }\n';
  expect(differing({ 'errand.yaml': `${FILES['errand.yaml']}${own}` })).toEqual([]);
});

test('they follow the files; without the key nobody can tell what they are of', () => {
  const { live, write, fingerprints } = open();
  const before = fingerprints();
  expect(fingerprints()).toBe(before);
  write('local.key', 'renewed\n');
  live.reload();
  expect(fingerprints()).toEqual({ ...before, endpoints: expect.not.stringMatching(before['endpoints']!) as string });
  const other = open({}, Buffer.alloc(32, 8)).fingerprints();
  expect(Object.keys(other).filter((name) => other[name] === before[name])).toEqual([]);
});
