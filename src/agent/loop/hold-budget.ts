// The budgets of a run's model calls: before each call the main thread holds back what it may use at most.
import type { RunError } from '../../domain/sessions/run.ts';
import { CHARACTERS_PER_TOKEN } from '../../domain/sessions/usage.ts';
import { charactersOf } from '../conversation/conversation.ts';
import type { Channel } from '../port/signals.ts';
import type { ModelCall } from './model-call.ts';

/**
 * Waits until the budgets of the run have room for the call. Returns why there will be none; null when the call may begin.
 * Without any budget it asks nobody. Rejects only when the run is stopped.
 */
export async function holdBudget({ brief, ...call }: ModelCall, channel: Channel): Promise<RunError | null> {
  if (!channel.hasBudgets()) return null;
  const { name, contextWindow, maxOutputTokens } = brief.model;
  const characters = call.instructions.length + JSON.stringify(call.tools).length + charactersOf(call.messages);
  const inputTokens = Math.min(contextWindow, Math.ceil(characters / CHARACTERS_PER_TOKEN));
  try {
    return (await channel.request('hold_budget', { model: name, inputTokens, outputTokens: maxOutputTokens })).refusal;
  } catch (error) {
    if (channel.stopped() !== null) throw error;
    return { type: 'api_error', message: 'The budgets of the run could not be read.', retryable: true };
  }
}
