import { expect, test } from 'vitest';
import { failureOf } from '../../../../src/agent/loop/call/model-failure.ts';
import { type FaultKind, faultOfStatus, UnreachedError } from '../../../../src/agent/models/upstream-fault.ts';
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

/** As llama-server b10573 writes them; the last three are of Ollama and vLLM. */
const REFUSALS: readonly [number, object | string, FaultKind][] = [
  [503, { message: 'Loading model', type: 'unavailable_error', code: 503 }, 'overloaded'],
  [401, { message: 'Invalid API Key', type: 'authentication_error', code: 401 }, 'authentication'],
  [
    400,
    {
      code: 400,
      message: 'request (40011 tokens) exceeds the available context size (16384 tokens), try increasing it',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 40_011,
      n_ctx: 16_384,
    },
    'context_too_long',
  ],
  [
    400,
    {
      code: 400,
      message: 'Failed to initialize samplers: failed to parse grammar',
      type: 'invalid_request_error',
    },
    'bad_request',
  ],
  [
    500,
    {
      code: 500,
      message: 'The model produced output that does not match the expected peg-native format',
      type: 'server_error',
    },
    'unreadable',
  ],
  [
    500,
    {
      code: 500,
      message: 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
      type: 'server_error',
    },
    'too_many_images',
  ],
  [500, { code: 500, message: 'Context size has been exceeded.', type: 'server_error' }, 'crowded'],
  [500, 'this model is missing data required for image input', 'too_many_images'],
  [400, 'At most 0 image(s) may be provided in one prompt.', 'too_many_images'],
  [500, "error parsing tool call: raw='{', err=unexpected end of JSON input", 'unreadable'],
];
test.each(REFUSALS)('%i with %j is known', (status, error, kind) => {
  expect(faultOfStatus(status, JSON.stringify({ error }), undefined).kind).toBe(kind);
});

test('of a name with several addresses, a refusal at one of them is an outage', () => {
  const at = (code: string) => Object.assign(new Error(code), { code });
  const both = (errors: Error[]) =>
    new UnreachedError(Object.assign(new AggregateError(errors), { code: 'ENETUNREACH' }));
  const mixed = both([at('ENETUNREACH'), at('ECONNREFUSED')]);
  expect(failureOf(mixed, CALLED, 0)).toMatchObject({ again: true, isDown: true });
  expect(failureOf(both([at('ENETUNREACH')]), CALLED, 0)).toMatchObject({ again: true, isDown: false });
});

test.each(['UND_ERR_INFO', 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC'])(
  'a connection that breaks with %s in the middle of a reply is tried again',
  (code) => {
    const failure = failureOf(Object.assign(new Error('secret'), { code }), CALLED, 0);
    expect(failure).toMatchObject({ again: true, isDown: false, said: code, error: { retryable: true } });
    expect(failure.error.message).not.toContain('secret');
  },
);

test('a prompt that is too long is not waited out, whatever the status', () => {
  const fault = faultOfStatus(502, '{"error":{"code":"context_length_exceeded"}}', undefined);
  expect(failureOf(fault, CALLED, 0)).toMatchObject({ again: false, isDown: false });
});

test('a connection that takes too long is reported as a timeout', { tags: ['D8-limits'] }, () => {
  expect(failureOf(unreached('UND_ERR_CONNECT_TIMEOUT'), CALLED, 0).error).toEqual({
    type: 'timeout_error',
    message: 'The model "house-model" could not be reached: connecting took too long.',
    retryable: true,
  });
});
