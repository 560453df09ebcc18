// What `errand backup list` says of backups that lack something.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { installation, take } from '../../../support/backups/installation.ts';
import { run } from '../../outside.ts';

test('the files that the newest backup lacks are named, with the reason', async () => {
  const fixture = await installation();
  const { sessionId } = await fixture.addSession('some text');
  await take(fixture.task());
  const workspace = join(fixture.dataDir, 'workspaces', sessionId);
  mkdirSync(workspace, { recursive: true });
  expect(spawnSync('mkfifo', [join(workspace, 'pipe')]).status).toBe(0);
  const { id } = await take(fixture.task());
  const { code, stderr } = await run(['backup', 'list', fixture.repository], { dataDir: fixture.dataDir });
  expect(code).toBe(0);
  expect(stderr).toBe(`"${sessionId}/pipe" was left out of ${id}: it is a socket, a pipe or a device.\n`);
});
