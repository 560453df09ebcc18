// Shows the findings of a check.
import type { FindingWire } from '../../wire/capabilities/model.ts';
import { type Column, column, state } from '../../terminal/columns.ts';

/** A finding, and the name of what was checked. */
export interface FindingRow extends FindingWire {
  readonly name: string;
}

export const FINDINGS: readonly Column<FindingRow>[] = [
  column('name', ({ name }) => name, 6),
  column('check', ({ check }) => check, 8),
  state('state', (finding) => finding.state, 9),
  { ...column('detail', ({ detail }) => detail, 7), wraps: true },
];
