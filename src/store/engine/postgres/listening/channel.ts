// Tells other processes of commits, and hears of theirs: notifications on a connection of its own, and a look each second for lost ones.
import { type Clock, pause, type Timer } from '../../../../domain/clock.ts';
import type { Connection } from '../connections/connection.ts';

export interface Channel {
  /** Begins. */
  start(): void;
  /** Tells others of events up to this id: soon, and of several commits once. */
  tell(id: number): void;
  /** Tells others something else, after the events that they are told of before. */
  say(words: string): void;
  /** The connection, while there is one. */
  connected(): Connection | undefined;
  close(): Promise<void>;
}

interface Parts {
  open(lost: () => void): Promise<Connection>;
  readonly clock: Clock;
  /** There may be events of others. */
  heard(): void;
  /** Another process has said something; null: something may have been missed. */
  told(words: string | null): void;
}

const LISTEN = 'LISTEN errand_events; LISTEN errand_words';
/** With an id and nothing else: whoever hears it reads what is behind its own cursor. */
const NOTIFY = { name: 'notify', text: "SELECT pg_notify('errand_events', $1)" };
const SAY = { name: 'say', text: "SELECT pg_notify('errand_words', $1)" };
/** Nobody waits for words: of more than these, those who hear are told that something was missed. */
const MOST_WORDS = 1_000;
/** Stands for words that were left out. */
const MISSED = '';
/** A notification that is lost is made up for so soon. */
const LOOK_MS = 1_000;
/** The first pause before a lost connection is opened again, which doubles, and the longest. */
const [RETRY_MS, MAX_RETRY_MS] = [100, 10_000];

export function makeChannel({ open, clock, heard, told }: Parts): Channel {
  const closing = new AbortController();
  let connection: Connection | undefined;
  let looking: Timer | undefined;
  let running: Promise<void> | undefined;
  const teller = makeTeller(() => connection);

  async function stayOpen(): Promise<void> {
    for (let retryMs = RETRY_MS; !closing.signal.aborted; retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)) {
      const lost = Promise.withResolvers<void>();
      try {
        connection = await open(lost.resolve);
        connection.onNotification((channel, words) =>
          channel === 'errand_words' ? told(words === MISSED ? null : words) : heard(),
        );
        await connection.say(LISTEN);
        retryMs = RETRY_MS;
        // What was committed while nobody listened.
        heard();
        told(null);
        closing.signal.addEventListener('abort', () => lost.resolve(), { once: true });
        // It may have come while this was opened.
        if (!closing.signal.aborted) await lost.promise;
      } catch {
        // The looks go on meanwhile.
      }
      await connection?.close().catch(() => undefined);
      connection = undefined;
      await pause(clock, retryMs, closing.signal);
    }
  }

  function look(): void {
    heard();
    looking = clock.after(LOOK_MS, look);
  }

  return {
    start: () => {
      if (closing.signal.aborted) return;
      running ??= stayOpen();
      looking ??= clock.after(LOOK_MS, look);
    },
    ...teller,
    connected: () => connection,
    close: async () => {
      closing.abort();
      looking?.cancel();
      await running;
    },
  };
}

/** Tells others of what gathers, one notification after another. Where one is lost, they look by themselves. */
function makeTeller(connected: () => Connection | undefined): Pick<Channel, 'tell' | 'say'> {
  /** The last event that others haven't been told of. */
  let untold: number | null = null;
  let unsaid: string[] = [];
  let isTelling = false;
  const notify = async (statement: typeof NOTIFY, words: string) =>
    void (await connected()
      ?.ask(statement, [words])
      .catch(() => undefined));

  async function tellAll(): Promise<void> {
    isTelling = true;
    // The commits of this tick.
    await new Promise((resolve) => setImmediate(resolve));
    while (untold !== null || unsaid.length > 0) {
      const [id, said] = [untold, unsaid];
      [untold, unsaid] = [null, []];
      if (id !== null) await notify(NOTIFY, String(id));
      for (const words of said.length > MOST_WORDS ? [MISSED] : said) await notify(SAY, words);
    }
    isTelling = false;
  }

  return {
    tell: (id) => {
      untold = id;
      if (!isTelling) void tellAll();
    },
    say: (words) => {
      if (unsaid.length <= MOST_WORDS && !unsaid.includes(words)) unsaid.push(words);
      if (!isTelling) void tellAll();
    },
  };
}
