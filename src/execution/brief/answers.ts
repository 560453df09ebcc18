// The results of a resumed run's questions: the user's answers, or that none came (I2).
import type { ToolResult } from '../../agent/port/protocol.ts';
import type { JsonValue } from '../../domain/json.ts';
import type { SettledQuestion } from '../../store/lifecycle/user-inputs.ts';

const UNANSWERED: ToolResult = {
  ok: false,
  output:
    'The user did not answer in time. Do not ask again: choose the most sensible interpretation, continue, and state your assumption in your answer.',
};

/** The results of a run's `ask_user` calls, by call id. */
export function answersOf(questions: readonly SettledQuestion[]): Record<string, ToolResult> {
  return Object.fromEntries(
    questions.map(({ toolUseId, status, answers }) => [
      toolUseId,
      status === 'answered' ? { ok: true, output: wordsOf(answers) } : UNANSWERED,
    ]),
  );
}

function wordsOf(answers: JsonValue): string {
  if (answers === '') return '(The user left the answer empty.)';
  return typeof answers === 'string' ? answers : JSON.stringify(answers);
}
