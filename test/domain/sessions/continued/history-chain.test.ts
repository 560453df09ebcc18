// Conversations as clients resend them.
import { expect, test } from 'vitest';
import {
  linkAfter,
  makeChains,
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

test('messages of the assistant in a row are one; with one of its user between them, even an empty one, they are two', {
  tags: ['M1-history'],
}, () => {
  const chained = (...said: Said[]) => {
    const chains = makeChains([NOTHING_SAID, nothingSaidUnder('ann')]);
    for (const one of said) chains.add(one);
    // Asking for them changes nothing.
    expect(chains.links()).toEqual(chains.links());
    return chains.links().map((link) => link.toString('hex'));
  };
  const [asked, more] = [user('What are tides?'), user('And storms?')];
  const divided = [assistant('The sea,'), assistant(''), assistant('moved by the moon.')];
  expect(chained(asked, ...divided)[0]).toBe(TIDES);
  const whole = assistant('The sea, moved by the moon.');
  expect(chained(asked, ...divided, more)).toEqual(chained(asked, whole, more));
  expect(chained(asked, whole, more)[0]).toBe(linkOf(asked, whole, more));
  expect(chained(asked, whole)[1]).toBe([asked, whole].reduce(linkAfter, nothingSaidUnder('ann')).toString('hex'));
  const apart = [assistant('The sea,'), user(''), assistant('moved by the moon.')];
  expect(chained(asked, ...apart)[0]).toBe(linkOf(asked, ...apart));
  expect(chained(asked, ...apart)[0]).not.toBe(TIDES);
});

test('a text of many open tags takes no longer than its length', () => {
  expect(linkOf(user('<think>'.repeat(500_000)))).toHaveLength(32);
});
