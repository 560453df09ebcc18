// Why a run has no answer, as its caller and the operators see it (§2.5, D6).
import { RUN_ERROR_TYPES } from '../domain/sessions/run.ts';
import { object } from './shapes/composites.ts';
import { boolean, oneOf, string } from './shapes/scalars.ts';
import { named } from './shapes/shape.ts';

export const runError = named(
  'RunError',
  object({
    type: oneOf(RUN_ERROR_TYPES),
    message: string,
    /** Whether the same turn can succeed later. */ retryable: boolean,
  }),
);
