// The mixed load: people who open sessions, continue them in bursts, and never take a lost connection for an answer.
import { makeChance, type Chance } from './chance.ts';
import { type Door, exchange, type Sighting, type TurnWish } from './exchange.ts';
import { planOf, type PlanRules } from './plan.ts';

export interface Load {
  /** Every turn begun, in order. */
  readonly sightings: readonly Sighting[];
  /** No new turns from now on; resolves when those under way have ended. */
  finish(): Promise<void>;
  /** Rejects when a client breaks; never resolves. */
  readonly broken: Promise<never>;
  underWay(): number;
}

interface Person {
  readonly door: Door;
  readonly chance: Chance;
}

/** Starts `people` clients, spread over the doors. */
export function startLoad(rules: PlanRules, doors: readonly Door[], people: number): Load {
  const sightings: Sighting[] = [];
  let stopping = false;
  let last = 0;

  async function take(
    person: Person,
    sessionId: string | null,
  ): Promise<{ session: Promise<string | null>; over: Promise<void> }> {
    last += 1;
    const wish = wishOf(person, planOf(rules, last).attachment, last, sessionId);
    const known = Promise.withResolvers<string | null>();
    const seen = new Set<Sighting>();
    const over = exchange(person.door, wish, (sighting) => {
      if (!seen.has(sighting)) sightings.push(sighting);
      seen.add(sighting);
      known.resolve(sighting.sessionId);
    });
    over.catch(known.reject);
    return { session: known.promise, over: over.then(() => undefined) };
  }

  async function live(person: Person): Promise<void> {
    while (!stopping) {
      const opening = await take(person, null);
      const sessionId = await opening.session;
      const bursts = sessionId === null ? 0 : person.chance.between(0, 2);
      for (let burst = 0; burst < bursts && !stopping; burst += 1) {
        const turns = await Promise.all(
          Array.from({ length: person.chance.between(1, 3) }, () => take(person, sessionId)),
        );
        await Promise.all(turns.map(({ over }) => over));
      }
      await opening.over;
    }
  }

  const lives = Array.from({ length: people }, (_, i) =>
    live({ door: doors[i % doors.length]!, chance: makeChance(rules.seed + 7_919 * (i + 1)) }),
  );
  const all = Promise.all(lives);
  return {
    sightings,
    underWay: () => last - sightings.filter(({ end }) => end !== null).length,
    broken: all.then(() => new Promise<never>(() => undefined)),
    finish: async () => {
      stopping = true;
      await all;
    },
  };
}

function wishOf({ chance }: Person, attachment: string | null, number: number, sessionId: string | null): TurnWish {
  return {
    number,
    protocol: chance.oneIn(3) ? 'chat' : 'messages',
    stream: !chance.oneIn(3),
    extras: chance.oneIn(2),
    sessionId,
    attachment,
    rejoins: chance.oneIn(2),
    leavesAfterMs: chance.oneIn(8) ? chance.between(1, 400) : null,
  };
}
