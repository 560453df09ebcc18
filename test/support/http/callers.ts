// Callers for verbs that are called without a request.
import type { Administrator } from '../../../src/domain/people/user.ts';

export const OPERATOR: Administrator = {
  kind: 'operator',
  reach: 'all',
  origin: { address: 'socket', requestId: '0198c0de-0000-7000-8000-0000000000ff' },
};
