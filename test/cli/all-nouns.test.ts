// A noun is loaded alone when a command line begins with it, and shows the same as among all others.
import { expect, test } from 'vitest';
import { run } from './outside.ts';

const { stdout: help } = await run(['--help']);
const commands = help.slice(help.indexOf('The daemon:'), help.indexOf('Environment:'));
const nouns = [...commands.matchAll(/^ {2}([a-z][a-z-]*) .*/gm)]
  .map(([, noun]) => noun!)
  .filter((noun) => noun !== 'help');

test('the help shows every noun under a heading', () => {
  expect(nouns).toEqual(expect.arrayContaining(['serve', 'users', 'expert-teams', 'runs', 'chat', 'version']));
  expect(help.match(/^[A-Z].*:$/gm)).toEqual(expect.arrayContaining(['The daemon:', 'This command line:']));
});

test.each(nouns)('%s', async (noun) => {
  const [alone, among] = [await run([noun, '--help']), await run(['help', noun])];
  expect(alone).toMatchObject({ code: 0, stdout: expect.stringMatching(`^Usage: errand ${noun}`) });
  expect(alone.stdout).toBe(among.stdout);
});

test('a completion script completes all nouns', async () => {
  const { stdout } = await run(['completion', 'bash']);
  for (const noun of nouns) expect(stdout).toContain(noun);
});

test('a misspelled noun is answered with the one that was meant', async () => {
  expect(await run(['user', 'list'])).toMatchObject({ code: 2, stderr: expect.stringContaining('users') });
});
