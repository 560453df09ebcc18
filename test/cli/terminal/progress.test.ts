// How far long work is: a bar on a terminal, now and then a line elsewhere; and the time of what it has made.
import { expect, test } from 'vitest';
import type { Io } from '../../../src/cli/frame/io.ts';
import { makeOutput } from '../../../src/cli/frame/output.ts';
import { makeProgressBar } from '../../../src/cli/terminal/progress.ts';

function fixture(isTerminal: boolean) {
  const fixture = { now: 1_000_000, written: '' };
  const stream = { write: (text: string) => void (fixture.written += text) };
  const io = {
    now: () => fixture.now,
    stdout: stream,
    stderr: stream,
    terminal: { stdin: isTerminal, stdout: isTerminal, stderr: isTerminal },
    environment: { NO_COLOR: '1' },
    columns: 80,
  } as unknown as Io;
  return { fixture, io };
}

test('on a terminal, a bar shows part, work and detail, and is removed in the end', () => {
  const { fixture: seen, io } = fixture(true);
  const bar = makeProgressBar(io);
  bar.show('workspaces', 1, 2, '12 MB');
  expect(seen.written).toBe(`\r\x1b[K${'█'.repeat(12)}${'░'.repeat(12)}  50%  workspaces, 12 MB`);
  bar.show('workspaces', 2, 2, '13 MB');
  bar.end();
  expect(seen.written.endsWith('12 MB\r\x1b[K')).toBe(true);
});

test('in a pipe, a line says it every ten seconds, and for each new work', () => {
  const { fixture: seen, io } = fixture(false);
  const bar = makeProgressBar(io);
  for (let done = 0; done < 10; done += 1) {
    bar.show('workspaces', done, 10, `${done} MB`);
    seen.now += 2_000;
  }
  bar.show('finishing', 0, 1);
  bar.end();
  expect(seen.written.split('\n')).toEqual(['workspaces 0%, 0 MB', 'workspaces 50%, 5 MB', 'finishing 0%', '']);
});

test('what a long command has made was not made in the future', () => {
  const { fixture: seen, io } = fixture(true);
  const out = makeOutput(io, { format: undefined, wide: false });
  seen.now += 60_000;
  const thing = { created_at: new Date(seen.now - 5_000).toISOString() };
  out.record(thing, [{ name: 'created_at', value: (row: typeof thing) => row.created_at }], thing);
  expect(seen.written).toContain('(5 s ago)');
});
