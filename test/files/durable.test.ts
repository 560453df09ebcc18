// The order in which files, names and directories reach the disk: a power cut leaves what was synced, and perhaps nothing
// else.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const canTrace = spawnSync('strace', ['true']).status === 0;
if (!canTrace) console.warn('\n*** SKIPPED: the order of syncs. It needs strace, and the right to use it. ***\n');
const MAIN = fileURLToPath(new URL('../support/files/durable-main.ts', import.meta.url));

/** The calls that one deed makes, such as `sync named` and `rename named`; paths are relative to its directory. */
function traced(what: string, directory: string): string[] {
  const traces = temporaryDirectory();
  const calls = 'trace=fsync,fdatasync,rename,renameat,renameat2,execve';
  // A file for each thread, with whole calls as lines: in a shared file, an interrupted call takes two lines. Arguments are whole.
  const how = ['-ff', '-ttt', '-y', '-s', '4096', '-o', join(traces, 'of'), '-e', calls];
  const args = [...how, process.execPath, MAIN, what, directory];
  // Node.js writes its own files when it keeps compiled code.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' };
  const { status, stderr } = spawnSync('strace', args, { encoding: 'utf8', env });
  expect([status, stderr]).toEqual([0, expect.any(String)]);
  const seen: string[] = [];
  const lines = readdirSync(traces).flatMap((name) => readFileSync(join(traces, name), 'utf8').split('\n'));
  // Each begins with its time, to the microsecond and of one length.
  for (const line of lines.toSorted()) {
    const synced = /f(?:data)?sync\(\d+<([^>]*)>/.exec(line)?.[1];
    if (synced?.startsWith(directory)) seen.push(`sync ${synced.slice(directory.length + 1) || '.'}`);
    if (/ rename/.test(line) && line.includes('= 0')) seen.push('rename');
    const program = /execve\("[^"]*\/sync", \["sync", "-f", "--", "([^"]*)"\].* = 0/.exec(line)?.[1];
    if (program?.startsWith(directory)) seen.push(`sync of the disk of ${program.slice(directory.length + 1) || '.'}`);
  }
  return seen;
}

describe.skipIf(!canTrace)('before anything is reported,', () => {
  test.each(['replace', 'whole'])('a file is synced, then named, then its directory is synced (%s)', (what) => {
    expect(traced(what, temporaryDirectory())).toEqual([
      expect.stringMatching(/^sync (\.errand-tmp-|named\.new)/),
      'rename',
      'sync .',
    ]);
  });

  test('a blob is synced, then named, then its directories; one that was there has its directories synced', () => {
    const directory = temporaryDirectory();
    expect(traced('blob', directory)).toEqual([
      expect.stringMatching(/^sync incoming\//),
      'rename',
      expect.stringMatching(/^sync [0-9a-f]{2}$/),
      'sync .',
    ]);
    expect(traced('blob', directory)).toEqual([
      expect.stringMatching(/^sync incoming\//),
      expect.stringMatching(/^sync [0-9a-f]{2}$/),
      'sync .',
    ]);
    expect(traced('found', directory)).toEqual(['sync 00', 'sync .']);
  });

  test('blobs from bytes and from files are all synced before the first is named; many share one sync of the disk', () => {
    const [few, many] = [temporaryDirectory(), temporaryDirectory()];
    expect(traced('placed', few).map((call) => call.replace(/incoming\/.*/, 'incoming'))).toEqual([
      'sync incoming',
      'sync incoming',
      'rename',
      'rename',
      'sync 00',
      'sync 11',
      'sync .',
    ]);
    expect(traced('many', many)).toEqual([
      'sync of the disk of .',
      ...Array.from({ length: 41 }, () => 'rename'),
      'sync 00',
      'sync 11',
      'sync .',
    ]);
  });

  test('what a tool has written behind the back of the daemon is synced; a tool that only reads costs nothing', () => {
    expect(traced('writing', temporaryDirectory())).toEqual(['sync of the disk of workspace']);
    expect(traced('reading', temporaryDirectory())).toEqual([]);
  });
});
