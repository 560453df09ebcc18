// A sub-agent's channel to the main thread: goes through that of the agent above it, and has no journal of its own.
import { HALTED } from '../../domain/halt.ts';
import type { Channel } from './signals.ts';

/** The sub-agent of a channel. */
interface Subordinate {
  readonly name: string;
  /** The catalog's name of its model. */
  readonly model: string;
}

/**
 * What a sub-agent uses is counted in the run; its output goes only to the agent above, as the result of a call. Its steps are
 * not recorded: a crash leaves that call with an unknown outcome (D7), so nothing is ever replayed.
 */
export function openSubChannel(above: Channel, { name, model }: Subordinate): Channel {
  return {
    halt: above.halt,
    stopped: above.stopped,
    // It shares the run's time limit.
    stop: above.stop,
    send: (signal) => {
      if (signal.t === 'log')
        above.send({ ...signal, facts: { ...signal.facts, agent: signal.facts['agent'] ?? name } });
      if (signal.t === 'tools-listed') above.send(signal);
      if (signal.t === 'answered') above.send(signal);
      if (signal.t === 'spent') above.send({ ...signal, agent: signal.agent ?? name });
      if (signal.t === 'model-wait' || signal.t === 'model-wait-over')
        above.send({ ...signal, agent: signal.agent ?? name });
      if (signal.t === 'call-failed') {
        const purpose = signal.purpose === 'reply' ? 'agent' : signal.purpose;
        above.send({ ...signal, purpose, agent: signal.agent ?? name });
      }
    },
    commit: async (signal) => {
      if (above.halt.isHalted) throw HALTED;
      if (signal.t !== 'step') return;
      const { usage, estimated, timing } = signal.reply;
      above.send({ t: 'spent', model, usage, estimated, purpose: 'agent', agent: name, timing });
    },
    takePermit: above.takePermit,
    returnPermit: above.returnPermit,
    hasBudgets: above.hasBudgets,
    waits: above.waits,
    request: above.request,
    finish: () => undefined,
  };
}
