import { expect, test } from 'vitest';
import { stillInText, whyText } from '../../../src/browser/app/why.ts';
import { ClientError } from '../../../src/client/transport/client-error.ts';

const refused = (status: number) => new ClientError({ kind: 'refused', status }, 'The daemon says why.');

test('each way of being turned away has its words', () => {
  expect(whyText('code', refused(401))).toMatch(/used already, or it is older than five minutes/);
  expect(whyText('key', refused(401))).toBe('This key is not valid.');
  expect(whyText('key', refused(403))).toMatch(/scope admin/);
  expect(whyText('later', refused(401))).toMatch(/key was revoked/);
  expect(whyText('later', refused(403))).toMatch(/no administrator/);
});

test('a link is not said to be used when it was not looked at', () => {
  expect(whyText('code', refused(429))).toMatch(/still good: open it again in a minute/);
  expect(whyText('code', refused(422))).toBe('The daemon says why.');
});

test('a cookie that was not kept is said right after the login', () => {
  expect(whyText('fresh', refused(401))).toMatch(/did not keep the login/);
});

test('who could not leave is told that they are still in', () => {
  expect(stillInText(refused(500))).toBe('This browser is still logged in. The daemon says why.');
});

test('whoever comes without anything is told nothing', () => {
  expect(whyText('first', refused(401))).toBe('');
  expect(whyText('first', null)).toBe('');
});

test('a daemon that is not there is no reason of the key', () => {
  expect(whyText('code', new ClientError({ kind: 'unreachable' }, 'The daemon is not reachable.'))).toMatch(
    /not reachable/,
  );
});
