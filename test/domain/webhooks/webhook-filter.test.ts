// Which filter holds an event back, and in which order they are asked (§6.6, H5).
import { expect, test } from 'vitest';
import { WEBHOOK_EVENT_TYPES, WEBHOOK_EVENTS } from '../../../src/domain/webhooks/webhook.ts';
import { FILTERED_REASONS, filteredReason, type Occasion } from '../../../src/domain/webhooks/webhook-filter.ts';

const MILL = '0190a0a0-0000-7000-8000-000000000001';
const QUARRY = '0190a0a0-0000-7000-8000-000000000002';
const occasion = (over: Partial<Occasion> = {}): Occasion => ({
  type: 'session.completed',
  sessionKind: 'api',
  projectId: MILL,
  ...over,
});
const webhook = (over: Partial<Parameters<typeof filteredReason>[0]> = {}) => ({
  enabled: true,
  events: ['session.completed', 'user_input.requested'] as const,
  sessionKinds: null,
  projectId: null,
  ...over,
});

test.each([
  ['a global webhook of every kind', webhook(), occasion(), null],
  ['a kind that is selected', webhook({ sessionKinds: ['chat', 'api'] }), occasion(), null],
  ['the project', webhook({ projectId: MILL }), occasion(), null],
  [
    'an event that has no filter on kinds',
    webhook({ sessionKinds: ['chat'] }),
    occasion({ type: 'user_input.requested' }),
    null,
  ],
  ['a disabled webhook', webhook({ enabled: false }), occasion(), 'disabled'],
  ['another event', webhook(), occasion({ type: 'session.failed' }), 'event_type_filtered'],
  ['another kind', webhook({ sessionKinds: ['chat'] }), occasion(), 'session_kind_filtered'],
  ['no project', webhook({ projectId: MILL }), occasion({ projectId: null }), 'session_project_missing'],
  ['another project', webhook({ projectId: QUARRY }), occasion(), 'project_mismatch'],
] as const)('%s', { tags: ['§6.2-filters', '§6.6-reasons'] }, (_, one, event, reason) => {
  expect(filteredReason(one, event)).toBe(reason);
});

test('of several reasons the first in order is given', { tags: ['H5'] }, () => {
  const every = { enabled: false, events: [], sessionKinds: [], projectId: QUARRY };
  const reasons = [];
  const allowing = [{}, { enabled: true }, { events: WEBHOOK_EVENT_TYPES }, { sessionKinds: null }];
  for (let given = 1; given <= allowing.length; given += 1) {
    reasons.push(
      filteredReason(Object.assign({ ...every }, ...allowing.slice(0, given)), occasion({ projectId: null })),
    );
  }
  reasons.push(
    filteredReason({ ...every, enabled: true, events: WEBHOOK_EVENT_TYPES, sessionKinds: null }, occasion()),
  );
  expect(reasons).toEqual(FILTERED_REASONS);
});

test('kinds are asked for conversations and exports only', { tags: ['§6.2-filters'] }, () => {
  const filtered = WEBHOOK_EVENT_TYPES.filter((type) => WEBHOOK_EVENTS[type].hasKindFilter);
  expect(filtered).toEqual(['session.completed', 'session.failed', 'session.stopped', 'workspace_export.completed']);
});
