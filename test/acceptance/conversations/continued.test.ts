// Clients that name no session, and resend what was said: official clients, and requests as chat front ends send them.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let daemon: DaemonProcess;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelServerUrl: model.url });
});
afterAll(async () => {
  await daemon?.close();
  await model?.close();
});

type Message = OpenAI.ChatCompletionMessageParam;

/** A chat front end whose key's sessions are found so: it keeps what was said, and sends all of it each time. */
async function frontEnd(continueBy: string, headers: Record<string, string> = {}) {
  const { key } = (await daemon.admin('POST', '/api/v1/keys', {
    user: daemon.adminName,
    scope: 'conversation',
    continue_by: continueBy,
  })) as { key: string };
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${daemon.url}/openapi/v1`,
    maxRetries: 0,
    defaultHeaders: headers,
  });
  const said: Message[] = [{ role: 'system', content: 'Be brief.' }];
  /** Sends messages as they are; returns the session and the answer. */
  const send = async (
    messages: readonly Message[],
    { stream = false, idempotencyKey = '', sessionId = '', name = '' } = {},
  ) => {
    const named = {
      ...(sessionId !== '' && { 'errand-session-id': sessionId }),
      ...(name !== '' && { 'x-chat': name }),
    };
    const more = { headers: { ...named, ...(idempotencyKey !== '' && { 'idempotency-key': idempotencyKey }) } };
    if (!stream) {
      const { data, response } = await client.chat.completions
        .create({ model: 'errand', messages: [...messages] }, more)
        .withResponse();
      const ignored = response.headers.get('x-errand-ignored');
      return { session: response.headers.get('x-session-id')!, answer: data.choices[0]!.message.content!, ignored };
    }
    const { data, response } = await client.chat.completions
      .create({ model: 'errand', messages: [...messages], stream: true }, more)
      .withResponse();
    let answer = '';
    for await (const chunk of data) answer += chunk.choices[0]?.delta.content ?? '';
    return {
      session: response.headers.get('x-session-id')!,
      answer,
      ignored: response.headers.get('x-errand-ignored'),
    };
  };
  return {
    key,
    said,
    send,
    say: async (content: string, options?: { readonly stream?: boolean; readonly idempotencyKey?: string }) => {
      said.push({ role: 'user', content });
      const reply = await send(said, options);
      said.push({ role: 'assistant', content: reply.answer });
      return reply;
    },
  };
}

/** What the model was asked with last, of a user's text. */
const askedWith = (marker: string) =>
  JSON.stringify(
    model.requests.findLast(({ body }) => JSON.stringify(body.messages?.at(-1)).includes(marker))?.body.messages,
  );

test('ten turns that are resent are one session, streamed or not, also with text between tool calls', {
  tags: ['M1-history'],
}, async () => {
  const { say } = await frontEnd('history');
  const sessions = new Set<string>();
  for (let turn = 0; turn < 10; turn += 1) {
    const content = `Turn ${turn}. [[tools=${turn % 3}]] [[text=Answer ${turn}.]] [[deltas=3]]`;
    sessions.add((await say(content, { stream: turn % 2 === 1 })).session);
  }
  expect(sessions.size).toBe(1);
  expect(askedWith('Turn 9.')).toContain('Answer 8.');
  expect(askedWith('Turn 9.')).not.toContain('earlier_conversation');
});

test('what is said anew in the middle forks the session there, and what began elsewhere opens one that begins with a quote', {
  tags: ['M1-history'],
}, async () => {
  const { said, say, send } = await frontEnd('history');
  const first = await say('What are tides? [[text=The sea.]]');
  await say('And storms? [[text=The air.]]');
  const edited = await send([...said.slice(0, 3), { role: 'user', content: 'And quakes? [[text=The ground.]]' }]);
  expect(edited.session).not.toBe(first.session);
  expect(askedWith('And quakes?')).not.toContain('earlier_conversation');
  expect(askedWith('And quakes?')).toContain('The sea.');
  expect(askedWith('And quakes?')).not.toContain('The air.');
  // Either goes on where it is.
  const onward = [
    ...said.slice(0, 3),
    { role: 'user', content: 'And quakes? [[text=The ground.]]' },
    { role: 'assistant', content: 'The ground.' },
    { role: 'user', content: 'Why? [[text=Plates.]]' },
  ] as const;
  expect((await send(onward)).session).toBe(edited.session);
  expect((await say('Sure? [[text=Yes.]]')).session).toBe(first.session);
  const elsewhere = [
    { role: 'user', content: 'Else?' },
    { role: 'assistant', content: 'Elsewhere.' },
  ] as const;
  const opened = await send([...elsewhere, { role: 'user', content: 'And here? [[text=Here.]]' }]);
  expect(askedWith('And here?')).toContain('<earlier_conversation>');
  const titled = rowsOf<{ title: string }>(daemon, `SELECT title FROM sessions WHERE id = '${opened.session}'`);
  expect(titled[0]!.title).toMatch(/^And here/);
});

test('a conversation that went on elsewhere comes back to its session; one whose answer was edited forks before that', {
  tags: ['M1-history'],
}, async () => {
  const { said, say, send } = await frontEnd('history');
  const sea = 'The sea, moved by the moon. '.repeat(8).trim();
  const { session } = await say(`What are tides? [[text=${sea}]]`);
  said.push({ role: 'user', content: 'And storms?' }, { role: 'assistant', content: 'The air, says another model.' });
  const back = await say('And quakes? [[text=The ground.]]');
  expect([back.session, back.ignored]).toEqual([session, null]);
  expect(askedWith('And quakes?')).toContain(`"${sea}"`);
  expect(askedWith('And quakes?')).toContain('says another model.');
  expect(askedWith('And quakes?').split('What are tides?')).toHaveLength(2);
  // It is a whole from then on.
  expect((await say('Sure? [[text=Yes.]]')).session).toBe(session);
  expect(askedWith('Sure?').split('says another model.')).toHaveLength(2);
  const edited: Message[] = [...said.slice(0, -3), { role: 'assistant', content: 'The crust.' }, ...said.slice(-2)];
  const forked = await send([...edited, { role: 'user', content: 'Why? [[text=Plates.]]' }]);
  expect(forked.session).not.toBe(session);
  const asked = askedWith('Why?');
  expect(asked).toContain('The crust.');
  expect([asked.includes(`"${sea}"`), asked.includes('"The ground."')]).toEqual([true, false]);
  const again: Message[] = [
    ...edited,
    { role: 'user', content: 'Why? [[text=Plates.]]' },
    { role: 'assistant', content: 'Plates.' },
  ];
  expect((await send([...again, { role: 'user', content: 'More? [[text=No.]]' }])).session).toBe(forked.session);
});

test('two tabs of one chat at once: the second one gets a session of its own', { tags: ['M1-history'] }, async () => {
  const { said, say, send } = await frontEnd('history');
  const { session } = await say('Begin. [[text=Begun.]]');
  const tab = (name: string) => send([...said, { role: 'user', content: `${name}. [[text=Done.]]` }]);
  const { promise: until, resolve: go } = Promise.withResolvers<void>();
  model.enqueue({ text: 'Done.', hang: 'before-headers', until });
  const first = tab('One');
  await waitFor(() => askedWith('One.') !== undefined);
  const second = await tab('Two');
  go();
  expect((await first).session).toBe(session);
  expect(second.session).not.toBe(session);
});

test('a key knows its own conversations only', { tags: ['M1-history'] }, async () => {
  const [mine, other] = [await frontEnd('history'), await frontEnd('history')];
  const { session } = await mine.say('What are tides? [[text=The sea.]]');
  const next: Message[] = [...mine.said, { role: 'user', content: 'Sure? [[text=Yes.]]' }];
  expect((await other.send(next)).session).not.toBe(session);
  expect((await mine.send(next)).session).toBe(session);
});

test('a chat front end that names its chats in a header, and asks for titles beside them', {
  tags: ['M1-name', 'M1-aside'],
}, async () => {
  const chat = await frontEnd('header:X-OpenWebUI-Chat-Id', { 'X-OpenWebUI-Chat-Id': 'c0ffee' });
  const { session } = await chat.say('What are tides? [[text=The sea.]]', { stream: true });
  const title = '### Task:\nName the chat.\n### Output:\nJSON\n<chat_history>\nWhat are tides?\n</chat_history>';
  const aside = await chat.send([{ role: 'user', content: title }]);
  expect(aside.session).not.toBe(session);
  expect((await chat.say('And storms? [[text=The air.]]', { stream: true })).session).toBe(session);
  // A client that sends only what is new.
  expect((await chat.send([{ role: 'user', content: 'Sure? [[text=Yes.]]' }])).session).toBe(session);
  const kept = rowsOf<{ id: string; throwAway: number }>(
    daemon,
    `SELECT id, throw_away AS throwAway FROM sessions WHERE id IN ('${session}', '${aside.session}') ORDER BY throw_away`,
  );
  expect(kept).toEqual([
    { id: session, throwAway: 0 },
    { id: aside.session, throwAway: 1 },
  ]);
});

test.each([
  ['Open WebUI', 'header:X-OpenWebUI-Chat-Id', { 'X-OpenWebUI-Chat-Id': 'edited' }],
  ['LibreChat', 'header:X-Conversation-Id', { 'X-Conversation-Id': 'edited' }],
  ['one without a name', 'history', {}],
])(
  'ten turns of %s, one edited and one answered anew: the agent has what the client shows',
  {
    tags: ['M1-name', 'M1-history'],
  },
  async (name, continueBy, headers) => {
    const chat = await frontEnd(continueBy, headers);
    const shown = new Map<string, boolean>();
    const sessions: string[] = [];
    const say = async (word: string) => {
      const asked = `${word} of ${name}. [[text=${word} answered.]] [[deltas=3]]`;
      sessions.push((await chat.say(asked, { stream: true })).session);
      for (const [said, isShown] of shown) expect(askedWith(`${word} of`).includes(said)).toBe(isShown);
      expect(askedWith(`${word} of`)).not.toContain('earlier_conversation');
      shown.set(`${word} answered.`, true);
    };
    for (const word of ['One', 'Two', 'Three', 'Four']) await say(word);
    // The user edits the third message; the client leaves out all that followed.
    chat.said.splice(5);
    for (const word of ['Three', 'Four']) shown.set(`${word} answered.`, false);
    for (const word of ['Third', 'Fourth', 'Fifth']) await say(word);
    // He has the last one answered anew.
    chat.said.splice(-2);
    shown.delete('Fifth answered.');
    for (const word of ['Fifth', 'Sixth', 'Seventh']) await say(word);
    expect(askedWith('Seventh of').split(`Fifth of ${name}`)).toHaveLength(2);
    expect(new Set(sessions.slice(0, 4)).size).toBe(1);
    expect(new Set(sessions.slice(4, 7)).size).toBe(1);
    expect(new Set(sessions.slice(7)).size).toBe(1);
    expect(new Set(sessions).size).toBe(3);
  },
);

test('two chats that say the same under two names stay two sessions, also when one of them is deleted', {
  tags: ['M1-name', 'M1-history'],
}, async () => {
  const ann = await frontEnd('header:X-Chat', { 'X-Chat': 'ann' });
  const bob = { send: (messages: readonly Message[]) => ann.send(messages, { name: 'bob' }) };
  const asked: Message = { role: 'user', content: 'Summarise the file. [[text=Done.]]' };
  const { session: hers } = await ann.send([asked]);
  const { session: his } = await bob.send([asked]);
  expect(his).not.toBe(hers);
  const next = [
    asked,
    { role: 'assistant', content: 'Done.' },
    { role: 'user', content: 'More? [[text=No.]]' },
  ] as const;
  expect((await ann.send(next)).session).toBe(hers);
  expect((await bob.send(next)).session).toBe(his);
  // An edited message of hers is a fork of her session.
  const edited = await ann.send([...next.slice(0, 2), { role: 'user', content: 'Less? [[text=Yes.]]' }]);
  expect([hers, his]).not.toContain(edited.session);
  const origins = rowsOf<{ origin: string }>(
    daemon,
    `SELECT origin_session AS origin FROM sessions WHERE id = '${edited.session}'`,
  );
  expect(origins[0]!.origin).toBe(hers);
  for (const id of [hers, edited.session])
    await fetch(`${daemon.url}/openapi/v1/sessions/${id}`, { method: 'DELETE', headers: { 'x-api-key': ann.key } });
  const again = await ann.send(next);
  expect(again.session).not.toBe(his);
  expect(askedWith('More?')).toContain('earlier_conversation');
});

test('a conversation that gets its name after its first message stays one session', {
  tags: ['M1-name', 'M1-history'],
}, async () => {
  const chat = await frontEnd('header:X-Chat');
  const { session } = await chat.say('Nameless. [[text=So far.]]');
  for (const word of ['Named. [[text=Now.]]', 'And on. [[text=On.]]']) {
    chat.said.push({ role: 'user', content: word });
    const reply = await chat.send(chat.said, { name: 'late' });
    chat.said.push({ role: 'assistant', content: reply.answer });
    expect(reply.session).toBe(session);
  }
});

test('what comes under a name while its session works is beside it', { tags: ['M1-aside'] }, async () => {
  const chat = await frontEnd('header:X-Chat', { 'X-Chat': 'one' });
  const { session } = await chat.say('Begin. [[text=Begun.]]');
  const { promise: until, resolve: go } = Promise.withResolvers<void>();
  model.enqueue({ text: 'Done.', hang: 'before-headers', until });
  const working = chat.say('Work long.');
  await waitFor(() => askedWith('Work long.') !== undefined);
  const aside = await chat.send([{ role: 'user', content: 'Tags? [[text=sea]]' }]);
  expect(aside.session).not.toBe(session);
  go();
  expect((await working).session).toBe(session);
  expect((await chat.say('And now? [[text=Still here.]]')).session).toBe(session);
});

test('a key whose sessions nobody comes back to makes only such, unless one is named', {
  tags: ['M1-aside'],
}, async () => {
  const { said, say, send } = await frontEnd('never');
  const sessions = [(await say('Begin. [[text=Begun.]]')).session, (await say('Go on. [[text=Gone on.]]')).session];
  const thrown = () =>
    rowsOf<{ n: number }>(
      daemon,
      `SELECT throw_away AS n FROM sessions WHERE id IN ('${sessions.join("', '")}') ORDER BY seq`,
    ).map(({ n }) => n);
  expect(thrown()).toEqual([1, 1]);
  await send(said.slice(0, 2), { sessionId: sessions[0]! });
  expect(thrown()).toEqual([0, 1]);
});

test('a reply says that what was before is ignored, unless its session has it or begins with it', {
  tags: ['M1-ignored'],
}, async () => {
  const elsewhere = [
    { role: 'user', content: 'I am Ada.' },
    { role: 'assistant', content: 'Hello, Ada.' },
    { role: 'user', content: 'Who am I? [[text=Ada.]]' },
  ] as const;
  expect((await (await frontEnd('never')).send(elsewhere)).ignored).toBe('history');
  const byHistory = await frontEnd('history');
  const { session, ignored } = await byHistory.send(elsewhere);
  expect(ignored).toBeNull();
  expect((await byHistory.send(elsewhere, { sessionId: session })).ignored).toBe('history');
  const named = await frontEnd('header:X-Chat', { 'X-Chat': 'ada' });
  expect((await named.say('Begin. [[text=Begun.]]')).ignored).toBeNull();
  expect((await named.say('Go on. [[text=Gone on.]]', { stream: true })).ignored).toBeNull();
  expect((await named.send(elsewhere)).ignored).toBe('history');
});

test('a request that is repeated with its key finds its run, wherever the conversation stands', {
  tags: ['M1-repeated'],
}, async () => {
  for (const continueBy of ['history', 'header:X-Chat']) {
    const chat = await frontEnd(continueBy, { 'X-Chat': 'again' });
    const first = await chat.say('Begin. [[text=Begun.]]', { idempotencyKey: 'a' });
    expect((await chat.send(chat.said.slice(0, 2), { idempotencyKey: 'a' })).session).toBe(first.session);
    await chat.say('Go on. [[text=Gone on.]]', { idempotencyKey: 'b' });
    expect((await chat.send(chat.said.slice(0, 4), { idempotencyKey: 'b' })).session).toBe(first.session);
    const counted = rowsOf<{ runs: number }>(
      daemon,
      `SELECT count(*) AS runs FROM runs r JOIN sessions s ON s.key_seq = r.key_seq WHERE s.id = '${first.session}'`,
    );
    expect(counted[0]!.runs).toBe(2);
  }
});

test('the Anthropic client, with a field of metadata, and reminders that change', {
  tags: ['M1-name', 'M1-history'],
}, async () => {
  for (const continueBy of ['metadata:user_id', 'history']) {
    const { key } = await frontEnd(continueBy);
    const client = new Anthropic({ apiKey: key, baseURL: `${daemon.url}/openapi`, maxRetries: 0 });
    const ask = async (messages: Anthropic.MessageParam[]) => {
      const { response } = await client.messages
        .create({ model: 'errand', max_tokens: 100, messages, metadata: { user_id: 'user_1_session_2' } })
        .withResponse();
      return response.headers.get('x-session-id');
    };
    const blocks = (...texts: string[]) => texts.map((text) => ({ type: 'text' as const, text }));
    const reminder = (day: number) => `<system-reminder>Day ${day}.</system-reminder>`;
    const asked = 'What are tides? [[text=The sea.]]';
    const first = await ask([{ role: 'user', content: blocks(reminder(1), asked) }]);
    const second = await ask([
      { role: 'user', content: blocks(reminder(2), asked) },
      { role: 'assistant', content: blocks('The sea.') },
      { role: 'user', content: blocks('Sure? [[text=Yes.]]', reminder(2)) },
    ]);
    expect(second).toBe(first);
  }
});

test('a name that is too long is refused, and keys are shown as they were made', { tags: ['M1-key'] }, async () => {
  const chat = await frontEnd('header:X-Chat', { 'X-Chat': 'x'.repeat(257) });
  await expect(chat.say('Begin.')).rejects.toMatchObject({ status: 422 });
  const { items } = (await daemon.admin('GET', '/api/v1/keys')) as { items: { continue_by: string | null }[] };
  expect(items.map((key) => key.continue_by)).toContain('header:X-Chat');
  await expect(frontEnd('header:Authorization')).rejects.toThrow('continue_by');
});
