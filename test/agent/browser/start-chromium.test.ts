// The browser's proxy, against a real Chromium: no other process on the machine can use it.
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startChromium } from '../../../src/agent/browser/start-chromium.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { chromium, processesOf, sandbox } from '../../support/agent/browser-run.ts';

const NOBODY = 65_534;

/** Ports that this process listens on, in hexadecimal. */
function listening(): string[] {
  const mine = new Set(
    readdirSync('/proc/self/fd').map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        return '';
      }
    }),
  );
  return ['tcp', 'tcp6']
    .flatMap((name) => readFileSync(`/proc/self/net/${name}`, 'latin1').split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && mine.has(`socket:[${inode}]`))
    .map(([, local = '']) => local);
}

async function start() {
  const before = listening();
  const executable = chromium.ok ? chromium.executable : '';
  const policy = { purpose: 'web_fetch', allow: [] } as const;
  const grant = { executable, timeoutMs: 10_000, sandbox: sandbox! };
  const runId = randomUUID();
  const started = await startChromium({ grant, policy, runId });
  onTestFinished(started.close);
  return { ...started, runId, opened: listening().filter((port) => !before.includes(port)) };
}

test.skipIf(!chromium.ok)('a browser opens no port of the machine', { timeout: 60_000 }, async () => {
  expect((await start()).opened).toEqual([]);
});

test.skipIf(!chromium.ok)('a browser makes no forbidden system calls', { timeout: 60_000 }, async () => {
  const { runId, complaint } = await start();
  // The program before the sandbox's arguments has arguments, too.
  const inside = () =>
    processesOf(runId).filter((pid) =>
      /^[^\0]*\/(chrom|chrome)[^/\0]*\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1')),
    );
  await waitFor(() => inside().length > 0, { what: 'a browser', timeoutMs: 30_000 });
  for (const pid of inside()) expect(readFileSync(`/proc/${pid}/status`, 'latin1')).toMatch(/^Seccomp:\t2$/m);
  expect(complaint()).not.toContain('FATAL');
});

test.skipIf(!chromium.ok || process.getuid?.() !== 0)(
  'another user of the machine cannot speak to the browser’s proxy',
  { timeout: 60_000 },
  async () => {
    const { folder } = await start();
    const ask = `const socket = require('node:net').connect(process.argv[1]);
      socket.on('error', ({ code }) => console.log(code)).on('connect', () => { console.log('in'); socket.destroy(); });`;
    const asUser = (uid: number) =>
      spawnSync(process.execPath, ['-e', ask, join(folder, 'proxy.sock')], { uid, gid: uid }).stdout.toString();
    expect(asUser(NOBODY)).toBe('EACCES\n');
    expect(asUser(sandbox!.owner!.uid)).toBe('in\n');
  },
);
