// Permits: how many model calls may be under way at one endpoint, counted across all runs (`max_in_flight`).

export interface Permit {
  /** Gives the permit back, or leaves the line. A second call does nothing. */
  release(): void;
}

export interface Permits {
  /** Calls `granted` when a permit is free, first come first served. */
  acquire(endpoint: string, limit: number, granted: () => void): Permit;
}

interface Gate {
  held: number;
  limit: number;
  readonly line: Waiter[];
}

interface Waiter {
  state: 'waiting' | 'held' | 'released';
  readonly granted: () => void;
}

export function makePermits(): Permits {
  const gates = new Map<string, Gate>();

  function admit(gate: Gate): void {
    while (gate.held < gate.limit) {
      const next = gate.line.shift();
      if (next === undefined) return;
      next.state = 'held';
      gate.held += 1;
      next.granted();
    }
  }

  return {
    acquire: (endpoint, limit, granted) => {
      const gate = gates.get(endpoint) ?? { held: 0, limit, line: [] };
      gates.set(endpoint, gate);
      // The catalog may have been reloaded with another limit: the newest one counts.
      gate.limit = limit;
      const waiter: Waiter = { state: 'waiting', granted };
      gate.line.push(waiter);
      admit(gate);
      return {
        release: () => {
          const before = waiter.state;
          waiter.state = 'released';
          if (before === 'held') gate.held -= 1;
          else if (before === 'waiting') gate.line.splice(gate.line.indexOf(waiter), 1);
          admit(gate);
        },
      };
    },
  };
}
