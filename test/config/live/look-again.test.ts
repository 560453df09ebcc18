import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { makeLiveConfig } from '../../../src/config/live/live-config.ts';
import { makeLookUp } from '../../../src/config/live/look-again.ts';
import { loadLiveConfig } from '../../../src/config/read-configuration.ts';
import { systemClock } from '../../../src/domain/clock.ts';
import { makeLog } from '../../../src/log/log.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const EXPERT = '---\ndescription: Writes\n---\nWrite.\n';

/** A configuration whose directory nobody watches. */
function open(files: Record<string, string> = {}) {
  const configDir = temporaryDirectory(files);
  const loaded = loadLiveConfig({ configDir }, {});
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const log = makeLog({ level: 'fatal' });
  const live = makeLiveConfig({ ...loaded, report: () => undefined, clock: systemClock, log });
  const write = (name: string, text: string) => {
    const file = path.join(configDir, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  return {
    live,
    write,
    configDir,
    hasExpert: (name: string) => live.lookUp(() => live.definitions().experts.has(name)),
  };
}

test('a name that was just written is found, again and again, and so is one that came by renaming', async () => {
  const { write, configDir, hasExpert } = open();
  for (const name of ['one', 'two', 'three']) {
    write(`experts/${name}.md`, EXPERT);
    expect(await hasExpert(name)).toBe(true);
  }
  renameSync(path.join(configDir, 'experts/three.md'), path.join(configDir, 'experts/four.md'));
  expect(await hasExpert('four')).toBe(true);
  rmSync(path.join(configDir, 'experts/four.md'));
  expect(await hasExpert('none')).toBe(false);
  expect(await hasExpert('four')).toBe(false);
});

test('a server, a skill, a connector and a model that were just written are found', async () => {
  const { live, write } = open();
  write('mcp-servers.yaml', 'servers:\n  notes: { url: "http://127.0.0.1:1/mcp" }\n');
  write('skills/tides/SKILL.md', '---\nname: tides\ndescription: Tides\n---\nLook.\n');
  write('plugins/sea/plugin.yaml', 'description: Sea\n');
  expect(await live.lookUp(() => live.definitions().plugins.has('sea'))).toBe(true);
  expect(live.problems()).toEqual([]);
  expect(live.definitions().mcpServers.has('notes')).toBe(true);
  write(
    'models.yaml',
    'endpoints: { e: { kind: openai, base_url: "http://127.0.0.1:1" } }\nmodels: { m: { endpoint: e, model: m } }\nscenarios: { s: { model: m } }\n',
  );
  expect(await live.lookUp(() => live.catalog().models.get('m'))).toMatchObject({ name: 'm' });
  expect(live.definitions().skills.has('tides')).toBe(true);
});

/** A look-up whose readings and rests are counted; each look takes as long as it is told. */
function counted(tookMs: number) {
  const directory = temporaryDirectory({ 'experts/one.md': EXPERT });
  const time = fakeClock();
  const rests: number[] = [];
  const clock = {
    ...time,
    monotonic: () => {
      time.advance(tookMs);
      return time.monotonic();
    },
    after: (ms: number, callback: () => void) => {
      rests.push(ms);
      return time.after(ms, callback);
    },
  };
  let readings = 0;
  const lookUp = makeLookUp({ directory, reload: () => (readings += 1), clock });
  const ask = () => Promise.all(Array.from({ length: 1000 }, () => lookUp(() => false)));
  return { directory, time, rests, ask, readings: () => readings };
}

test('a thousand who name what nobody defines wait for one look, and files that are as they were are not read again', async () => {
  const { directory, time, rests, ask, readings } = counted(10);
  expect(new Set(await ask())).toEqual(new Set([false]));
  expect([readings(), rests]).toEqual([1, []]);
  let answered = false;
  const second = ask().then(() => (answered = true));
  await waitFor(() => rests.length === 1);
  // A look of 10 ms is followed by a rest of 200, of which 10 have passed.
  expect(rests[0]).toBe(190);
  expect(answered).toBe(false);
  time.advance(200);
  await second;
  expect(readings()).toBe(1);
  writeFileSync(path.join(directory, 'experts/one.md'), `${EXPERT}Well.`);
  const third = ask();
  await waitFor(() => rests.length === 2);
  time.advance(200);
  await third;
  expect([readings(), rests.length]).toEqual([2, 2]);
});

test('nobody waits longer than a second, however long a look takes', async () => {
  const { rests, ask, time } = counted(100);
  await ask();
  const second = ask();
  await waitFor(() => rests.length === 1);
  expect(rests[0]).toBe(900);
  time.advance(900);
  await second;
});
