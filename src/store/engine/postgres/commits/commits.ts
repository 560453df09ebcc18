// Group commit on PostgreSQL: the verbs that have gathered during a transaction share the next one.
import type { Clock } from '../../../../domain/clock.ts';
import { ErrandError } from '../../../../domain/errors.ts';
import type { JournalEvent } from '../../../../domain/sessions/journal-event.ts';
import type { CommitWatch, Scope } from '../../database.ts';
import type { Step, Transaction } from '../../statement.ts';
import { makeAttempts } from './attempts.ts';
import { type FaultKind, faultKindOf, refusalOf } from '../connections/faults.ts';
import type { Health } from '../connections/health.ts';
import type { Outcome, ScopedVerb } from './transact.ts';
import type { Turns } from './turns.ts';
import type { Writer } from './writer.ts';

export interface Commits {
  write<Result>(verb: (tx: Transaction) => Step<Result>, scope?: Scope): Promise<Result>;
  /**
   * Adds a call, with its scope, to the verb that was requested last, if that is this one and its transaction hasn't begun. Returns
   * whether it did.
   */
  join(verb: (tx: Transaction) => Step<unknown>, scope: Scope): boolean;
  /** Accepts no further verbs, and resolves when the waiting ones are settled. */
  end(): Promise<void>;
  /** Has every commit from now on reported to the watch. */
  watch(watch: CommitWatch): void;
}

interface PendingVerb extends ScopedVerb {
  scope: Scope;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

interface Parts {
  readonly clock: Clock;
  readonly writer: Writer;
  readonly health: Health;
  /** Names this process among those that write. */
  readonly name: string;
  /** Null where no other process writes. */
  readonly turns: Turns | null;
  committed(events: readonly JournalEvent[]): void;
}

/** Verbs of one transaction: the first of them waits for all. */
const MOST_VERBS = 64;

const undone = (error: unknown): Outcome => ({ kind: 'undone', error });

export function makeCommits({ committed, ...parts }: Parts): Commits {
  const { clock, health } = parts;
  const watches: CommitWatch[] = [];
  const attempts = makeAttempts({ ...parts, repeated: () => watches.forEach((watch) => watch.repeated()) });
  let pending: PendingVerb[] = [];
  let working: Promise<void> | undefined;
  let ended = false;

  async function work(): Promise<void> {
    // The verbs of this tick.
    await new Promise((resolve) => setImmediate(resolve));
    while (pending.length > 0) {
      const group = pending.slice(0, MOST_VERBS);
      pending = pending.slice(MOST_VERBS);
      const left = await carryOutGroup(group);
      pending = [...left, ...pending];
    }
    working = undefined;
  }

  /** Returns those that had no time. */
  async function carryOutGroup(group: readonly PendingVerb[], hasWaited = false): Promise<readonly PendingVerb[]> {
    const startedAt = clock.monotonic();
    const outcome = await attempts.commit(group, hasWaited).catch(undone);
    if (outcome.kind === 'committed') {
      for (const watch of watches) watch.committed(clock.monotonic() - startedAt);
      health.well();
      const { results, events } = outcome;
      for (const verb of group) if (results.has(verb)) verb.resolve(results.get(verb)!());
      if (events.length > 0) committed(events);
      return group.filter((verb) => !results.has(verb));
    }
    const kind = faultKindOf(outcome.error);
    if (group.length > 1 && kind !== 'away')
      return inParts(group, partOf(group, kind), (part) => carryOutGroup(part, kind === 'locked'));
    refuse(group, outcome.error);
    return [];
  }

  function refuse(group: readonly PendingVerb[], error: unknown): void {
    if (faultKindOf(error) !== undefined) {
      health.failed(error);
      for (const watch of watches) watch.refused();
    }
    for (const { reject } of group) reject(refusalOf(error));
  }

  return {
    write: <Result>(verb: (tx: Transaction) => Step<Result>, scope: Scope = 'all') =>
      new Promise<Result>((resolve, reject) => {
        const lost = health.lost();
        if (ended) return reject(new ErrandError('unavailable', 'The daemon is shutting down.'));
        if (lost !== undefined) return reject(refusalOf(lost));
        pending.push({ verb, scope, resolve, reject });
        working ??= work();
      }),
    join: (verb, scope) => joinLast(pending, verb, scope),
    end: async () => {
      ended = true;
      await working;
    },
    watch: (watch) => void watches.push(watch),
  };
}

function joinLast(pending: readonly PendingVerb[], verb: ScopedVerb['verb'], scope: Scope): boolean {
  const last = pending.at(-1);
  if (last?.verb !== verb) return false;
  last.scope = last.scope === 'all' || scope === 'all' ? 'all' : [...last.scope, ...scope];
  return true;
}

/** Halves leave who refuses alone after few transactions; what the server refuses, it would refuse to each half again. */
const partOf = (group: readonly PendingVerb[], kind: FaultKind | undefined): number =>
  kind === undefined || kind === 'again' ? Math.ceil(group.length / 2) : 1;

/** A verb that refuses, or a statement that fails, undoes no other verb in the end. Returns those that had no time. */
async function inParts(
  group: readonly PendingVerb[],
  size: number,
  carryOut: (part: readonly PendingVerb[]) => Promise<readonly PendingVerb[]>,
): Promise<readonly PendingVerb[]> {
  for (let at = 0; at < group.length; at += size) {
    const left = await carryOut(group.slice(at, at + size));
    // What has to come after one that is left is left, too.
    if (left.length > 0) return [...left, ...group.slice(at + size)];
  }
  return [];
}
