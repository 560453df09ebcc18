import { expect, test } from 'vitest';
import { whyText } from '../../../src/browser/app/why.ts';
import { ClientError } from '../../../src/client/transport/client-error.ts';

const refused = (status: number) => new ClientError({ kind: 'refused', status }, 'The daemon says why.');

test('each way of being turned away has its words', () => {
  expect(whyText('code', refused(401))).toMatch(/used already, or it is older than five minutes/);
  expect(whyText('key', refused(401))).toBe('This key is not valid.');
  expect(whyText('key', refused(403))).toMatch(/scope admin/);
  expect(whyText('later', refused(401))).toMatch(/key was revoked/);
  expect(whyText('later', refused(403))).toMatch(/no administrator/);
  expect(whyText('code', refused(429))).toBe('The daemon says why.');
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
