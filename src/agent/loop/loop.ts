// The agent's loop: ask the model, record its reply, execute its tool calls one after another, ask again.
import type { RunError, StopReason } from '../../domain/sessions/run.ts';
import type { Asking } from './ask-model.ts';
import { makeAskStep } from './ask-step.ts';
import { askWithin } from './ask-within.ts';
import { makeCompactor } from './compaction.ts';
import { makeContextParts } from './context-parts.ts';
import { makeCurrentModel } from './call/current-model.ts';
import type { Conversation } from '../conversation/conversation.ts';
import {
  type AnsweredCall,
  INTERRUPTED,
  messagesOfStep,
  notesAfter,
  openConversation,
} from '../conversation/history.ts';
import type { ModelCall } from './call/model-call.ts';
import { seconds } from './call/model-failure.ts';
import { openModel } from '../models/open-model.ts';
import { type Asked, findTool, performCall, refusalOf } from './perform-call.ts';
import { instructionsOf } from './prompt.ts';
import type { Channel } from '../port/signals.ts';
import type { Brief, Outcome, RecordedCall, RecordedStep, StepReply, ToolCall, ToolResult } from '../port/protocol.ts';
import { readRecorded } from '../conversation/recorded-message.ts';
import { type ResultSearch, searchResult } from './result-search.ts';
import { NOT_RUN } from '../result/structured-result.ts';
import { recordSetups } from './record-setup.ts';
import { openTools, type Run } from './run.ts';
import { makeTextBlocks } from './call/text-blocks.ts';
import { offeredOf } from '../tools/offered.ts';
import { nothingToClose, type OpenedTools, type Tool } from '../port/tool.ts';

/**
 * Runs one turn to its end. Failures of the model or a tool are part of the outcome; only a bug rejects. Write-ahead (D7): a
 * reply with calls is committed before its calls run, a result before the next call.
 */
export async function runLoop(run: Run): Promise<Outcome> {
  const { brief, channel } = run;
  const endsAt = performance.now() + brief.limits.runTimeoutMs;
  const timer = setTimeout(() => channel.stop({ kind: 'run-timeout' }), brief.limits.runTimeoutMs);
  let opened: OpenedTools | undefined;
  try {
    opened = await openTools(run);
    return await takeTurn(run, opened, endsAt);
  } catch (error) {
    const stopped = channel.stopped();
    if (stopped === null) throw error;
    return stopped.kind === 'canceled' ? { status: 'canceled' } : failed(runTimeout(brief));
  } finally {
    clearTimeout(timer);
    if (opened !== undefined && opened.close !== nothingToClose) await opened.close();
  }
}

/** A turn in progress: the conversation so far, and the state of the result that it has to submit. */
interface CurrentTurn {
  readonly run: Run;
  readonly tools: readonly Tool[];
  readonly conversation: Conversation;
  /** Null when the answer is text. */
  readonly search: ResultSearch | null;
  readonly journal: Journal;
}

/** Commits of the run, and how long they were waited for since that was last asked. */
interface Journal {
  readonly commit: Channel['commit'];
  takeWaitMs(): number;
}

function openJournal(channel: Channel): Journal {
  let waitMs = 0;
  return {
    commit: async (signal) => {
      const startedAt = performance.now();
      await channel.commit(signal);
      waitMs += performance.now() - startedAt;
    },
    takeWaitMs: () => {
      const taken = Math.round(waitMs);
      waitMs = 0;
      return taken;
    },
  };
}

async function takeTurn(run: Run, opened: OpenedTools, endsAt: number): Promise<Outcome> {
  const { brief, channel } = run;
  const recorded = brief.turn.steps;
  const search = brief.outputSchema === null ? null : searchResult(brief.outputSchema);
  const tools = [...opened.tools, ...(search === null ? [] : [search.tool])];
  const journal = openJournal(channel);
  const turn: CurrentTurn = { run, tools, conversation: await openConversation(brief), search, journal };
  for (const step of recorded) {
    const outcome = await finishStep(turn, step);
    if (outcome !== null) return outcome;
  }
  const call: ModelCall = {
    brief,
    model: openModel(brief.model, brief.limits.connectTimeoutMs),
    instructions: instructionsOf(brief, opened, Date.now()),
    messages: [],
    tools: offeredOf(tools),
    // The text of a sub-agent is a result for the agent above.
    blocks: brief.depth === 0 ? makeTextBlocks(channel, brief.nextBlockIndex) : null,
    usedIds: new Set(recorded.flatMap(({ calls }) => calls.map(({ id }) => id))),
    halt: channel.halt,
    waits: channel.waits,
  };
  const current = makeCurrentModel(brief, channel);
  const asking: Asking = { call, purpose: 'reply', channel, policy: run.retryPolicy, current, endsAt };
  const compactor = makeCompactor(asking);
  const contextParts = makeContextParts(call);
  const askStep = makeAskStep(asking, brief.outputSchema, search);
  const setupFor = recordSetups(call.instructions, call.tools);
  for (let number = recorded.length + 1; number <= brief.limits.maxSteps; number += 1) {
    const { asked, differs, messages } = await askWithin(turn.conversation, compactor, askStep);
    const timing = { ...asked.timing, commitWaitMs: journal.takeWaitMs() };
    if (!asked.ok) return { ...failed(asked.error), call: timing };
    if (differs === null) compactor.learn(turn.conversation, asked.reply);
    const { message, text, calls, usage, estimated } = asked.reply;
    const context = contextParts(messages, estimated ? 0 : usage.inputTokens);
    const reply: StepReply = {
      step: number,
      kind: current.kind(),
      message,
      text,
      calls,
      usage,
      estimated,
      context,
      timing,
      setup: setupFor(differs),
    };
    const committed = journal.commit({ t: 'step', reply });
    // After a text, `done` may follow at once: the main thread records both together, and if it can't, it stops the whole run.
    // Calls wait for the commit.
    if (calls.length > 0) await committed;
    else committed.catch(() => undefined);
    const waiting = calls.map((one): RecordedCall => ({ ...one, state: { kind: 'waiting' } }));
    const outcome = await finishStep(turn, { ...reply, calls: waiting });
    if (outcome !== null) return outcome;
    await committed;
  }
  return failed(tooManySteps(brief));
}

/** Completes a recorded reply and adds it to the conversation. Returns the outcome when the turn ends with it. */
async function finishStep(turn: CurrentTurn, step: RecordedStep): Promise<Outcome | null> {
  const { run, tools, conversation, search, journal } = turn;
  const read = readRecorded(step, run.brief.model);
  const { faults, ending } = read;
  if (step.calls.length === 0 && search === null) return completed(step.text, ending);
  const answered: AnsweredCall[] = [];
  let shownBefore = 0;
  const answer = (call: ToolCall, result: ToolResult) => {
    answered.push({ call, result });
    shownBefore += result.output.length;
  };
  for (const { state, ...call } of step.calls) {
    if (state.kind === 'ended') {
      if (findTool({ tools, call })?.kind === 'settles') search?.recall(call, state.result);
      answer(call, state.result);
      continue;
    }
    // The model chooses ids: one may equal the name of an inherited property.
    const fault = Object.hasOwn(faults, call.id) ? faults[call.id] : undefined;
    const startedAt = performance.now();
    const result = await resultOf(turn, { tools, call, fault, shownBefore }, state.kind);
    if (result === 'waits') return { status: 'waiting', question: call };
    const durationMs = Math.round(performance.now() - startedAt);
    await journal.commit({ t: 'tool-result', step: step.step, call, result, durationMs });
    answer(call, result);
  }
  const notes = notesAfter(run.brief.turn, step.step);
  const messages = messagesOfStep(read, answered, { place: `own/${step.step}`, notes });
  const outcome = search === null ? null : search.afterStep(step, messages);
  // Earlier steps are covered by a summary.
  if (step.step > (run.brief.compaction?.step ?? 0)) conversation.steps.push({ step: step.step, messages });
  return outcome;
}

/** The result of a call, by the kind of its tool; `waits` when the user has to answer it. */
async function resultOf(
  { run, search }: CurrentTurn,
  asked: Asked,
  state: 'waiting' | 'unknown',
): Promise<ToolResult | 'waits'> {
  const { call, fault } = asked;
  const kind = findTool(asked)?.kind;
  if (search?.isOver() === true) return NOT_RUN;
  // A resumed run asks again: one call is one question (I2).
  if (kind === 'waits' && refusalOf(run, asked) === undefined) return answerTo(call, run.brief);
  if (kind === 'settles' && search !== null) return search.check(call, fault);
  return state === 'unknown' ? INTERRUPTED : performCall(run, asked);
}

function answerTo({ id }: ToolCall, { answers }: Brief): ToolResult | 'waits' {
  return (Object.hasOwn(answers, id) ? answers[id] : undefined) ?? 'waits';
}

function completed(text: string, ending: string): Outcome {
  const stopReason: StopReason = ending === 'length' ? 'max_tokens' : 'end_turn';
  return { status: 'completed', text, stopReason };
}

const failed = (error: RunError) => ({ status: 'failed', error }) as const;

function tooManySteps({ limits }: Brief): RunError {
  const message = `The agent did not finish within ${limits.maxSteps} steps, the limit of a run.`;
  return { type: 'api_error', message, retryable: false };
}

function runTimeout({ limits }: Brief): RunError {
  const message = `The run did not finish within its time limit (${seconds(limits.runTimeoutMs)} seconds were left).`;
  return { type: 'timeout_error', message, retryable: true };
}
