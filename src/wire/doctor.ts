// What an examination of the installation found.
import { array, object } from './composites.ts';
import { boolean, integer, oneOf, string } from './scalars.ts';
import { named, nullable, nullish, type Static } from './shape.ts';

/** What to examine in addition. */
export const examinationWish = named('ExaminationWish', object({ egress: nullish(boolean), full: nullish(boolean) }));
export type ExaminationWishWire = Static<typeof examinationWish>;

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
export type DiagnosisWire = Static<typeof diagnosis>;

/** All checks. `ok`: none has failed. */
export const examination = named('Examination', object({ ok: boolean, checks: array(diagnosis) }));
export type ExaminationWire = Static<typeof examination>;
