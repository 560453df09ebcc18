import { expect, test } from 'vitest';
import { failureOf } from '../../../../src/agent/loop/call/model-failure.ts';
import { faultOfStatus, UnreachedError } from '../../../../src/agent/models/upstream-fault.ts';
import { GRANT, LIMITS } from '../../play-main.ts';

const CALLED = { model: GRANT, limits: LIMITS };
const unreached = (code: string) => new UnreachedError(Object.assign(new Error(code), { code }));

test.each([
  ...['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT', 'EHOSTUNREACH'].map(unreached),
  ...[502, 503, 504, 521, 522, 523, 524, 529].map((status) => faultOfStatus(status, '', undefined)),
])('a server or a machine that is restarted is down: %s', (error) => {
  expect(failureOf(error, CALLED, 0)).toMatchObject({ again: true, isDown: true, error: { retryable: true } });
});

test.each([
  ...['ECONNRESET', 'ENOTFOUND', 'ENETUNREACH', 'UND_ERR_SOCKET', 'EMFILE'].map(unreached),
  ...[429, 500, 520].map((status) => faultOfStatus(status, '', undefined)),
])('what a restart does not explain is no reason to wait: %s', (error) => {
  expect(failureOf(error, CALLED, 0)).toMatchObject({ again: true, isDown: false });
});

test('a prompt that is too long is not waited out, whatever the status', () => {
  const fault = faultOfStatus(502, '{"error":{"code":"context_length_exceeded"}}', undefined);
  expect(failureOf(fault, CALLED, 0)).toMatchObject({ again: false, isDown: false });
});

test('a connection that takes too long is reported as a timeout', () => {
  expect(failureOf(unreached('UND_ERR_CONNECT_TIMEOUT'), CALLED, 0).error).toEqual({
    type: 'timeout_error',
    message: 'The model "house-model" could not be reached: connecting took too long.',
    retryable: true,
  });
});
