// Permits: limits what is in progress behind one gate. A model call at an endpoint (`max_in_flight`) weighs one, a run weighs
// what it holds.

export interface Permit {
  /** Returns the permit, or leaves the queue. A second call does nothing. */
  release(): void;
}

export interface Permits {
  /**
   * Calls `granted` when there is room, first come, first served: nobody overtakes one that is still too heavy. A permit that
   * outweighs the limit is granted when nothing else is held.
   */
  acquire(gate: string, load: number | Load, granted: () => void): Permit;
}

/** What a permit takes of its gate's limit; a number alone is the limit for permits that weigh one. */
export interface Load {
  readonly limit: number;
  readonly weight: number;
}

interface Gate {
  held: number;
  limit: number;
  readonly line: Waiter[];
}

interface Waiter {
  state: 'waiting' | 'held' | 'released';
  readonly weight: number;
  readonly granted: () => void;
}

export function makePermits(): Permits {
  const gates = new Map<string, Gate>();

  function admit(gate: Gate): void {
    for (;;) {
      const next = gate.line[0];
      if (next === undefined || (gate.held > 0 && gate.held + next.weight > gate.limit)) return;
      gate.line.shift();
      next.state = 'held';
      gate.held += next.weight;
      next.granted();
    }
  }

  return {
    acquire: (name, load, granted) => {
      const { limit, weight } = typeof load === 'number' ? { limit: load, weight: 1 } : load;
      const gate = gates.get(name) ?? { held: 0, limit, line: [] };
      gates.set(name, gate);
      // The catalog may have been reloaded with another limit: the newest one counts.
      gate.limit = limit;
      const waiter: Waiter = { state: 'waiting', weight, granted };
      gate.line.push(waiter);
      admit(gate);
      return {
        release: () => {
          const before = waiter.state;
          waiter.state = 'released';
          if (before === 'held') gate.held -= weight;
          else if (before === 'waiting') gate.line.splice(gate.line.indexOf(waiter), 1);
          admit(gate);
        },
      };
    },
  };
}
