// What is recorded of a reply whose last call may not be whole.
import { expect, test } from 'vitest';
import { recordReply } from '../../../src/agent/conversation/recorded-message.ts';
import type { Ending } from '../../../src/agent/models/event.ts';
import type { Reply } from '../../../src/agent/models/reply.ts';
import { NO_USAGE } from '../../../src/domain/sessions/usage.ts';

const call = { type: 'call', id: 'c', name: 'list_files', json: '' } as const;
const proof: Reply['parts'][number] = {
  type: 'thinking',
  text: '',
  proof: { reasoning_details: [{ type: 'reasoning.text' }] },
};

function faultsOf(parts: Reply['parts'], ending: Ending) {
  return recordReply({ parts, ending, usage: NO_USAGE }, 'm', new Set()).faults;
}

test('a call that its reply was cut off in is known, also before what belongs to the whole reply', () => {
  expect(faultsOf([call], 'length')['c']).toContain('limit of tokens');
  expect(faultsOf([call, proof], 'length')['c']).toContain('limit of tokens');
  expect(faultsOf([{ ...call, json: '{"path":' }, proof], 'content-filter')['c']).toContain('content filter');
});

test('a call that something follows is whole', () => {
  expect(faultsOf([call, { type: 'text', text: 'Now' }], 'length')).toEqual({});
  expect(faultsOf([call, proof], 'tool-calls')).toEqual({});
});
