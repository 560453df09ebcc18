// Why a run has no answer, as its caller and the operators see it (§2.5, D6).
import type { RunErrorType } from '../domain/run.ts';
import { object } from './composites.ts';
import { boolean, oneOf, string } from './scalars.ts';
import { named } from './shape.ts';

const TYPES: readonly RunErrorType[] = [
  'queue_timeout_error',
  'timeout_error',
  'api_error',
  'structured_output_error',
  'interrupted_error',
];

export const runError = named(
  'RunError',
  object({ type: oneOf(TYPES), message: string, /** Whether the same turn can succeed later. */ retryable: boolean }),
);
