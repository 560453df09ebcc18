// The one cookie that is read, and what may ask for it.
import { expect, test } from 'vitest';
import { officeCookiesOf, readOfficeCookie, requireOwnPage } from '../../../src/http/frame/office-cookie.ts';

const VALUE = 'a'.repeat(43);
const read = (headers: Record<string, string>) => readOfficeCookie({ headers }, 'errand_office');

test.each([
  ['alone', `errand_office=${VALUE}`],
  ['among others', `a=b; errand_office=${VALUE}; c=d=e`],
  ['twice the same', `errand_office=${VALUE}; errand_office=${VALUE}`],
])('a cookie is found %s', (_, cookie) => {
  expect(read({ cookie })).toBe(VALUE);
});

test.each([
  ['none', {}],
  ['of another name', { cookie: `errand_officer=${VALUE}; xerrand_office=${VALUE}` }],
  ['too short', { cookie: 'errand_office=abc' }],
  ['in quotes', { cookie: `errand_office="${VALUE}"` }],
  ['too long', { cookie: `errand_office=${VALUE}a` }],
])('what is none is no credential: %s', (_, headers: Record<string, string>) => {
  expect(read(headers)).toBe(null);
});

test('two that differ are refused: another host of the site may have set one', () => {
  expect(() => read({ cookie: `errand_office=${VALUE}; errand_office=${'b'.repeat(43)}` })).toThrow('two different');
});

test('a cookie counts for our own pages and for addresses that people enter, and for no other page', () => {
  const from = (site: string) => read({ cookie: `errand_office=${VALUE}`, 'sec-fetch-site': site });
  expect(['same-origin', 'none'].map(from)).toEqual([VALUE, VALUE]);
  expect(['same-site', 'cross-site', ''].map(from)).toEqual([null, null, null]);
});

const OWN = 'https://errand.example/base';
const asks = (headers: Record<string, string>) => () =>
  requireOwnPage({ headers: { host: '10.0.0.1:8484', ...headers } }, OWN);

test.each([
  ['a program', {}],
  ['our own page', { 'sec-fetch-site': 'same-origin', origin: 'https://anything.example' }],
  ['a page of public_url', { origin: 'https://errand.example' }],
  ['a page of the address that was asked', { origin: 'http://10.0.0.1:8484' }],
])('logs in: %s', (_, headers: Record<string, string>) => {
  expect(asks(headers)).not.toThrow();
});

test.each([
  ['a page of another origin', { 'sec-fetch-site': 'cross-site' }],
  ['a page of another host of the site', { 'sec-fetch-site': 'same-site', origin: 'https://errand.example' }],
  ['a page of another origin over plain HTTP', { origin: 'http://10.0.0.2:8484' }],
  ['a sandboxed page', { origin: 'null' }],
])('does not log in: %s', (_, headers: Record<string, string>) => {
  expect(asks(headers)).toThrow('other origins');
});

test('whoever logs out ends all cookies of the name, up to a few', () => {
  const values = Array.from({ length: 9 }, (_, at) => `${at}`.repeat(43));
  const headers = { cookie: ['errand_office=short', 'other=x', ...values.map((v) => `errand_office=${v}`)].join('; ') };
  expect(officeCookiesOf({ headers }, 'errand_office')).toEqual(values.slice(0, 4));
});
