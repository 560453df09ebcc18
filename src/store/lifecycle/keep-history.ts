// What the client of a run that has ended has of the conversation, so that its next request is found to go on there (M1).
import { type Link, linkAfter } from '../../domain/sessions/continued/history-chain.ts';
import type { Step, Transaction } from '../engine/statement.ts';

/** `asked`: up to the user's message. A client has the answer alone, or all that was streamed; of a call of its tool, no text. */
export function* keepHistoryIn(tx: Transaction, runSeq: number, asked: Link): Step<void> {
  const texts = (yield* tx.all<{ text: string }>(
    "SELECT text FROM steps WHERE run_seq = ? AND text <> '' ORDER BY step",
    runSeq,
  )).map(({ text }) => text);
  const { answer, result } = (yield* tx.get<{ answer: string | null; result: string | null }>(
    `SELECT answer, CASE WHEN result_tool IS NOT NULL THEN '' WHEN result_in_content = 1 THEN structured_output END AS result
     FROM runs WHERE seq = ?`,
    runSeq,
  ))!;
  const linkOf = (text: string) => linkAfter(asked, { role: 'assistant', text });
  const answered = result ?? answer ?? texts.at(-1) ?? '';
  const streamed = result ?? texts.join('');
  yield* tx.run(
    'UPDATE runs SET history_answered = ?, history_streamed = ? WHERE seq = ?',
    linkOf(answered),
    streamed === answered ? null : linkOf(streamed),
    runSeq,
  );
}
