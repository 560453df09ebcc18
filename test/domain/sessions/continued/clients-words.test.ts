// What coding CLIs write before the words of their users.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { userWords } from '../../../../src/domain/sessions/continued/clients-words.ts';

const REMINDER = '<system-reminder>\nThe date is 2026-11-29.\n</system-reminder>';
const PLACE = '<environment_context>\n  <cwd>/srv</cwd>\n</environment_context>';
const RULES = '# AGENTS.md instructions for /srv\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>';

test.each([
  ['one reminder', `${REMINDER}\nFix the build.`],
  ['several of several kinds', `\n${REMINDER}\n${REMINDER}${PLACE}\n\n${RULES}\nFix the build.`],
  ['nothing', 'Fix the build.'],
])('before the user speaks: %s', (_, text) => {
  expect(userWords(text).trim()).toBe('Fix the build.');
});

test.each([
  ['between words', `Fix ${REMINDER} the build.`],
  ['after them', `Fix the build. ${PLACE}`],
  ['without its end', '<system-reminder>Fix the build.'],
  ['of another tag', '<task>Fix the build.</task>'],
])('what is %s is the user’s', (_, text) => {
  expect(userWords(text)).toBe(text);
});

test('a client that says nothing else has no words of its user', () => {
  expect(userWords(`${REMINDER}\n${PLACE}\n`).trim()).toBe('');
});

test('many of them take no longer than the text', () => {
  const many = '<system-reminder></system-reminder>'.repeat(100_000);
  expect(userWords(many).length).toBeGreaterThan(0);
  expect(userWords('<system-reminder>'.repeat(1_000_000))).toHaveLength(17_000_000);
});

const RECORDED = join(import.meta.dirname, '../../../support/http/recorded');

interface Recorded {
  readonly isTurn: boolean;
  readonly body: {
    readonly messages?: readonly {
      readonly role: string;
      readonly content: string | readonly { readonly text: string }[];
    }[];
    readonly input?: Recorded['body']['messages'];
  };
}

test.each(readdirSync(RECORDED))('the first words of %s are those of its user', (name) => {
  const requests = readFileSync(join(RECORDED, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded);
  const { messages, input } = requests.find(({ isTurn }) => isTurn)!.body;
  const said = (messages ?? input!).filter(({ role }) => role === 'user');
  const texts = said.map(({ content }) =>
    typeof content === 'string' ? content : content.map(({ text }) => text).join('\n'),
  );
  expect(userWords(texts.join('\n')).trim()).toMatch(/^"?first-words/);
});
