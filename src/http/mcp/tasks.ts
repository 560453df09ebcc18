// The tools on tasks: hand over, ask for the result, answer, stop.
import type { Settings } from '../../domain/settings.ts';
import { isTerminal } from '../../domain/sessions/run.ts';
import { readOutputSchema } from '../../domain/schema/output-schema.ts';
import { continueByOf } from '../../domain/sessions/continued/continue-by.ts';
import type { Operations } from '../../operations/operations.ts';
import type { LookedAt } from '../../operations/turns/tasks.ts';
import type { Conversation } from '../../operations/turns/turn.ts';
import { MB } from '../../domain/byte-units.ts';
import type { answerInput, lookInput, stopInput, taskInput } from '../../wire/mcp/task.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import { NO_SPOOLED_STRINGS } from '../body/spooled-strings.ts';
import { readConversation } from '../conversations/reading/conversation-so-far.ts';
import type { ToolCall, ToolResult } from './call.ts';
import { renderTask } from './task-wire.ts';
import type { makeWaitForTask } from './wait-for-task.ts';

export interface TaskToolParts {
  readonly operations: Operations;
  readonly settings: () => Settings;
  readonly waitForTask: ReturnType<typeof makeWaitForTask>;
  /** What is kept of the header of a trace that a request belongs to; null for nothing. */
  readonly traceParentOf: (header: string | undefined) => string | null;
}

/** The tools, by their names. */
export function makeTaskTools({ operations, settings, waitForTask, traceParentOf }: TaskToolParts) {
  /** The task as it is now, with its question if it waits for the answer. */
  async function show({ caller }: ToolCall, id: string): Promise<ToolResult> {
    const run = await operations.getRun(caller, id);
    if (run.status !== 'waiting') return renderTask(run, null);
    const page = { sessionId: run.sessionId, status: 'pending', limit: 1, offset: 0 } as const;
    const { items } = await operations.listUserInputs(caller, page);
    return renderTask(run, items.find(({ runId }) => runId === run.id) ?? null);
  }

  /** Whoever cancels waiting for a task that was handed over to be waited for stops it. */
  async function wait(call: ToolCall, looked: LookedAt, seconds: number): Promise<ToolResult> {
    const { run } = looked;
    const longest = Math.min(seconds, settings().waitTimeoutSeconds);
    if (longest > 0 && !isTerminal(run.status) && run.status !== 'waiting')
      await waitForTask(call, looked, longest * 1_000);
    if (call.isCancelled() && run.scheduleMode !== 'background') await operations.stopRun(call.caller, run.id);
    return show(call, run.id);
  }

  return {
    run_task: async (call: ToolCall, input: Static<typeof taskInput>): Promise<ToolResult> => {
      const { caller, exchange, left } = call;
      const { task, sessionId, waitSeconds, outputSchema } = input;
      const schema = outputSchema === null ? null : readOutputSchema(outputSchema, SCHEMA_FIELD);
      const turn = {
        ...PLAIN_TURN,
        content: [{ type: 'text', text: task }],
        sessionId,
        conversation: await conversationOf(call, task),
        background: waitSeconds === 0 ? { payload: null } : null,
        outputSchema: schema,
        schemaField: schema && SCHEMA_FIELD,
      } as const;
      const traceParent = traceParentOf(exchange.req.headers['traceparent'] as string | undefined);
      const { run } = await operations.acceptTurn(caller, turn, { left, takeRoom: exchange.takeRoom, traceParent });
      await exchange.letGoOfBody();
      return wait(call, { run, newestId: 0 }, waitSeconds);
    },

    get_result: async (call: ToolCall, { runId, waitSeconds }: Static<typeof lookInput>): Promise<ToolResult> =>
      wait(call, await operations.pollTask(call.caller, runId), waitSeconds),

    answer_question: async (call: ToolCall, input: Static<typeof answerInput>): Promise<ToolResult> => {
      const { questionId, answer, waitSeconds } = input;
      const answers = typeof answer === 'string' ? answer : [...answer];
      const { runId } = await operations.answerUserInput(call.caller, questionId, { answers });
      // Not a poll: a refusal would say that the answer was not taken.
      return wait(call, await operations.lookAtTask(call.caller, runId), waitSeconds);
    },

    stop_task: async (call: ToolCall, { runId }: Static<typeof stopInput>): Promise<ToolResult> => {
      await operations.stopRun(call.caller, runId);
      return show(call, runId);
    },
  };

  /** Null where the key's sessions are continued by their ids alone. */
  async function conversationOf({ caller, exchange }: ToolCall, task: string): Promise<Conversation | null> {
    const by = caller.key.continueBy === null ? undefined : continueByOf(caller.key.continueBy);
    if (by === undefined) return null;
    const said = { messages: [{ role: 'user', content: task }], metadata: {}, headers: exchange.req.headers };
    return readConversation(by, said, { spooled: NO_SPOOLED_STRINGS, maxCharacters: settings().limits.maxTextMb * MB });
  }
}

const SCHEMA_FIELD = 'output_schema';

/** Such a run is one of the Messages protocol, which earlier nodes know. */
const PLAIN_TURN = {
  protocol: 'messages',
  model: 'errand',
  offeredSession: null,
  idempotencyKey: null,
  includeUsage: false,
  response: null,
  resultInContent: false,
  resultTool: null,
} as const;
