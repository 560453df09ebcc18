// Callers for verbs that are called without a request.
import type { Administrator } from '../../src/domain/user.ts';

export const OPERATOR: Administrator = { kind: 'operator', reach: 'all' };
