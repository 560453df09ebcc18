// Conversations as clients resend them.
import { expect, test } from 'vitest';
import {
  linkAfter,
  NOTHING_SAID,
  nothingSaidUnder,
  type Said,
} from '../../../../src/domain/sessions/continued/history-chain.ts';

const linkOf = (...said: Said[]) => said.reduce(linkAfter, NOTHING_SAID).toString('hex');
const user = (text: string): Said => ({ role: 'user', text });
const assistant = (text: string): Said => ({ role: 'assistant', text });
const TIDES = linkOf(user('What are tides?'), assistant('The sea, moved by the moon.'));

test('equal conversations have equal links; another word, order or speaker makes another', {
  tags: ['M1-history'],
}, () => {
  expect(linkOf(user('What are tides?'), assistant('The sea, moved by the moon.'))).toBe(TIDES);
  for (const other of [
    [user('What are tides?'), assistant('The sea, moved by the sun.')],
    [assistant('The sea, moved by the moon.'), user('What are tides?')],
    [user('What are tides?'), user('The sea, moved by the moon.')],
    [user('What are tides?The sea, moved by the moon.')],
    [user('What are tides?')],
  ])
    expect(linkOf(...other)).not.toBe(TIDES);
});

test('the same words under two names, or without one, are three conversations', { tags: ['M1-name'] }, () => {
  const said = user('What are tides?');
  const begun = [NOTHING_SAID, nothingSaidUnder('ann'), nothingSaidUnder('bob'), nothingSaidUnder('ann')];
  const links = begun.map((link) => linkAfter(link, said).toString('hex'));
  expect(new Set(links).size).toBe(3);
  expect(links[1]).toBe(links[3]);
});

test("what clients change between requests doesn't: blanks, reminders, thinking, and messages without text", {
  tags: ['M1-history'],
}, () => {
  const reminder = '<system-reminder>\nThe date is 2026-11-29.\n</system-reminder>';
  for (const [asked, answered] of [
    ['  What are\ntides?\n', 'The sea,  moved by the moon. '],
    [`${reminder}What are tides?${reminder}`, 'The sea, moved by the moon.'],
    ['What are tides?', '<think>They mean\nthe sea.</think>\n\nThe sea, moved by the moon.'],
  ])
    expect(linkOf(user(asked!), assistant(''), assistant(answered!))).toBe(TIDES);
  expect(linkOf(user('What are <think>tides?'), assistant('The sea, moved by the moon.'))).not.toBe(TIDES);
});

test('a text of many open tags takes no longer than its length', () => {
  expect(linkOf(user('<think>'.repeat(500_000)))).toHaveLength(32);
});
