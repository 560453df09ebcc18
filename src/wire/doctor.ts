// What an examination of the installation found.
import { array, object } from './shapes/composites.ts';
import { made, record, request } from './shapes/record.ts';
import { boolean, integer, oneOf, string } from './shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse } from './shapes/shape.ts';

/** What to examine in addition. */
export const examinationRequest = named(
  'ExaminationRequest',
  request({ egress: orElse(nullable(boolean), false), full: orElse(nullable(boolean), false) }),
);
export type ExaminationRequestWire = JsonOf<typeof examinationRequest>;

/** One check. `number` is its place in the order; `id` stays the same. */
export const diagnosis = named(
  'Diagnosis',
  object({
    number: integer({ from: 1 }),
    id: string,
    title: string,
    state: oneOf(['ok', 'warning', 'failed', 'skipped']),
    evidence: string,
    remedy: nullable(string),
  }),
);
export type DiagnosisWire = JsonOf<typeof diagnosis>;

/** A check without its number. */
type UnnumberedFinding = Omit<DiagnosisWire, 'number'>;

/** All checks. `ok`: none has failed. */
export const examination = named(
  'Examination',
  record({
    ok: made(boolean, (found: readonly UnnumberedFinding[]) => found.every(({ state }) => state !== 'failed')),
    checks: made(array(diagnosis), (found: readonly UnnumberedFinding[]) =>
      found.map((one, at) => ({ number: at + 1, ...one })),
    ),
  }),
);
export type ExaminationWire = JsonOf<typeof examination>;
