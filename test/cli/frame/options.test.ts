// What tables of options give: the fields of a request, and only those that are on the command line.
import { Command } from 'commander';
import { expect, test } from 'vitest';
import { integerIn } from '../../../src/cli/frame/arguments.ts';
import {
  always,
  choice,
  clearable,
  converted,
  flag,
  group,
  option,
  type Options,
  type OptionsOf,
  required,
  toggle,
  withEarlier,
} from '../../../src/cli/frame/options.ts';

/** What a table gives of a command line; undefined for nothing. */
function given(table: Options, ...args: string[]): object | undefined {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  const whole = group(table);
  for (const one of whole.options) command.addOption(one);
  return whole.valueIn(command.parse(args, { from: 'user' }).opts());
}

const TABLE = {
  full_name: option('--full-name <text>', ''),
  retry_count: option('--retries <count>', '', integerIn({ from: 0, to: 9 })),
  role: choice('--role <role>', '', ['admin', 'user']),
  team: clearable('--team <team>', ''),
  limit: clearable('--limit <count>', '', integerIn({ from: 0, to: 9 })),
  board: toggle('--board', '', ''),
  enabled: converted(flag('--disabled', ''), () => false),
  kinds: withEarlier(option('--session-kind <kind>', ''), option('--kind <kind>', '')),
};

test.each([
  [['--full-name', ''], { full_name: '' }],
  [['--retries', '0'], { retry_count: 0 }],
  [['--role', 'user'], { role: 'user' }],
  [['--team', 'none'], { team: null }],
  [['--team', 'Nine'], { team: 'Nine' }],
  [['--limit', 'none'], { limit: null }],
  [['--limit', '7'], { limit: 7 }],
  [['--board'], { board: true }],
  [['--no-board'], { board: false }],
  [['--disabled'], { enabled: false }],
  [['--session-kind', 'a'], { kinds: 'a' }],
  [['--kind', 'a'], { kinds: 'a' }],
  [[], undefined],
])('%j gives %j', (args, fields) => {
  expect(given(TABLE, ...args)).toEqual(fields);
});

test.each([
  [['--role', 'guest'], 'Allowed choices are admin, user.'],
  [['--retries', '10'], 'from 0 to 9'],
  [['--limit', 'some'], 'from 0 to 9'],
  [['--kind', 'a', '--session-kind', 'b'], 'cannot be used with'],
])('%j is refused', (args, words) => {
  expect(() => given(TABLE, ...args)).toThrow(words);
});

test('what is required must be there, and a default always is', () => {
  const table = { user: required(option('--user <user>', '')), name: always(option('--name <name>', ''), 'mine') };
  expect(() => given(table)).toThrow("required option '--user <user>' not specified");
  expect(given(table, '--user', 'alice')).toEqual({ user: 'alice', name: 'mine' });
});

test('a table for a request has its fields, with values that it takes', () => {
  interface Request {
    readonly name?: string;
    readonly limit?: number | null;
  }
  const fits: OptionsOf<Request> = { name: option('--name <name>', ''), limit: TABLE.limit };
  // @ts-expect-error: the request has no such field.
  const other: OptionsOf<Request> = { nmae: option('--name <name>', '') };
  // @ts-expect-error: a flag gives no text.
  const wrong: OptionsOf<Request> = { name: flag('--name', '') };
  expect([fits, other, wrong].map((table) => Object.keys(table).length)).toEqual([2, 1, 1]);
});
