// The mixed load: people who open sessions, continue them in bursts, stop and delete them now and then, and always retry
// after a lost connection.
import { setTimeout as sleep } from 'node:timers/promises';
import { makeChance, type Chance } from '../../../src/selftest/storm/chance.ts';
import { type ApiTarget, exchange, type Observation, type TurnRequest } from './exchange.ts';
import { planOf, type PlanRules } from '../model/plan.ts';
import { AGAIN } from './operator.ts';

export interface EndedSessions {
  readonly stopped: ReadonlySet<string>;
  readonly deleted: ReadonlySet<string>;
}

export interface Load {
  /** Every turn begun, in order. */
  readonly observations: readonly Observation[];
  /** Sessions that a client stopped or deleted. */
  readonly ended: EndedSessions;
  /** Starts no new turns; resolves when those in progress have ended. */
  finish(): Promise<void>;
  /** Rejects when a client breaks; never resolves. */
  readonly broken: Promise<never>;
  inProgress(): number;
}

interface Person {
  readonly target: ApiTarget;
  readonly chance: Chance;
}

/** Starts `people` clients, spread over the targets. */
export function startLoad(rules: PlanRules, targets: readonly ApiTarget[], people: number): Load {
  const observations: Observation[] = [];
  const stopped = new Set<string>();
  const deleted = new Set<string>();
  let stopping = false;
  let last = 0;

  async function take(
    person: Person,
    sessionId: string | null,
  ): Promise<{ session: Promise<string | null>; over: Promise<void> }> {
    last += 1;
    const request = requestOf(person, planOf(rules, last).attachment, last, sessionId);
    const known = Promise.withResolvers<string | null>();
    const seen = new Set<Observation>();
    const over = exchange(person.target, request, (observation) => {
      if (!seen.has(observation)) observations.push(observation);
      seen.add(observation);
      known.resolve(observation.sessionId);
    });
    over.catch(known.reject);
    return { session: known.promise, over: over.then(() => undefined) };
  }

  async function live(person: Person): Promise<void> {
    while (!stopping) {
      const opening = await take(person, null);
      const sessionId = await opening.session;
      const bursts = sessionId === null ? 0 : person.chance.between(0, 2);
      const stop =
        sessionId !== null && person.chance.oneIn(5)
          ? endSession(person, { sessionId, verb: 'stop', noted: stopped })
          : undefined;
      for (let burst = 0; burst < bursts && !stopping; burst += 1) {
        const turns = await Promise.all(
          Array.from({ length: person.chance.between(1, 3) }, () => take(person, sessionId)),
        );
        await Promise.all(turns.map(({ over }) => over));
      }
      await Promise.all([opening.over, stop]);
      if (sessionId !== null && person.chance.oneIn(6))
        await endSession(person, { sessionId, verb: 'delete', noted: deleted });
    }
  }

  const lives = Array.from({ length: people }, (_, i) =>
    live({ target: targets[i % targets.length]!, chance: makeChance(rules.seed + 7_919 * (i + 1)) }),
  );
  const all = Promise.all(lives);
  return {
    observations,
    ended: { stopped, deleted },
    inProgress: () => last - observations.filter(({ end }) => end !== null).length,
    broken: all.then(() => new Promise<never>(() => undefined)),
    finish: async () => {
      stopping = true;
      await all;
    },
  };
}

interface Ending {
  readonly sessionId: string;
  readonly verb: 'stop' | 'delete';
  /** Claims the session before the first request is sent. */
  readonly noted: Set<string>;
}

/** Stops or deletes a session after a while, repeating the request until the daemon has replied. */
async function endSession({ target, chance }: Person, { sessionId, verb, noted }: Ending): Promise<void> {
  await sleep(chance.between(0, 800));
  noted.add(sessionId);
  const path = `${target.url}/openapi/v1/sessions/${sessionId}${verb === 'stop' ? '/stop' : ''}`;
  const request = {
    method: verb === 'stop' ? 'POST' : 'DELETE',
    headers: { authorization: `Bearer ${target.key}` },
  };
  for (let sends = 0; ; ) {
    const response = await fetch(path, request).catch((error: unknown) => {
      const { cause } = error as { cause?: { code?: string } };
      if (cause?.code !== 'ECONNREFUSED') sends += 1;
      return undefined;
    });
    const answer = await response?.text().catch(() => undefined);
    // A delete whose reply was lost finds no session the next time.
    if (response?.status === 200 || (response?.status === 404 && verb === 'delete' && sends > 0)) return;
    if (response !== undefined && !AGAIN.has(response.status))
      throw new Error(`A ${verb} was answered ${response.status}: ${answer}`);
    await sleep(25);
  }
}

function requestOf(
  { chance }: Person,
  attachment: string | null,
  number: number,
  sessionId: string | null,
): TurnRequest {
  const background = sessionId === null && chance.oneIn(4);
  return {
    number,
    background,
    protocol: !background && chance.oneIn(3) ? 'chat' : 'messages',
    stream: !background && !chance.oneIn(3),
    extras: chance.oneIn(2),
    sessionId,
    attachment,
    rejoins: chance.oneIn(2),
    leavesAfterMs: chance.oneIn(8) ? chance.between(1, 400) : null,
  };
}
