// Kinds of errors: of the server, of the connection to it, and of neither.
import { expect, test } from 'vitest';
import { faultKindOf, isAnswer } from '../../../../../src/store/engine/postgres/connections/faults.ts';

const withCode = (code: string, more: object = {}) => Object.assign(new Error('It failed.'), { code, ...more });

test.for([
  ['40001', 'again'],
  ['57P01', 'away'],
  ['ECONNRESET', 'away'],
  ['EAI_AGAIN', 'away'],
  ['ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC', 'away'],
  ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', 'away'],
  ['ERR_STREAM_DESTROYED', 'away'],
  ['ERR_INVALID_ARG_TYPE', undefined],
  ['23505', undefined],
] as const)('%s is %s', ([code, kind]) => {
  expect(faultKindOf(withCode(code))).toBe(kind);
});

test('only what a server that stays has answered says that nothing was kept', () => {
  expect(isAnswer(withCode('23505', { severity: 'ERROR' }))).toBe(true);
  expect(isAnswer(withCode('57P01', { severity: 'FATAL' }))).toBe(false);
  expect(isAnswer(withCode('ERR_SSL_BAD_RECORD_MAC'))).toBe(false);
  expect(isAnswer(new Error('Connection terminated unexpectedly'))).toBe(false);
});
