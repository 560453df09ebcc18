// Reports that a call waits for a server that is down, and how that ends, for those who watch the run.
import type { Channel } from '../port/signals.ts';
import { type ModelCall, TOKENS } from './call/model-call.ts';

export interface ModelWait {
  /** The same call, whose first token ends the wait. */
  readonly call: ModelCall;
  isOver(): boolean;
  /** Ends the wait, unless it is over. */
  end(answered: boolean): void;
}

/** Begins with the first failure. `message`: what it was, for the run's caller. */
export function beginModelWait(call: ModelCall, channel: Pick<Channel, 'send'>, message: string): ModelWait {
  const { model, limits } = call.brief;
  const of = { model: model.name, agent: null };
  const since = performance.now();
  let isOver = false;
  const end = (answered: boolean) => {
    if (isOver) return;
    isOver = true;
    const waitedMs = Math.round(performance.now() - since);
    channel.send({ t: 'model-wait-over', ...of, answered, waitedMs });
  };
  const ask: ModelCall['model']['ask'] = (prompt, exchange) => {
    const take: typeof exchange.take = (event) => {
      if (TOKENS.has(event.type)) end(true);
      exchange.take(event);
    };
    return call.model.ask(prompt, { ...exchange, take });
  };
  channel.send({ t: 'model-wait', ...of, message, patienceMs: limits.patienceMs });
  return { call: { ...call, model: { ask } }, isOver: () => isOver, end };
}
