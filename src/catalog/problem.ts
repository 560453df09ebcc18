// A problem of the configuration, and the one line that tells it to an operator (J1, J2).

/** `file` is null when the problem is not in a file; line and column count from 1 and are null when it is in no one place. */
export interface Problem {
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  /** Names the key by path and says what it must be. Never holds a secret. */
  readonly message: string;
}

/** One line such as `models.yaml:2:9 models.qwen.price: must be …`. */
export function formatProblem(problem: Problem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== null).join(':');
  return place === '' ? problem.message : `${place} ${problem.message}`;
}

/** A problem that lies in no file, such as one of the environment. */
export function problemOutside(message: string): Problem {
  return { file: null, line: null, column: null, message };
}

/** Problems of one file in the order of their places; those of no place come first. */
export function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
