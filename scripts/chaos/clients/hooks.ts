// A receiver of webhooks in the storm: it is down now and then, fails, breaks off or is slow at other times.
import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HookReply, type Received, startHookReceiver } from '../../../test/support/http/hook-receiver.ts';
import type { Asked } from '../subject.ts';
import { type Chance, makeChance } from '../../../src/selftest/storm/chance.ts';

/** Whose events arrive at which path. */
export const HOOKS = { system: '/system', ada: '/ada', results: '/results' } as const;

const RESULT_EVENTS = ['scheduled_task.run_status_changed', 'publish_page.published', 'publish_page.failed'];
const SECRET = 'a secret of the storm, which signs';
const DOWN_MS = { least: 300, most: 3_000 } as const;
const UP_MS = { least: 4_000, most: 12_000 } as const;
/** So that a kill also comes between the request and its reply. */
const SLOW_MS = 600;
/** With more, the pauses between attempts would outlast the storm by hours. */
const MOST_FAILURES = 3;

/** A receiver with its webhooks. */
export interface HookListener {
  /** Every request that arrived as a whole, in order. */
  readonly arrivals: readonly Received[];
  /** Requests whose signature is wrong. */
  readonly unsigned: readonly Received[];
  /** How many requests failed by its own will. */
  faults(): number;
  /** How long it refused connections. */
  downMs(): number;
  /** From now on it accepts everything. */
  calm(): Promise<void>;
  close(): Promise<void>;
}

/** Creates a webhook of the system and one of ada's, for the end of every run, and one for what reaches people by itself. */
export async function openHooks(daemon: Pick<Asked, 'admin'>, seed: number): Promise<HookListener> {
  const receiver = await startHookReceiver();
  const chance = makeChance(seed ^ 0x40c5);
  const stopping = new AbortController();
  const failures = new Map<string, number>();
  const unsigned: Received[] = [];
  let [faults, downMs] = [0, 0];

  receiver.answer(async (request) => {
    if (!isSigned(request)) unsigned.push(request);
    const reply = stopping.signal.aborted ? 204 : await replyTo(request);
    if (reply !== 204) faults += 1;
    return reply;
  });

  async function replyTo({ path, eventId }: Received): Promise<HookReply> {
    if (chance.oneIn(4)) await sleep(chance.between(1, SLOW_MS));
    const failed = failures.get(path + eventId) ?? 0;
    if (failed >= MOST_FAILURES || !chance.oneIn(5)) return 204;
    failures.set(path + eventId, failed + 1);
    return failureOf(chance);
  }

  async function comeAndGo(): Promise<void> {
    const wait = async ({ least, most }: typeof UP_MS | typeof DOWN_MS) =>
      sleep(chance.between(least, most), true, stopping).catch(() => false);
    while (await wait(UP_MS)) {
      const wentAt = performance.now();
      await receiver.off();
      await wait(DOWN_MS);
      await receiver.on();
      downMs += performance.now() - wentAt;
    }
  }

  const ofSystem = { name: 'system', url: receiver.url + HOOKS.system, owner_scope: 'system' };
  const ofAda = { name: 'ada', url: receiver.url + HOOKS.ada, user: 'ada' };
  const ofResults = {
    name: 'results',
    url: receiver.url + HOOKS.results,
    owner_scope: 'system',
    events: RESULT_EVENTS,
  };
  const events = ['session.completed', 'session.failed', 'session.stopped'];
  const fields = { events, secret: SECRET, retry_count: 20, retry_backoff_ms: 100 };
  for (const hook of [ofSystem, ofAda, ofResults])
    await daemon.admin('POST', '/api/v1/webhooks', { ...fields, ...hook });
  const coming = comeAndGo();
  coming.catch(() => undefined);
  return {
    arrivals: receiver.received,
    unsigned,
    faults: () => faults,
    downMs: () => downMs,
    calm: async () => {
      stopping.abort();
      await coming;
    },
    close: receiver.off,
  };
}

/** `Retry-After` is honoured, and is shorter than most pauses. */
function failureOf(chance: Chance): HookReply {
  return chance.pick<HookReply>([500, 404, 302, 'cut', { status: 503, headers: { 'retry-after': '1' } }]);
}

/** The rule of §6.4. */
function isSigned({ headers, body }: Received): boolean {
  const hmac = createHmac('sha256', SECRET)
    .update(`${String(headers['x-service-timestamp'])}.`)
    .update(body);
  return headers['x-service-signature'] === `sha256=${hmac.digest('hex')}`;
}
