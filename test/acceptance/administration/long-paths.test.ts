// A command can make paths that no system call takes. Backups, their restore and the removal of the session don't mind.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { removeTree } from '../../../src/disk/remove-beneath.ts';
import { runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { BINARY } from '../../support/daemon/initialized.ts';
import { namesOf, readChain } from '../../support/files/chain.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const hasSandbox = existsSync('/usr/bin/bwrap');

/** The path of the first has 4,027 bytes; no path can name the ends of the others. */
const CHAINS = { a: [...namesOf(15, 255), '7'.repeat(183)], b: namesOf(20, 255), c: namesOf(2_500, 1) } as const;

/** As `mkdir` and `cd` in turns, in one process. */
const MAKE_CHAIN = `perl -e 'for (@ARGV) { mkdir $_ or die; chdir $_ or die } open F, ">f" or die; print F "at the end"'`;

const COMMAND = [
  ...Object.entries(CHAINS).map(([folder, names]) => [MAKE_CHAIN, folder, ...names].join(' ')),
  'touch "$(printf \'no\\377text\')" "$(printf \'red\\033[31m\')"',
  'echo made',
].join(' && ');

describe.skipIf(!hasSandbox)('paths that no system call takes', () => {
  test('a backup with them is verified and restored; what is left out is named; the session is removed', async () => {
    const model = await startModelServer();
    const daemon = await startDaemonProcess({ modelServerUrl: model.url });
    const directory = temporaryDirectory();
    onTestFinished(async () => {
      for (const folder of [join(daemon.dataDir, 'workspaces'), directory]) await removeTree(folder);
      await daemon.close();
      await model.close();
    });
    const errand = (...args: string[]) => runErrand([...args, '--data-dir', daemon.dataDir]);
    model.enqueue({ tools: [{ name: 'shell', input: { command: COMMAND } }] }, { text: 'Made.' });
    const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'make them' }] }),
    });
    expect(response.status).toBe(200);
    expect(JSON.stringify(model.requests.at(-1)!.body)).toContain('made');
    const sessionId = response.headers.get('x-session-id')!;
    const workspace = join(daemon.dataDir, 'workspaces', sessionId);
    for (const [folder, names] of Object.entries(CHAINS))
      expect(readChain(workspace, [folder, ...names])).toBe('at the end');

    const place = join(directory, 'place');
    const created = await errand('backup', 'create', '--to', place, '-o', 'json');
    expect(JSON.parse(created.stdout)).toMatchObject({ left_out: 3 });
    for (const words of [`"${sessionId}/b/0`, `"${sessionId}/c/0/1`, `"${sessionId}/no`, 'is not UTF-8'])
      expect(created.stderr).toContain(words);
    const archive = join(directory, 'errand.tar');
    const inShell = [
      '-c',
      'exec "$0" "$@" > "$ARCHIVE"',
      BINARY,
      'backup',
      'create',
      '--to',
      '-',
      '--data-dir',
      daemon.dataDir,
    ];
    await promisify(execFile)('sh', inShell, { env: { ...process.env, ARCHIVE: archive } });

    for (const source of [place, archive]) {
      const verified = await errand('backup', 'verify', source);
      expect(verified.stdout).toContain('is intact');
      expect(verified.stderr).toContain('was left out when the backup was made');
      const target = join(directory, ...namesOf(2, 100), source === place ? 'of-place' : 'of-archive');
      await errand('backup', 'restore', source, '--to', target, '--without-master-key');
      expect(readChain(join(target, 'workspaces', sessionId), ['a', ...CHAINS.a])).toBe('at the end');
      expect(existsSync(join(target, 'workspaces', sessionId, 'red\u001b[31m'))).toBe(true);
    }

    await daemon.admin('DELETE', `/api/v1/sessions/${sessionId}`);
    await waitFor(() => !existsSync(workspace), { what: 'the workspace is removed' });
  });
});
