// Words for failures of MCP servers: they may quote the server, and never a credential.
import { expect, test } from 'vitest';
import { mcpFailure } from '../../../src/agent/mcp/failure.ts';
import { EgressError } from '../../../src/outbound/egress.ts';
import { makeRedactor } from '../../../src/outbound/secrets/redact.ts';

test('a host that a redirect names after the credential of the server is not repeated', () => {
  const error = new EgressError('refused', 'The host sesame-open-123.example has no address that may be reached.');
  const redact = makeRedactor(['sesame-open-123']);
  const { why } = mcpFailure(error, { timeoutMs: 1_000, ended: null, redact });
  expect(why).toBe('could not be reached: The host [credential].example has no address that may be reached');
});

test('a call whose time is over during a look-up reads like one to a name without an address', () => {
  const late = Object.assign(new Error('Request timed out'), { code: 'REQUEST_TIMEOUT' });
  const circumstances = { timeoutMs: 1_000, ended: null, redact: makeRedactor([]) };
  const unresolved = new EgressError('refused', 'The host db.corp.example has no address that may be reached.');
  expect(mcpFailure(late, { ...circumstances, unresolved }).why).toBe(mcpFailure(unresolved, circumstances).why);
  expect(mcpFailure(late, circumstances).why).toBe('did not answer within 1 seconds');
  const other = Object.assign(new Error('Broken'), { code: 'INVALID_RESULT' });
  expect(mcpFailure(other, { ...circumstances, unresolved }).why).toBe('sent a reply that violates the protocol');
});
