// Converts what an examination found to its shape.
import type { Finding } from '../../operations/doctor.ts';
import type { ExaminationWire } from '../../wire/doctor.ts';

/** The checks with their numbers. */
export function renderExamination(findings: readonly Finding[]): ExaminationWire {
  return {
    ok: findings.every(({ state }) => state !== 'failed'),
    checks: findings.map((finding, index) => ({ number: index + 1, ...finding })),
  };
}
