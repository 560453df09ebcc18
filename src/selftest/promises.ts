// What a self-test proves, in words for operators.

/** The promises in the order in which they are shown. */
export const PROMISES = {
  accepted: 'What was accepted is never lost',
  once: 'What is sent twice runs once',
  ended: 'Every run ends, with one end',
  resumed: 'Runs are resumed where they stopped, and not forever',
  turns: 'A session takes its turns one after another',
  journal: 'The journal of a run has no gaps, and has what was answered',
  steps: 'Each step and each tool call is recorded once',
  shown: 'The model is shown each result once, in order',
  answers: 'Answers are whole',
  files: 'Files that agents made are stored whole',
  ledger: 'Tokens add up to what is reported',
  database: 'The database is sound',
  starts: 'The daemon starts again after each kill, and logs no error',
  stop: 'It stops clean, and no process outlives it',
} as const;

export type PromiseName = keyof typeof PROMISES;

/** What was found of a promise. `checked`: how many things were looked at. */
export interface Finding {
  readonly promise: PromiseName;
  readonly checked: number;
  readonly problems: readonly string[];
}

/** A promise that nothing was looked at for is not proven. */
export function isKept({ checked, problems }: Finding): boolean {
  return checked > 0 && problems.length === 0;
}
