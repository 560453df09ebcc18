// What the client of a run that has ended has of the conversation, so that its next request is found to go on there (M1).
import { type Link, linkAfter } from '../../domain/sessions/continued/history-chain.ts';
import { END_OF_JOURNAL } from '../engine/journal/places.ts';
import { type EventHead, type Mark, mayPrecedeText } from '../engine/journal/rows.ts';
import { listTexts } from '../engine/journal/text.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { wholeRows } from '../journal/whole-rows.ts';

interface AnswerRow {
  readonly answer: string | null;
  readonly result: string | null;
  /** Whether replies may have been streamed that no step has. */
  readonly hasBroken: number;
}

const ANSWER = `SELECT answer, CASE WHEN result_tool IS NOT NULL THEN '' WHEN result_in_content = 1 THEN structured_output END AS result,
    status <> 'completed' OR EXISTS (SELECT 1 FROM discarded_texts WHERE run_seq = runs.seq) AS hasBroken
  FROM runs WHERE seq = ?`;

/** `asked`: up to the user's message. A client has the answer alone, or all that was streamed; of a call of its tool, no text. */
export function* keepHistoryIn(tx: Transaction, runSeq: number, asked: Link): Step<void> {
  const texts = (yield* tx.all<{ text: string }>(
    "SELECT text FROM steps WHERE run_seq = ? AND text <> '' ORDER BY step",
    runSeq,
  )).map(({ text }) => text);
  const { answer, result, hasBroken } = (yield* tx.get<AnswerRow>(ANSWER, runSeq))!;
  const linkOf = (text: string) => linkAfter(asked, { role: 'assistant', text });
  const answered = result ?? answer ?? texts.at(-1) ?? '';
  const broken = hasBroken === 1 && result === null ? yield* allStreamed(tx, runSeq) : undefined;
  const streamed = result ?? broken ?? texts.join('');
  yield* tx.run(
    'UPDATE runs SET history_answered = ?, history_streamed = ? WHERE seq = ?',
    linkOf(answered),
    streamed === answered ? null : linkOf(streamed),
    runSeq,
  );
}

/** More of a journal isn't read: its commit would take too long. */
const [MOST_MARKS, MOST_TEXTS] = [1_000, 1_000];

const MARKS = `SELECT id, stream_seq, type FROM events WHERE run_seq = ? AND type <> 'content_block_delta'
  ORDER BY stream_seq LIMIT ?`;

/** All text of a run's stream, also of replies that broke off; undefined where that is too much to be read. */
function* allStreamed(tx: Transaction, runSeq: number): Step<string | undefined> {
  const marks = yield* tx.all<Mark>(MARKS, runSeq, MOST_MARKS + 1);
  if (marks.length > MOST_MARKS) return undefined;
  const heads: EventHead[] = [];
  for (const [at, mark] of marks.entries()) {
    const next = marks[at + 1];
    if (!mayPrecedeText(mark, next)) continue;
    const span = { runSeq, afterId: mark.id, beforeId: next?.id ?? END_OF_JOURNAL };
    heads.push(...(yield* listTexts(tx, span, { order: 'asc', limit: MOST_TEXTS + 1 - heads.length })));
    if (heads.length > MOST_TEXTS) return undefined;
  }
  const { events: rows, isCut } = yield* wholeRows(tx, heads);
  if (isCut) return undefined;
  return rows.map(({ payload }) => (JSON.parse(payload) as { readonly text: string }).text).join('');
}
