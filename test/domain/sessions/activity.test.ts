import { expect, test } from 'vitest';
import { activityOf } from '../../../src/domain/sessions/activity.ts';

test.each([
  ['shell', { command: 'python plot.py' }, 'shell: python plot.py'],
  ['write_file', { path: 'report.md', content: '…' }, 'writes report.md'],
  ['read_file', { path: 'a "b".txt', offset: 3 }, 'reads a "b".txt'],
  ['search_files', { path: '/src', pattern: 'T\\(ide\\)' }, 'searches for T\\(ide\\)'],
  ['delegate', { agent: 'writer', task: 'Write.' }, 'delegates to writer'],
  ['list_files', {}, 'list_files'],
  ['crm__find', { name: 'Ann' }, 'crm__find: Ann'],
  ['crm__find', { id: 7, name: 'Ann' }, 'crm__find: Ann'],
  ['crm__find', { id: 7 }, 'crm__find'],
  ['read_file', { path: '/report.md' }, 'reads report.md'],
  ['read_file', { path: '/src/main.ts' }, 'reads /src/main.ts'],
  ['shell', { command: 'cd /tmp\n\n\tmake' }, 'shell: cd /tmp make'],
])('%s with %j reads as "%s"', (name, input, line) => {
  expect(activityOf(name, JSON.stringify(input))).toBe(line);
});

test('the beginning of the arguments is enough, wherever they are cut', () => {
  const input = JSON.stringify({ path: 'q1 "ü"\n.md', content: 'x'.repeat(9_999) });
  expect(activityOf('write_file', input.slice(0, 200))).toBe('writes q1 "ü" .md');
  for (let end = 0; end < 24; end += 1) expect(activityOf('write_file', input.slice(0, end))).toMatch(/^write/);
});

test('a name in another text is not taken for the argument', () => {
  expect(activityOf('write_file', JSON.stringify({ content: '{"path":"no"}', path: 'yes' }))).toBe('writes yes');
});

test('a long line is cut at a whole character', () => {
  const line = activityOf('shell', JSON.stringify({ command: '🌊'.repeat(500) }));
  expect(Array.from(line)).toHaveLength(160);
  expect(line.isWellFormed()).toBe(true);
  expect(line.endsWith('🌊…')).toBe(true);
});
