// Shows the findings of a check.
import type { FindingWire } from '../../wire/capabilities/model.ts';
import type { Column } from './output.ts';
import type { Style } from '../../terminal/colours.ts';

const STYLES: Readonly<Record<FindingWire['state'], Style | undefined>> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

/** A finding, and the name of what was checked. */
export interface FindingRow extends FindingWire {
  readonly name: string;
}

export const FINDINGS: readonly Column<FindingRow>[] = [
  { name: 'name', value: ({ name }) => name },
  { name: 'check', value: ({ check }) => check },
  { name: 'state', value: ({ state }) => state, style: ({ state }) => STYLES[state] },
  { name: 'detail', value: ({ detail }) => detail },
];
