// What an agent is told when its workspace was laid out anew.
import { expect, test } from 'vitest';
import { type AsOf, workspaceNote } from '../../../src/domain/sessions/workspace-note.ts';

const CREATED = Date.parse('2026-03-01T10:00:00Z');
const ENDED = Date.parse('2026-03-01T10:05:00Z');
const call = (name: string, input: object, step = 2, isOwn = true) => ({
  name,
  input: JSON.stringify(input),
  step,
  isOwn,
});

test('it says what the workspace is, and what is gone', () => {
  const asOf = { step: null, isOwn: false, createdAt: CREATED, finishedAt: ENDED };
  const calls = [
    call('shell', { command: 'make all' }, 4, false),
    call('write_file', { path: 'report.md', content: 'long' }),
  ];
  expect(
    workspaceNote(asOf, calls, true),
  ).toBe(`Note: your workspace had to be restored on another machine. It is as it \
was when the turn of 2026-03-01T10:00:00.000Z ended, at 2026-03-01T10:05:00.000Z. What these calls have left in it since then is gone:
- earlier calls
- shell: make all (an earlier turn, step 4)
- writes report.md (step 2)
Look at what is there before you rely on it.`);
});

test.each<[AsOf | null, string]>([
  [null, 'empty, except for attached files'],
  [{ step: 0, isOwn: true, createdAt: CREATED, finishedAt: null }, 'as it was before the first change in this turn'],
  [{ step: 3, isOwn: true, createdAt: CREATED, finishedAt: null }, 'as it was after step 3 of this turn'],
  [
    { step: 3, isOwn: false, createdAt: CREATED, finishedAt: ENDED },
    'as it was after step 3 of the turn of 2026-03-01T10:00:00.000Z',
  ],
])('the moment is named (%#)', (asOf, words) => {
  expect(workspaceNote(asOf, [call('shell', {})], false)).toContain(`It is ${words}. `);
});
