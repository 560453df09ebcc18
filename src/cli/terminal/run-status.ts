// The statuses of runs in words for people: one word for what somebody stopped, in all of the command line.
import { RUN_STATUSES, type RunStatus } from '../../domain/sessions/run.ts';
import { type RunWord, wordOfStatus } from '../../terminal/states.ts';
import type { RunWire } from '../../wire/sessions/run.ts';

/** All of them. */
export const RUN_WORDS: readonly RunWord[] = RUN_STATUSES.map(wordOfStatus);

/** The status of a run; `waiting` for its user. */
export function runWordOf({ status, waiting_for_user: isWaiting }: RunWire): RunWord | 'waiting' {
  return isWaiting ? 'waiting' : wordOfStatus(status);
}

/** The status of the API for a word. */
export const statusOfWord = (word: RunWord): RunStatus => (word === 'stopped' ? 'canceled' : word);
