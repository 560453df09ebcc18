// Which lines of the log a reader wants.

/** From the least severe. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogWish {
  /** The least severe level that is shown. */
  readonly level: LogLevel | null;
  /** ISO 8601. */
  readonly since: string | null;
  /** Ids, or how they begin. */
  readonly runId: string | null;
  readonly sessionId: string | null;
}

/** Makes a function that returns whether a line is wanted. A line that is no entry of the log is wanted by those who want all. */
export function makeLogFilter({ level, since, runId, sessionId }: LogWish): (line: string) => boolean {
  const least = level === null ? 0 : LOG_LEVELS.indexOf(level);
  const sinceAt = since === null ? Number.NEGATIVE_INFINITY : Date.parse(since);
  const isAll = level === null && since === null && runId === null && sessionId === null;
  const begins = (value: unknown, start: string | null) =>
    start === null || (typeof value === 'string' && value.startsWith(start));
  return (line) => {
    if (isAll) return true;
    const entry = entryOf(line);
    if (entry === undefined) return false;
    const rank = LOG_LEVELS.indexOf(entry['level'] as LogLevel);
    if (rank !== -1 && rank < least) return false;
    if (Date.parse(String(entry['time'])) < sinceAt) return false;
    return begins(entry['run_id'], runId) && begins(entry['session_id'], sessionId);
  };
}

/** The line as an object of JSON: itself, or what is no entry, such as words of the service manager, as the message of one. */
export function asEntry(line: string): string {
  return entryOf(line) === undefined ? JSON.stringify({ msg: line }) : line;
}

function entryOf(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    // What begins with a brace, and is JSON, is an object.
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
