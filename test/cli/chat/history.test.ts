// The history of conversations: where it is stored, for whom, and how much of it.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { openHistory } from '../../../src/cli/chat/history.ts';
import { makeDirectory } from '../outside.ts';

const fileIn = (state: string) => path.join(state, 'errand', 'chat-history');

test('messages of several lines are there again, for their user only', () => {
  const state = makeDirectory();
  const history = openHistory({ XDG_STATE_HOME: state });
  for (const message of ['one', 'two\nlines', 'two\nlines']) history.add(message);
  expect(openHistory({ XDG_STATE_HOME: state }).messages).toEqual(['one', 'two\nlines']);
  expect(statSync(fileIn(state)).mode & 0o777).toBe(0o600);
  expect(statSync(path.dirname(fileIn(state))).mode & 0o777).toBe(0o700);
});

test('without XDG_STATE_HOME it is below the home directory; a relative one does not count', () => {
  const home = makeDirectory();
  openHistory({ HOME: home, XDG_STATE_HOME: 'state' }).add('x');
  expect(readFileSync(fileIn(path.join(home, '.local', 'state')), 'utf8')).toBe('"x"\n');
});

test.each([{}, { XDG_STATE_HOME: '/proc/none' }])(
  'where nothing can be written, it lasts as long as the program',
  (environment) => {
    const history = openHistory(environment);
    history.add('kept for now');
    expect(history.messages).toEqual(['kept for now']);
  },
);

test('a file that has grown too long is shortened to its newest messages, and strange lines are passed over', () => {
  const state = makeDirectory();
  mkdirSync(path.dirname(fileIn(state)));
  const long = Array.from({ length: 3_000 }, (_, at) => JSON.stringify(`${at} ${'x'.repeat(500)}`));
  writeFileSync(fileIn(state), `${long.join('\n')}\nnot JSON\n{}\n"newest"\n`, { mode: 0o644 });
  const { messages } = openHistory({ XDG_STATE_HOME: state });
  expect(messages).toHaveLength(1_000);
  expect(messages.at(-1)).toBe('newest');
  expect(statSync(fileIn(state)).size).toBeLessThan(600_000);
  expect(statSync(fileIn(state)).mode & 0o777).toBe(0o600);
  expect(openHistory({ XDG_STATE_HOME: state }).messages.at(-1)).toBe('newest');
});
