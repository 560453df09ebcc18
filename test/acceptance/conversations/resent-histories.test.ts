// What clients that resend their conversation make of it: very long, edited, in another order, with images.
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { seeingModel } from '../../support/model/models-yaml.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } } as const;

type Message = OpenAI.ChatCompletionMessageParam;
const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });

let model: ModelServer;
let daemon: DaemonProcess;
let client: OpenAI;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({ modelsYaml: seeingModel(model.url) });
  const { key } = (await daemon.admin('POST', '/api/v1/keys', {
    user: daemon.adminName,
    scope: 'conversation',
    continue_by: 'history',
  })) as { key: string };
  client = new OpenAI({ apiKey: key, baseURL: `${daemon.url}/openapi/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await daemon?.close();
  await model?.close();
});

async function send(...messages: Message[]) {
  const { data, response } = await client.chat.completions.create({ model: 'errand', messages }).withResponse();
  return { session: response.headers.get('x-session-id')!, answer: data.choices[0]!.message.content! };
}

const lastAsked = () => JSON.stringify(model.requests.at(-1)?.body.messages);

test('10,000 messages that began elsewhere open a session, and are one conversation from then on', {
  tags: ['M1-history'],
}, async () => {
  const long = Array.from({ length: 9_996 }, (_, at) => (at % 2 === 0 ? user : assistant)(`Message ${at}.`));
  const first = await send(...long, user('And now? [[text=Done.]]'));
  expect(lastAsked()).toContain('Message 9995.');
  const next = [...long, user('And now? [[text=Done.]]'), assistant('Done.'), user('More? [[text=No.]]')];
  expect((await send(...next)).session).toBe(first.session);
  expect((await send(...next.slice(1))).session).not.toBe(first.session);
});

test('a conversation in another order is another one', { tags: ['M1-history'] }, async () => {
  const [one, two] = [user('One. [[text=First.]]'), user('Two. [[text=Second.]]')];
  const { session } = await send(one);
  expect((await send(one, assistant('First.'), two)).session).toBe(session);
  const last = user('Three. [[text=Third.]]');
  expect((await send(two, assistant('Second.'), one, assistant('First.'), last)).session).not.toBe(session);
  expect((await send(one, assistant('First.'), two, assistant('Second.'), last)).session).toBe(session);
});

test('images count for nothing: clients shrink them, and leave them out', { tags: ['M1-history'] }, async () => {
  const words = { type: 'text', text: 'What is it? [[text=A pixel.]]' } as const;
  const { session } = await send({ role: 'user', content: [words, IMAGE] });
  const next = user('Sure? [[text=Yes.]]');
  expect((await send({ role: 'user', content: [words] }, assistant('A pixel.'), next)).session).toBe(session);
  const image: Message = { role: 'user', content: [words, IMAGE] };
  const last = user('Really? [[text=Yes!]]');
  expect((await send(image, assistant('A pixel.'), next, assistant('Yes.'), last)).session).toBe(session);
  // The model has seen it once, with the turn that it came with.
  expect(lastAsked().split(PIXEL)).toHaveLength(2);
});

test('what an assistant said with a picture, with nothing, or as null is no obstacle', {
  tags: ['M1-history'],
}, async () => {
  const first = user('Begin. [[text=Begun.]]');
  const { session } = await send(first);
  const called: Message = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{}' } }],
  };
  const result: Message = { role: 'tool', tool_call_id: 'c', content: '3' };
  const next = user('Go on. [[text=Gone.]]');
  expect((await send(first, called, result, assistant('Begun.'), next)).session).toBe(session);
});

test('a stream whose reply broke off and was begun again is resent as it was, and goes on in its session', {
  tags: ['M1-history'],
}, async () => {
  const heard = Promise.withResolvers<void>();
  const broken = { text: ['The answer ', 'is ', 'long'], cut: 2, cutAfter: heard.promise };
  model.enqueue(broken, { text: 'The answer is forty-two.' });
  const first = user('How many?');
  const { data, response } = await client.chat.completions
    .create({ model: 'errand', messages: [first], stream: true })
    .withResponse();
  let streamed = '';
  for await (const chunk of data) {
    streamed += chunk.choices[0]?.delta.content ?? '';
    if (streamed.includes('is ')) heard.resolve();
  }
  expect(streamed).toMatch(/^The answer .+The answer is forty-two\.$/s);
  const next = await send(first, assistant(streamed), user('Sure? [[text=Yes.]]'));
  expect(next.session).toBe(response.headers.get('x-session-id'));
});
