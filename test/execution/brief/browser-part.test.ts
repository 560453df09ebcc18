// When there is a browser for runs, and what is said when there is none.
import { expect, test } from 'vitest';
import type { BrowserProbe } from '../../../src/agent/browser/find-chromium.ts';
import type { SandboxGrant } from '../../../src/agent/port/grants.ts';
import { makeBrowserPart } from '../../../src/execution/brief/browser-part.ts';
import { makeLog } from '../../../src/log/log.ts';
import { SETTINGS } from '../../support/http/http-fixture.ts';

const WALLS: SandboxGrant = {
  bwrap: '/usr/bin/bwrap',
  owner: null,
  groups: null,
  watches: 'limited',
  space: null,
  timeoutMs: 1,
  maxOutputBytes: 1,
  memoryBytes: 1,
  maxProcesses: 1,
};
const FOUND: BrowserProbe = { ok: true, executable: '/usr/lib/chromium/chromium', version: 'Chromium 1' };

function fixture(found: BrowserProbe | Error = FOUND, walls: SandboxGrant | null = WALLS) {
  let browser = { ...SETTINGS.browser, enabled: true };
  const asked: string[] = [];
  const part = makeBrowserPart({
    log: makeLog({ level: 'fatal' }),
    settings: () => ({ ...SETTINGS, browser }),
    sandbox: () => walls,
    find: async (_, named) => {
      asked.push(named);
      if (found instanceof Error) throw found;
      return found;
    },
  });
  const set = (over: Partial<typeof browser>) => {
    browser = { ...browser, ...over };
  };
  return { part, asked, set };
}

test('a browser that was found is granted with the limits of the current settings', async () => {
  const { part, set } = fixture();
  await part.look();
  expect(part.state()).toBe('ok');
  set({ timeoutSeconds: 7, memoryMb: 300 });
  expect(part.grant()).toMatchObject({
    executable: '/usr/lib/chromium/chromium',
    timeoutMs: 7_000,
    sandbox: { bwrap: '/usr/bin/bwrap', memoryBytes: 300 * 1024 * 1024 },
  });
});

test('while it is switched off nothing is looked for or granted; switched on, it is looked for once', async () => {
  const { part, asked, set } = fixture();
  set({ enabled: false });
  await part.look();
  expect([part.state(), part.grant(), asked]).toEqual(['off', null, []]);
  set({ enabled: true });
  await Promise.all([part.look(), part.look()]);
  expect([part.state(), asked]).toEqual(['ok', ['']]);
  set({ enabled: false });
  expect(part.grant()).toBeNull();
});

test('another program is looked for when the settings name one', async () => {
  const { part, asked, set } = fixture();
  await part.look();
  set({ executable: '/opt/chromium' });
  await part.look();
  expect(asked).toEqual(['', '/opt/chromium']);
});

test('without a browser, without a sandbox, or when the look fails, runs have none and it is said why', async () => {
  const missing = fixture({ ok: false, why: 'no Chromium was found.' });
  await missing.part.look();
  expect([missing.part.state(), missing.part.grant()]).toEqual([{ why: 'no Chromium was found.' }, null]);
  const bare = fixture(FOUND, null);
  await bare.part.look();
  expect(bare.part.grant()).toBeNull();
  const broken = fixture(new Error('disk'));
  await broken.part.look();
  expect([broken.part.state(), broken.part.grant()]).toEqual([{ why: 'the search for it has not finished' }, null]);
});
