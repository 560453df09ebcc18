// Estimates the size of a turn's prompt when the turn is accepted, or before; a stream reports it at its start.
import { CHARACTERS_PER_TOKEN } from '../../domain/sessions/usage.ts';
import type { Reader, Step } from '../engine/statement.ts';

interface ComingTurn {
  readonly keySeq: number;
  /** Null for a turn that opens one. */
  readonly sessionSeq: number | null;
  /** The last run before it, where it forks the session. */
  readonly afterRun?: number | undefined;
  /** Of all its texts. */
  readonly characters: number;
}

/**
 * Tokens of the turn's first prompt. A continued session sends what its last step contained and the new text; a new one
 * about what the key's newest session began with, which is mostly instructions and tools.
 */
export function* estimatePrompt(tx: Reader, { keySeq, sessionSeq, afterRun, characters }: ComingTurn): Step<number> {
  const words = Math.ceil(characters / CHARACTERS_PER_TOKEN);
  return sessionSeq === null
    ? Math.max(words, (yield* openingOfKey(tx, keySeq))?.tokens ?? 0)
    : words + ((yield* lastStepOf(tx, afterRun ?? (yield* lastRunOf(tx, sessionSeq))))?.tokens ?? 0);
}

interface TokensRow {
  readonly tokens: number;
}

const LAST_RUN = `SELECT coalesce((SELECT max(seq) FROM runs WHERE session_seq = ?),
  (SELECT until_run FROM session_origins WHERE session_seq = ? AND position = 0)) AS seq`;

function* lastRunOf(tx: Reader, sessionSeq: number): Step<number | null> {
  return (yield* tx.get<{ seq: number | null }>(LAST_RUN, sessionSeq, sessionSeq))!.seq;
}

function* lastStepOf(tx: Reader, runSeq: number | null): Step<TokensRow | undefined> {
  return yield* tx.get<TokensRow>(
    'SELECT input_tokens + output_tokens AS tokens FROM steps WHERE run_seq = ? ORDER BY step DESC LIMIT 1',
    runSeq,
  );
}

function* openingOfKey(tx: Reader, keySeq: number): Step<TokensRow | undefined> {
  return yield* tx.get<TokensRow>(
    `SELECT input_tokens AS tokens FROM steps WHERE step = 1 AND run_seq = (
       SELECT min(seq) FROM runs WHERE session_seq = (
         SELECT seq FROM sessions WHERE key_seq = ? AND kind = 'api' AND deleted_at IS NULL
         ORDER BY updated_at DESC, created_at DESC, seq DESC LIMIT 1))`,
    keySeq,
  );
}
