// Publishing in the storm: pages of sessions that scheduled tasks have left, with more versions, and what ends them.
import { setTimeout as sleep } from 'node:timers/promises';
import type { OwnedPageWire, OwnedVersionWire } from '../../../src/wire/publishing/page.ts';
import { type Chance, makeChance } from '../../../src/selftest/storm/chance.ts';
import { SITE_ENTRY, siteTextOf } from '../model/plan.ts';
import { type Late, untilKnown } from './late.ts';
import type { Operator, Reply } from './operator.ts';
import type { SeenFiring } from './schedules.ts';

const PUBLISHERS = 2;
const LOOK_MS = 200;
const MOST_RELEASES = 3;

/** A page that the daemon has confirmed. */
export interface SeenPage {
  readonly key: string;
  /** Share codes by number. */
  readonly versions: Map<number, string>;
  /** Numbers of versions that were withdrawn. */
  readonly withdrawn: Set<number>;
  isDeleted: boolean;
}

export interface Publishers {
  readonly pages: readonly SeenPage[];
  /** Sessions that were deleted, each noted before it was. */
  readonly deleted: ReadonlySet<string>;
  /** Sessions whose pages were refused, because the entry isn't there. */
  readonly refused: ReadonlySet<string>;
  /** By the name of a page, or the reason of a version. */
  readonly late: Late;
  /** What a reader got that was wrong, in words. */
  readonly problems: readonly string[];
  /** How many shares were read. */
  reads(): number;
  finish(): Promise<void>;
  /** Rejects when a client breaks; never resolves. */
  readonly broken: Promise<never>;
}

/** Starts to publish what firings have left, each once. */
export function startPublishers(operator: Operator, seed: number, completed: SeenFiring[]): Publishers {
  const pages: SeenPage[] = [];
  const deleted = new Set<string>();
  const refused = new Set<string>();
  const late = new Map<string, number>();
  const problems: string[] = [];
  let [stopping, reads] = [false, 0];

  async function read(page: SeenPage, no: number, firing: SeenFiring): Promise<void> {
    const { status, text } = await operator.read(`/api/v1/public/shares/${page.versions.get(no)}/content`);
    reads += 1;
    const expected = page.withdrawn.has(no) ? 404 : 200;
    if (status !== expected || (status === 200 && !textsOf(firing).includes(text)))
      problems.push(`share ${page.versions.get(no)} was answered ${status}: ${text.slice(0, 200)}`);
  }

  async function publish(firing: SeenFiring, name: string, chance: Chance): Promise<void> {
    const fields = { name, session_id: firing.session_id, entry_path: SITE_ENTRY };
    const made = await createPage(operator, late, fields);
    if (made === null) return void refused.add(firing.session_id);
    const { publish_key: key, latest_share_code: code } = made;
    const page: SeenPage = { key, versions: new Map([[1, code!]]), withdrawn: new Set(), isDeleted: false };
    pages.push(page);
    for (let i = chance.between(0, MOST_RELEASES); i > 0; i -= 1) {
      const { version_no, share_code } = await release(operator, late, { key, reason: `release ${i} of ${name}` });
      page.versions.set(version_no, share_code);
    }
    await read(page, [...page.versions.keys()].at(-1)!, firing);
    if (chance.oneIn(3)) {
      deleted.add(firing.session_id);
      await operator.ask('DELETE', `/api/v1/sessions/${firing.session_id}`, { expected: [200, 404] });
    }
    if (chance.oneIn(4)) {
      page.withdrawn.add(1);
      await operator.ask('DELETE', `/api/v1/shares/${code}`);
    }
    await read(page, chance.pick([...page.versions.keys()]), firing);
    if (!chance.oneIn(5)) return;
    page.isDeleted = true;
    await operator.ask('DELETE', `/api/v1/publishes/${key}`, { expected: [200, 404] });
  }

  async function live(person: number): Promise<void> {
    const chance = makeChance(seed + 104_729 * (person + 1));
    for (let count = 0; !stopping; ) {
      const firing = completed.shift();
      if (firing === undefined) await sleep(LOOK_MS);
      else await publish(firing, `Page ${person}.${(count += 1)}`, chance);
    }
  }

  const all = Promise.all(Array.from({ length: PUBLISHERS }, (_, person) => live(person)));
  return {
    pages,
    deleted,
    refused,
    late,
    problems,
    reads: () => reads,
    finish: async () => {
      stopping = true;
      await all;
    },
    broken: all.then(() => new Promise<never>(() => undefined)),
  };
}

/** The pages that the steps of a firing write: the call of the last may have been interrupted. */
function textsOf({ work }: SeenFiring): string[] {
  return Array.from({ length: work.count }, (_, i) => siteTextOf(work.first + i));
}

/** Creates a page with a name of its own, by which it is found when the reply is lost; null when its entry isn't there. */
export async function createPage(
  operator: Operator,
  late: Map<string, number>,
  fields: { readonly name: string } & Readonly<Record<string, unknown>>,
): Promise<OwnedPageWire | null> {
  const { name } = fields;
  const path = '/api/v1/publishes';
  return untilKnown<OwnedPageWire | null>(late, {
    name,
    pauseMs: LOOK_MS,
    send: () => operator.once('POST', path, fields),
    take: (reply) => (reply.status === 422 ? null : (createdOf(reply, 'A page') as OwnedPageWire)),
    look: async () => {
      const query = `name=${encodeURIComponent(name)}`;
      return (await operator.ask<{ items: OwnedPageWire[] }>('GET', `${path}?${query}`)).items[0];
    },
  });
}

/** Publishes a version with a reason of its own, by which it is found. */
async function release(
  operator: Operator,
  late: Map<string, number>,
  { key, reason }: { readonly key: string; readonly reason: string },
): Promise<OwnedVersionWire> {
  const path = `/api/v1/publishes/${key}/versions`;
  return untilKnown<OwnedVersionWire>(late, {
    name: reason,
    pauseMs: LOOK_MS,
    send: () => operator.once('POST', path, { reason }),
    take: (reply) => createdOf(reply, 'A version') as OwnedVersionWire,
    look: async () => {
      const { items } = await operator.ask<{ items: OwnedVersionWire[] }>('GET', path);
      return items.find((version) => version.reason === reason);
    },
  });
}

function createdOf({ status, data, text }: Reply, what: string): unknown {
  if (status === 201) return data;
  throw new Error(`${what} was answered ${status}: ${text}`);
}
