// Tries one client: what of it works, as the columns of the table.
import assert from 'node:assert/strict';
import { type Client, SUBMITTED, TEXT_FILE, WORDS } from './client.ts';
import type { Ground, Place } from './place.ts';

/** What came of a trial: it works, this client has no such thing, or why it doesn't work. */
export type Outcome = 'works' | 'none' | { readonly fault: string };

export const COLUMNS = ['answers', 'streams', 'remembers', 'JSON by schema', 'files'] as const;
export type Outcomes = Readonly<Record<(typeof COLUMNS)[number], Outcome>>;

/** `folder`: where the client's packages are installed. */
export async function tryClient(client: Client, ground: Ground, folder: string): Promise<Outcomes> {
  const place = await ground.makePlace(client.continueBy);
  let answers: readonly string[] = [];
  const answered = await outcomeOf(async () => {
    answers = await client.converse(place, folder);
    assert.equal(answers[0], WORDS[0].answer);
  });
  const streamed = place.recorded().some(({ body }) => body['stream'] === true);
  const remembered = await outcomeOf(async () => requireMemory(place, answers));
  return {
    answers: answered,
    streams:
      client.stream === undefined ? (streamed ? answered : 'none') : await tryStream(client.stream, ground, folder),
    remembers: remembered,
    'JSON by schema': await tryStructured(client, ground, folder),
    files: await tryFiles(client, ground, folder),
  };
}

/** All that was said is in one session, and its model was asked with each message once. */
function requireMemory(place: Place, answers: readonly string[]): void {
  assert.deepEqual(
    answers,
    WORDS.map(({ answer }) => answer),
  );
  assert.equal(place.sessions(), 1, 'more than one session');
  const asked = place.model.requests.map(({ body }) => JSON.stringify(body.messages));
  const words = WORDS.map(({ said }) => said.split(' ')[0]!);
  const last = asked.findLast((messages) => words.every((word) => messages.includes(word)));
  assert(last !== undefined, 'what was said before is forgotten');
  for (const word of words) assert.equal(last.split(word).length, 2, `"${word}" more than once`);
}

async function tryStream(stream: NonNullable<Client['stream']>, ground: Ground, folder: string): Promise<Outcome> {
  const place = await ground.makePlace('');
  place.model.enqueue({ text: ['It is ', 'empty', '.'], deltaMs: 20 });
  return await outcomeOf(async () => {
    const pieces = await stream(place, folder);
    assert.equal(pieces.join(''), 'It is empty.');
    assert(pieces.length > 1, 'in one piece');
  });
}

async function tryStructured({ structured }: Client, ground: Ground, folder: string): Promise<Outcome> {
  if (structured === undefined) return 'none';
  const place = await ground.makePlace('');
  place.model.enqueue(SUBMITTED);
  return await outcomeOf(async () => assert.deepEqual(await structured(place, folder), { metres: 3 }));
}

async function tryFiles({ attach }: Client, ground: Ground, folder: string): Promise<Outcome> {
  if (attach === undefined) return 'none';
  const place = await ground.makePlace('');
  return await outcomeOf(async () => {
    await attach(place, folder);
    const asked = JSON.stringify(place.model.requests.at(-1)?.body.messages);
    assert(asked.includes(`uploads/${TEXT_FILE.name}`), 'the agent has no file');
  });
}

export async function outcomeOf(attempt: () => Promise<void>): Promise<Outcome> {
  try {
    await attempt();
    return 'works';
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
