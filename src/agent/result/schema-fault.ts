// What can be wrong with a schema, apart from the validator that finds it.

/** What is wrong with a schema, and where. */
export interface SchemaFault {
  /** JSON pointer into the schema. */
  readonly pointer: string;
  readonly mustBe: string;
}

/** The fault of a schema that would take too much time or memory. */
export const TOO_COMPLEX: SchemaFault = { pointer: '', mustBe: 'is too complex to be compiled' };
