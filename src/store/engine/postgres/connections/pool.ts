// A few connections that are shared: each is taken, used and given back.
import type { PoolFigures } from '../../database.ts';
import type { Connection } from './connection.ts';

export interface Pool {
  /** Uses a connection, alone; waits for one while all are taken. Rejects when none can be opened. */
  use<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  figures(): PoolFigures;
  /** Ends those that nobody uses, and each other one when it is given back. */
  close(): Promise<void>;
}

/** `most`: how many there are at most; each is opened when it is needed first. */
export function makePool(most: number, open: () => Promise<Connection>): Pool {
  let idle: Connection[] = [];
  const waiting: (() => void)[] = [];
  let [count, isClosed] = [0, false];

  async function take(): Promise<Connection> {
    for (let isRefused = false; ; ) {
      count -= idle.filter((connection) => connection.isLost()).length;
      idle = idle.filter((connection) => !connection.isLost());
      const found = idle.pop();
      if (found !== undefined) return found;
      if (count < most && !isRefused) {
        count += 1;
        try {
          return await open();
        } catch (error) {
          count -= 1;
          // The server may have no connection left for others; those that are there are given back.
          if (count === 0) {
            waiting.shift()?.();
            throw error;
          }
          isRefused = true;
          continue;
        }
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
      isRefused = false;
    }
  }

  function give(connection: Connection): void {
    if (connection.isLost()) count -= 1;
    else if (isClosed) void connection.close().catch(() => undefined);
    else idle.push(connection);
    waiting.shift()?.();
  }

  return {
    use: async (work) => {
      const connection = await take();
      try {
        return await work(connection);
      } finally {
        give(connection);
      }
    },
    figures: () => ({ most, open: count, busy: count - idle.length, waiting: waiting.length }),
    close: async () => {
      isClosed = true;
      await Promise.all(idle.map((connection) => connection.close().catch(() => undefined)));
    },
  };
}
