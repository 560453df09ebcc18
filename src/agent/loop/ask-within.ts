// Asks for a step within the model's window: what its server refuses as too long is shortened, and asked again.
import type { AskedStep } from './ask-step.ts';
import type { Compactor } from './compaction.ts';
import { charactersOf, type Conversation, messagesOf } from '../conversation/conversation.ts';
import type { ModelMessage } from '../models/message.ts';

/** How often a step's conversation is shortened after a refusal. */
const MAX_REFUSALS = 3;

/** The step, and the messages that it was asked with. */
export interface StepWithin extends AskedStep {
  readonly messages: readonly ModelMessage[];
}

/**
 * Asks for a step. The first call of a run estimates its tokens from characters: for digits or Chinese that is too few, and the
 * session would fail with each turn. The refusal is returned when nothing of the conversation can be left out any more.
 */
export async function askWithin(
  conversation: Conversation,
  compactor: Compactor,
  askStep: (messages: readonly ModelMessage[]) => Promise<AskedStep>,
): Promise<StepWithin> {
  let refused: StepWithin | null = null;
  for (let refusals = 0; ; refusals += 1) {
    await compactor.makeRoom(conversation);
    const messages = messagesOf(conversation);
    if (refused !== null && charactersOf(messages) >= charactersOf(refused.messages)) return refused;
    const step: StepWithin = { ...(await askStep(messages)), messages };
    if (step.asked.ok || !step.asked.isTooLong || refusals === MAX_REFUSALS) return step;
    refused = step;
    compactor.learnRefusal(conversation);
  }
}
