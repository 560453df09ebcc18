// Where several processes write to one database: events of all of them are published, and others told of those of this one.
import type { Clock } from '../../../../domain/clock.ts';
import type { JournalEvent } from '../../../../domain/sessions/journal-event.ts';
import type { Connection } from '../connections/connection.ts';
import { makeChannel } from './channel.ts';
import { makeExclusion } from './exclusion.ts';
import { makeMerge } from './merge.ts';

export interface Listening {
  /** Everything behind this id is to be published. */
  begin(afterId: number): void;
  /** This process has committed events. */
  committed(events: readonly JournalEvent[]): void;
  /** Tells the other processes something. */
  say(words: string): void;
  /** See `Peers`. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Resolves when all of them are published. */
  close(): Promise<void>;
}

interface Parts {
  open(lost: () => void): Promise<Connection>;
  readonly clock: Clock;
  /** A page of events behind an id. */
  read(afterId: number): Promise<readonly JournalEvent[]>;
  publish(events: readonly JournalEvent[]): void;
  /** Another process has said something; null: something may have been missed. */
  told(words: string | null): void;
}

export function makeListening({ open, clock, read, publish, told }: Parts): Listening {
  const merge = makeMerge({ read, publish });
  const channel = makeChannel({ open, clock, heard: merge.look, told });
  return {
    begin: (afterId) => {
      merge.begin(afterId);
      channel.start();
    },
    committed: (events) => {
      channel.tell(events.at(-1)!.id);
      merge.own(events);
    },
    say: channel.say,
    exclusively: makeExclusion({ connected: channel.connected, clock }),
    close: async () => {
      await channel.close();
      await merge.close();
    },
  };
}
