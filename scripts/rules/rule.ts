// The form of a rule of the interface and of what proves it.

export interface Rule {
  /** Its place in the interface specification, such as `§4.3 rule 3`, or the id of a decision, such as `G8`. */
  readonly id: string;
  /** The rule in our own words. */
  readonly text: string;
  /** Titles of tests as written in the source, by test file below `test/`. */
  readonly proofs: Readonly<Record<string, readonly string[]>>;
  /** The part of the rule that no test proves; absent when nothing is left open. */
  readonly missing?: string;
}

/** How well a rule is proven. */
export type Standing = 'proven' | 'in part' | 'not yet';

/** A rule without a test isn't proven, and one with a `missing` part is proven in part. */
export function standingOf({ proofs, missing }: Rule): Standing {
  if (Object.keys(proofs).length === 0) return 'not yet';
  return missing === undefined ? 'proven' : 'in part';
}
