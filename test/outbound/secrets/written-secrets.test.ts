// What is secret of variables and arguments that nothing marks.
import { expect, test } from 'vitest';
import { secretsAmong, secretsInArguments } from '../../../src/outbound/secrets/written-secrets.ts';

const ADDRESS = 'postgres://mara:open%20sesame@db.example/tides';

test('a variable is secret by its name, and of any other the password in its address is', () => {
  expect(secretsAmong([['GITHUB_PAT', 'abc-def']])).toEqual(['abc-def']);
  expect(secretsAmong([['MYSQL_PWD', 'abc-def']])).toEqual(['abc-def']);
  expect(secretsAmong([['DATABASE_URL', ADDRESS]])).toEqual(['open%20sesame', 'open sesame']);
  expect(
    secretsAmong([
      ['PWD', '/srv/tides'],
      ['PATH', '/bin'],
      ['HOME_PAGE', 'https://mara@wiki.example:8443/a@b'],
    ]),
  ).toEqual([]);
});

test('an argument is secret behind an option of that name, and of any other the password in its address is', () => {
  expect(secretsInArguments(['--token', 'abc-def', '--api-key=ghi-jkl', '-v', ADDRESS])).toEqual([
    'abc-def',
    'ghi-jkl',
    'open%20sesame',
    'open sesame',
  ]);
  expect(secretsInArguments(['--token-file', '/run/token', '--author', 'Mara Sand', '--password'])).toEqual([]);
});
