// A sub-agent's line to the main thread: through that of the agent above it, and without a journal of its own.
import type { Channel } from './signals.ts';

/** The sub-agent that a line is for. */
interface Subordinate {
  readonly name: string;
  /** The catalog's name of its model. */
  readonly model: string;
}

/**
 * What a sub-agent uses is counted in the run; what it says is heard only by the agent above, as the result of a call.
 * Its steps are not kept: a crash leaves that call with an unknown outcome (D7), so nothing of it is ever replayed.
 */
export function openSubChannel(above: Channel, { name, model }: Subordinate): Channel {
  return {
    signal: above.signal,
    stopped: above.stopped,
    // Its time is the run's time: when that is over, it is over for the run.
    stop: above.stop,
    send: (signal) => {
      if (signal.t === 'log')
        above.send({ ...signal, facts: { ...signal.facts, agent: signal.facts['agent'] ?? name } });
      if (signal.t === 'spent') above.send(signal);
    },
    commit: async (signal) => {
      above.signal.throwIfAborted();
      if (signal.t === 'step') above.send({ t: 'spent', model, usage: signal.reply.usage });
    },
    takePermit: above.takePermit,
    returnPermit: above.returnPermit,
    waits: above.waits,
    request: above.request,
    finish: () => undefined,
  };
}
