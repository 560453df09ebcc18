// A problem with the configuration, and the line that reports it to an operator (J1, J2).

/** `file` is null when the problem is not in a file; line and column count from 1 and are null when it has no single place. */
export interface Problem {
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  /** Names the key by its path and says what it must be. Never contains a secret. */
  readonly message: string;
}

/** One line such as `models.yaml:2:9 models.qwen.price: must be …`. */
export function formatProblem(problem: Problem): string {
  const place = [problem.file, problem.line, problem.column].filter((part) => part !== null).join(':');
  return place === '' ? problem.message : `${place} ${problem.message}`;
}

/** A problem outside any file, such as one in the environment. */
export function problemOutside(message: string): Problem {
  return { file: null, line: null, column: null, message };
}

/** Problems of one file in the order of their places; those without a place come first. */
export function inOrder(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
