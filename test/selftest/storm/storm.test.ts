// The storm itself: what it does with a daemon that doesn't start, with an interruption, and with what outlives a daemon.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { blow, type StormRequest, type Victim } from '../../../src/selftest/storm/storm.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

function aVictim(restart: () => Promise<void> = () => Promise.resolve()) {
  const did: string[] = [];
  const victim: Victim = {
    dataDir: temporaryDirectory(),
    startMs: () => 0,
    kill: async () => void did.push('kill'),
    restart: async () => {
      did.push('start');
      await restart();
    },
  };
  return { victim, did };
}

const requestOf = (kills: number, more: Partial<StormRequest> = {}): StormRequest => ({
  seed: 1,
  marker: 'no process has this in its arguments',
  // A millisecond is all that a life lasts.
  leftMs: (done) => (done < kills ? 1 : 0),
  report: () => undefined,
  ...more,
});

test('each kill is followed by a start, also that of a daemon that was ready early, and it is left running', async () => {
  const { victim, did } = aVictim();
  const storm = await blow(victim, requestOf(5));
  expect(storm).toMatchObject({ kills: 5, dead: null, problems: [] });
  expect(storm.startsMs).toHaveLength(5);
  // A second daemon on the same directory would be refused, and the first never killed again.
  expect(storm.interrupted).toBeGreaterThan(0);
  expect(did).toEqual(Array.from({ length: 5 + storm.interrupted }, () => ['kill', 'start']).flat());
});

test('a daemon that does not start again ends the storm, which says after which kill', async () => {
  let starts = 0;
  const { victim } = aVictim(async () => {
    starts += 1;
    if (starts === 3) throw new Error('The daemon ended with code 1 before it was ready.');
  });
  const { dead, kills } = await blow(victim, requestOf(9));
  expect(dead).toBe(`after kill ${kills}: The daemon ended with code 1 before it was ready.`);
  expect(kills).toBeLessThan(9);
});

test('an interruption while the daemon starts is an interruption, and no daemon that did not start', async () => {
  const interruption = new AbortController();
  const { victim } = aVictim(async () => {
    interruption.abort(new Error('Ctrl-C'));
    throw new Error('The operation was aborted.');
  });
  await expect(blow(victim, requestOf(9, { signal: interruption.signal }))).rejects.toThrow('Ctrl-C');
});

test('the same seed interrupts the same starts', async () => {
  const startsOf = async (seed: number) => {
    const { victim, did } = aVictim();
    await blow(victim, requestOf(6, { seed }));
    return did.join();
  };
  expect(await startsOf(7)).toBe(await startsOf(7));
  expect(await startsOf(7)).not.toBe(await startsOf(8));
});

test('the daemon starts again only when what it had started has ended', async () => {
  const { victim, did } = aVictim();
  const child = spawn('sleep', ['60'], { cwd: victim.dataDir, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'spawn');
  const storm = blow(victim, {
    ...requestOf(1),
    whileDead: async () => void did.push(child.exitCode === null && child.signalCode === null ? 'alive' : 'gone'),
  });
  await expect.poll(() => did).toEqual(['kill']);
  child.kill('SIGKILL');
  await storm;
  expect(did.slice(0, 2)).toEqual(['kill', 'gone']);
});
