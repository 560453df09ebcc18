// What a pipe is handed may come to a terminal: nothing of what others wrote reaches it as control characters.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { NOW, run, startFakeDaemon } from '../outside.ts';

const HOSTILE = '\u001b[2J\u001b]52;c;eA==\u0007\u009b31m\u007f\u0008\u202etitle\u2066\u200f\u061c\r';
/** All but what separates lines and columns. */
const CONTROL = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const ID = '0190f6a1-0000-7000-8000-000000000001';
const SESSION = {
  session_id: ID,
  status: 'completed',
  username: HOSTILE,
  key_id: null,
  updated_at: new Date(NOW).toISOString(),
  title: HOSTILE,
};
const REPLIES = {
  'GET /api/v1/sessions': () => ({ items: [SESSION], total: 3 }),
  [`GET /api/v1/sessions/${ID}`]: () => SESSION,
};

test.each([
  ['a list', ['sessions', 'list']],
  ['one thing', ['sessions', 'show', ID]],
  ['a list as JSON', ['sessions', 'list', '-o', 'json']],
  ['one thing as JSON', ['sessions', 'show', ID, '-o', 'json']],
  ['what is not there', ['sessions', 'show', HOSTILE]],
])('%s has escapes in a pipe, and nothing of it is lost', async (_, args) => {
  const { dataDir } = await startFakeDaemon(REPLIES);
  const { stdout, stderr } = await run(args, { dataDir });
  expect(stdout).not.toMatch(CONTROL);
  expect(stderr).not.toMatch(CONTROL);
  if (!args.includes('json')) return;
  const printed = JSON.parse(stdout) as typeof SESSION & { readonly items?: readonly (typeof SESSION)[] };
  expect((printed.items?.[0] ?? printed).title).toBe(HOSTILE);
});

/** They write what was asked for as it is, what a terminal alone is shown, or what they have made safe themselves. */
const WRITE_THEMSELVES = [
  'chat/converse.ts',
  'chat/keyboard.ts',
  'frame/output.ts',
  'frame/standard-input.ts',
  'nouns/administration/gc.ts',
  'nouns/administration/logs.ts',
  'nouns/backups/passphrase.ts',
  'nouns/webhooks/deliveries.ts',
  'program.ts',
  'terminal/progress.ts',
];

test('commands print by their output alone, which makes it safe', () => {
  const root = join(import.meta.dirname, '../../../src/cli');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const writing = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => /std(out|err)\.write\(/.test(readFileSync(file, 'utf8')));
  expect(writing.map((file) => relative(root, file)).toSorted()).toEqual(WRITE_THEMSELVES);
});
