// Keeps a conversation within its model's window: prunes it when it fills up, then has its older part summarised once.
import type { Asking } from './ask-model.ts';
import { charactersOfTools } from './call/call-usage.ts';
import {
  charactersOf,
  type Conversation,
  makeTokenEstimate,
  messagesOf,
  prefaceOf,
  type StepMessages,
} from '../conversation/conversation.ts';
import { LEFT_OUT } from '../conversation/history.ts';
import { withLessQuoted } from '../conversation/quote-part.ts';
import { cutStep, prune } from './prune.ts';
import { summarise } from './summary.ts';
import type { CallUsage } from '../../domain/sessions/usage.ts';

/** Shares of the room for input. A conversation is shortened when it is full, and then far enough to last for a while. */
const FULL = 0.75;
const ENOUGH = 0.6;
/** Share of the newest messages that stays unchanged. */
const NEWEST = 0.25;
/** A smaller part is not worth a model call for its summary. */
const WORTH_IT = 0.1;
/** Share of a call that the material of a summary may take. */
const MATERIAL = 0.9;
/** A call that was refused as too long is assumed to be that much longer than the window, or than it was estimated. */
const BEYOND = 1.25;

export interface Compactor {
  /**
   * Shortens a conversation that fills the window; otherwise leaves it unchanged, so that servers can reuse their cache. A
   * summary is committed before it replaces anything (D7). Rejects only when the run is stopped.
   */
  makeRoom(conversation: Conversation): Promise<void>;
  /** Learns the server's count for the newest call; an estimate teaches nothing. */
  learn(conversation: Conversation, used: CallUsage): void;
  /** Learns that the server refused the newest call because it was too long. */
  learnRefusal(conversation: Conversation): void;
}

/** `asking` is how the run's model is asked; its messages are ignored. */
export function makeCompactor(asking: Asking): Compactor {
  const { brief, instructions, tools } = asking.call;
  const { contextWindow, maxOutputTokens } = brief.model;
  const room = Math.max(1, contextWindow - maxOutputTokens);
  const estimate = makeTokenEstimate(instructions.length + charactersOfTools(tools));
  const fill = (conversation: Conversation) => estimate.tokens(messagesOf(conversation)) / room;
  const newest = () => estimate.charactersIn(room * NEWEST);
  let covered = brief.compaction?.step ?? 0;
  let refused = false;
  let wasTooLong = false;

  async function replaceOlder(conversation: Conversation): Promise<void> {
    const { preface, earlier, request, steps } = conversation;
    const kept = firstKept(steps, newest());
    const replaced = steps.slice(0, kept);
    const own = replaced.length === 0 ? [] : [request, ...replaced.flatMap(({ messages }) => messages)];
    const characters = charactersOf([...earlier, ...own]);
    if (characters < estimate.charactersIn(room * WORTH_IT)) return;
    const end = await summarise({ preface, earlier, own }, asking, {
      window: contextWindow,
      characters: Math.floor(estimate.charactersIn(room) * MATERIAL),
    });
    if (!end.ok) {
      refused = true;
      const message = 'The older part of the conversation could not be summarised; the oldest turns are left out.';
      asking.channel.send({ t: 'log', level: 'warn', message, facts: { why: end.why } });
      return;
    }
    const compaction = { summary: end.summary, step: replaced.at(-1)?.step ?? covered };
    await asking.channel.commit({ t: 'compaction', compaction, characters });
    covered = compaction.step;
    conversation.preface = prefaceOf(compaction);
    conversation.earlier = [];
    conversation.steps.splice(0, kept);
  }

  return {
    makeRoom: async (conversation) => {
      if (fill(conversation) <= FULL) return;
      const pruned = prune(conversation, newest());
      // What was said elsewhere is older than all else.
      cutQuoted(conversation, () => fill({ ...conversation, ...pruned }) <= ENOUGH);
      if (!refused && fill({ ...conversation, ...pruned }) > ENOUGH) await replaceOlder(conversation);
      // When there is no summary, or the rest is still too long.
      if (fill(conversation) > FULL) assign(conversation, prune(conversation, newest()));
      if (refused) dropOldest(conversation, () => fill(conversation) <= FULL);
      // Nothing else is left. An estimate alone is no reason: it may be wrong.
      if (wasTooLong) cutLast(conversation, () => fill(conversation) <= 1);
    },
    learn: (conversation, { usage, estimated }) => {
      if (!estimated) estimate.learn(messagesOf(conversation), usage.inputTokens);
    },
    learnRefusal: (conversation) => {
      wasTooLong = true;
      const messages = messagesOf(conversation);
      estimate.learn(messages, BEYOND * Math.max(contextWindow, estimate.tokens(messages)));
    },
  };
}

/** Index of the first step that a summary leaves unchanged: the newest that fit into `keep` characters, and always the last. */
function firstKept(steps: readonly StepMessages[], keep: number): number {
  let left = keep;
  let at = steps.length;
  while (at > 0) {
    left -= charactersOf(steps[at - 1]!.messages);
    if (left < 0 && at < steps.length) break;
    at -= 1;
  }
  return at;
}

/** Removes whole turns, the oldest first, until it fits. */
function dropOldest(conversation: Conversation, fits: () => boolean): void {
  const { preface } = conversation;
  while (conversation.earlier.length > 0 && !fits()) {
    const next = conversation.earlier.findIndex(({ role }, index) => index > 0 && role === 'user');
    conversation.earlier = next === -1 ? [] : conversation.earlier.slice(next);
    conversation.preface =
      preface?.includes(LEFT_OUT) === true ? preface : [preface ?? [], LEFT_OUT].flat().join('\n\n');
  }
}

/** Halves what is quoted in the request until it fits. */
function cutQuoted(conversation: Conversation, fits: () => boolean): void {
  while (!fits()) {
    const cut = withLessQuoted(conversation.request);
    if (cut === undefined) return;
    conversation.request = cut;
  }
}

/** Halves the long results of the last step until it fits. */
function cutLast({ steps }: Conversation, fits: () => boolean): void {
  while (!fits()) {
    const last = steps.at(-1);
    const cut = last && cutStep(last);
    if (cut === undefined) return;
    steps.splice(-1, 1, cut);
  }
}

function assign(conversation: Conversation, { earlier, steps }: Pick<Conversation, 'earlier' | 'steps'>): void {
  conversation.earlier = earlier;
  conversation.steps.splice(0, Infinity, ...steps);
}
