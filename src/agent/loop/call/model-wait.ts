// Reports that a call waits for a server that is down, and how that ends, for those who watch the run.
import type { EventPayloads } from '../../../domain/sessions/journal-event.ts';
import type { Channel } from '../../port/signals.ts';
import { type ModelCall, TOKENS } from './model-call.ts';

export interface ModelWait {
  /** The same call, whose first token ends the wait. */
  watch(call: ModelCall): ModelCall;
  isOver(): boolean;
  /** Ends the wait, unless it is over. */
  end(answered: boolean): void;
}

/** Begins with the first failure. `message`: what it was, for the run's caller. */
export function beginModelWait(channel: Pick<Channel, 'send'>, begun: EventPayloads['model_wait.started']): ModelWait {
  const { model, agent } = begun;
  const since = performance.now();
  let isOver = false;
  const end = (answered: boolean) => {
    if (isOver) return;
    isOver = true;
    const waitedMs = Math.round(performance.now() - since);
    channel.send({ t: 'model-wait-over', model, agent, answered, waitedMs });
  };
  channel.send({ t: 'model-wait', ...begun });
  return {
    watch: (call) => {
      const ask: ModelCall['model']['ask'] = (prompt, exchange) => {
        const take: typeof exchange.take = (event) => {
          if (TOKENS.has(event.type)) end(true);
          exchange.take(event);
        };
        return call.model.ask(prompt, { ...exchange, take });
      };
      return { ...call, model: { ask } };
    },
    isOver: () => isOver,
    end,
  };
}
