// The budgets of a run's model calls: before each call the main thread holds back what it may use at most.
import type { RunError } from '../../domain/sessions/run.ts';
import type { Channel } from '../port/signals.ts';
import { type Prompt, promptTokensOf } from './call/call-usage.ts';

/**
 * Waits until the budgets of the run have room for the call. Returns why there will be none; null when the call may begin.
 * Without any budget it asks nobody. Rejects only when the run is stopped.
 */
export async function holdBudget(prompt: Prompt, channel: Channel): Promise<RunError | null> {
  if (!channel.hasBudgets()) return null;
  const { name: model, maxOutputTokens: outputTokens } = prompt.brief.model;
  const inputTokens = promptTokensOf(prompt);
  try {
    return (await channel.request('hold_budget', { model, inputTokens, outputTokens })).refusal;
  } catch (error) {
    if (channel.stopped() !== null) throw error;
    return { type: 'api_error', message: 'The budgets of the run could not be read.', retryable: true };
  }
}
