import { expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import type { ToolCall } from '../../../src/http/mcp/call.ts';
import { makeTaskTools, type TaskToolParts } from '../../../src/http/mcp/tasks.ts';
import { makeTaskOperations } from '../../../src/operations/turns/tasks.ts';
import type { RunRecord } from '../../../src/store/runs/run-records.ts';

const RUN = { id: 'run', sessionId: 'session', status: 'running', structuredOutput: null, error: null } as RunRecord;
const CALL = { caller: { key: { seq: 1 } }, isCancelled: () => false } as ToolCall;

/** The tools of a key that has asked as often as it may. */
function toolsAtTheLimit() {
  const answered: string[] = [];
  const operations = {
    ...makeTaskOperations({
      store: { events: { newestId: async () => 0 } },
      access: { run: async () => RUN },
      countPoll: () => {
        throw new ErrandError('rate_limited', 'Too many look-ups.');
      },
    }),
    getRun: async () => RUN,
    answerUserInput: async (_caller: unknown, questionId: string) => {
      answered.push(questionId);
      return { runId: RUN.id };
    },
  };
  const parts = { operations, settings: () => ({ waitTimeoutSeconds: 600 }) } as unknown as TaskToolParts;
  return { tools: makeTaskTools(parts), answered };
}

test('an answer that was taken is not refused, however often its key has asked', async () => {
  const { tools, answered } = toolsAtTheLimit();
  const input = { questionId: 'question', answer: 'red', waitSeconds: 0 };
  expect(await tools.answer_question(CALL, input)).toMatchObject({ isError: false, output: { status: 'running' } });
  expect(answered).toEqual(['question']);
});

test('whoever asks for a result too often is refused', async () => {
  const { tools } = toolsAtTheLimit();
  await expect(tools.get_result(CALL, { runId: 'run', waitSeconds: 0 })).rejects.toThrow('Too many look-ups.');
});
