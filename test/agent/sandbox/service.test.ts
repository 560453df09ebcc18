// Services next to an agent: they can read what the agent has put into the workspace, but never run it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { probeSandbox } from '../../../src/agent/sandbox/sandbox.ts';
import { startInSandbox } from '../../../src/agent/sandbox/service.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const LIMITS = { timeoutMs: 120_000, maxOutputBytes: 65_536, memoryBytes: 2 ** 30, maxProcesses: 64 };
const probe = await probeSandbox({ path: '/usr/local/bin:/usr/bin:/bin', privateFolders: [], ...LIMITS });
if (!probe.ok) console.warn(`\n*** SKIPPED: every test of services in the sandbox. ${probe.why} ***\n`);

describe.skipIf(!probe.ok)('a service', () => {
  test("starts where the agent can't write, and has no writable home", async () => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, 'node_modules/.bin'), { recursive: true });
    for (const name of ['.npmrc', 'json.py', 'node_modules/.bin/server'])
      writeFileSync(join(workspace, name), 'of the agent');
    const look = 'cat .npmrc ~/.npmrc ~agent/.npmrc json.py node_modules/.bin/server; pwd; cat /workspace/.npmrc';
    const service = await startInSandbox(probe.ok ? probe.grant : null!, {
      workspace,
      argv: ['/bin/sh', '-c', look],
      env: {},
      network: false,
      mounts: [],
    });
    expect(await text(service.stdout)).toBe('/tmp\nof the agent');
    expect(await service.ended).toBe('it exited with code 0');
  });

  test.each([true, false])(
    'makes no forbidden system calls, whether it has the network or not: %s',
    async (network) => {
      const service = await startInSandbox(probe.ok ? probe.grant : null!, {
        workspace: temporaryDirectory(),
        argv: ['/bin/grep', '^Seccomp:', '/proc/self/status'],
        env: {},
        network,
        mounts: [],
      });
      expect(await text(service.stdout)).toBe('Seccomp:\t2\n');
      await service.ended;
    },
  );
});
