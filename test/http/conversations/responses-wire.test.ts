// What a request of the Responses protocol asks for, and what is refused (M3).
import { expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import type { JsonObject, JsonValue } from '../../../src/domain/json.ts';
import { NO_SPOOLED_STRINGS } from '../../../src/http/body/spooled-strings.ts';
import { readResponsesTurn } from '../../../src/http/conversations/responses-wire.ts';
import { makeTurnText } from '../../../src/http/conversations/reading/turn-text.ts';
import { NO_HEADERS, type TurnHeaders } from '../../../src/http/conversations/reading/turn-wire.ts';
import { responsesRequest } from '../../../src/wire/responses/request.ts';
import { fitsSchema } from '../../support/http/fits-schema.ts';

const SESSION = '0198c0de-0000-7000-8000-000000000001';
const OTHER = '0198c0de-0000-7000-8000-000000000002';
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function read(over: JsonObject, headers: Partial<TurnHeaders> = {}) {
  const body = { model: 'm', input: 'Hi', ...over };
  const text = makeTurnText(NO_SPOOLED_STRINGS, 1024 * 1024);
  const parts = { maxUploadBytes: 200, maxTextBytes: 4_194_304, spooled: NO_SPOOLED_STRINGS, text };
  const turn = await readResponsesTurn(responsesRequest.read(body, ''), parts, { ...NO_HEADERS, ...headers });
  expect(fitsSchema(responsesRequest, body)).toBe(true);
  return turn;
}

const refusal = async (over: JsonObject, headers: Partial<TurnHeaders> = {}) =>
  read(over, headers).then(
    () => 'accepted',
    (error: unknown) => (error instanceof ErrandError ? `${error.reason} ${error.message}` : Promise.reject(error)),
  );

const saying = (...content: JsonValue[]): JsonObject => ({ input: [{ role: 'user', content }] });

test('a text is the turn', { tags: ['M3-turn'] }, async () => {
  expect(await read({ stream: true, instructions: 'Be brief.', temperature: 1 })).toEqual({
    stream: true,
    ignored: [],
    input: {
      protocol: 'responses',
      model: 'm',
      content: [{ type: 'text', text: 'Hi' }],
      sessionId: null,
      offeredSession: null,
      idempotencyKey: null,
      background: null,
      response: { metadata: {}, previousRunId: null, format: null, isStored: true },
      includeUsage: false,
      outputSchema: null,
      resultInContent: false,
      resultTool: null,
      schemaField: null,
    },
  });
});

test('of items the last user message is the turn, and the others are ignored', {
  tags: ['M3-turn', '§1-last-user-message'],
}, async () => {
  const { input, ignored } = await read({
    tools: [{ type: 'function', name: 'add' }],
    input: [
      { role: 'developer', content: 'Rules.' },
      { type: 'message', role: 'user', content: 'First' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes?' }] },
      { role: 'user', content: [{ type: 'input_text', text: 'Second' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' },
      { type: 'function_call', call_id: 'c', name: 'add', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: '3', role: 'user' },
      { type: 'item_reference', id: 'msg_1' },
      { id: 'msg_2' },
    ],
  });
  expect(input.content).toEqual([{ type: 'text', text: 'Second' }]);
  expect(ignored).toEqual(['history', 'tools']);
});

test('an item of an earlier response that the input refers to says which one it is', {
  tags: ['M3-previous'],
}, async () => {
  const said = (id: string): JsonObject => ({
    input: [
      { type: 'item_reference', id: 'msg_0198c0de000070008000000000000009' },
      { type: 'item_reference', id },
      { role: 'user', content: 'And now?' },
    ],
  });
  const previousOf = async (over: JsonObject, headers?: Partial<TurnHeaders>) =>
    (await read(over, headers)).input.response?.previousRunId;
  for (const start of ['msg', 'fc'])
    expect(await previousOf(said(`${start}_${SESSION.replaceAll('-', '')}`))).toBe(SESSION);
  expect(await previousOf(said(`msg_${SESSION.replaceAll('-', '')}_2`))).toBe(SESSION);
  expect(await previousOf(said('msg_of_another_service'))).toBeNull();
  const response = `resp_${OTHER.replaceAll('-', '')}`;
  const referred = said(`msg_${SESSION.replaceAll('-', '')}`);
  expect(await previousOf({ ...referred, previous_response_id: response })).toBe(OTHER);
  // Who names the session has said where the turn belongs.
  expect(await previousOf(referred, { sessionId: OTHER })).toBeNull();
});

test('what is before an item that is referred to is in its session, and not ignored', {
  tags: ['M1-ignored'],
}, async () => {
  const [hello, now] = [
    { role: 'user', content: 'Hello' },
    { role: 'user', content: 'And now?' },
  ];
  const item = { type: 'item_reference', id: `msg_${SESSION.replaceAll('-', '')}` };
  const ignored = async (...input: JsonObject[]) => (await read({ input })).ignored;
  expect(await ignored(hello, item, now)).toEqual([]);
  expect(await ignored(hello, item, hello, now)).toEqual(['history']);
  expect(await ignored(hello, { ...item, id: 'msg_of_another_service' }, now)).toEqual(['history']);
  const response = `resp_${OTHER.replaceAll('-', '')}`;
  const other = { input: [hello, item, now], previous_response_id: response };
  expect((await read(other)).ignored).toEqual(['history']);
});

test('what came of a function is what the user says where it stands behind an item that is referred to, or alone', {
  tags: ['M3-turn'],
}, async () => {
  const hello = { role: 'user', content: 'Hello' };
  const call = { type: 'item_reference', id: `fc_${SESSION.replaceAll('-', '')}` };
  const result = { type: 'function_call_output', call_id: 'c', output: 'Booked.' };
  const told = async (...input: JsonObject[]) => {
    const turn = await read({ input });
    return [turn.input.content, turn.ignored];
  };
  expect(await told(hello, call, result)).toEqual([[{ type: 'text', text: 'Booked.' }], []]);
  expect(await told(result)).toEqual([[{ type: 'text', text: 'Booked.' }], []]);
  // Beside a user's message it counts for nothing (§1), which the reply says.
  expect(await told(hello, result)).toEqual([[{ type: 'text', text: 'Hello' }], ['tools']]);
  expect(await told(hello, call, { role: 'user', content: 'And now?' })).toEqual([
    [{ type: 'text', text: 'And now?' }],
    [],
  ]);
});

test('images and files come as OpenAI has them', { tags: ['M3-turn'] }, async () => {
  const { input } = await read(
    saying(
      { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${PIXEL}`, file_id: null },
      { type: 'input_image', image_url: 'https://pictures.example/a.png' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' },
      { type: 'input_file', filename: 'b.csv', file_data: 'YSxi' },
      { type: 'input_file', filename: 'c.pdf', file_data: 'attachments/x/c.pdf' },
    ),
  );
  expect(input.content).toMatchObject([
    { type: 'upload', media: 'image', mimeType: 'image/png' },
    { type: 'address', media: 'image', url: 'https://pictures.example/a.png', field: 'input[0].content[1].image_url' },
    { type: 'upload', media: 'file', name: 'a.pdf', mimeType: 'application/pdf', bytes: { size: 6 } },
    { type: 'upload', media: 'file', name: 'b.csv', mimeType: 'text/csv', bytes: { size: 3 } },
    { type: 'stored', media: 'file', name: 'c.pdf', path: 'attachments/x/c.pdf' },
  ]);
});

test('a session is named as conversation, in metadata or in a header', { tags: ['M3-turn'] }, async () => {
  for (const over of [
    { conversation: SESSION },
    { conversation: { id: SESSION.toUpperCase() } },
    { metadata: { session_id: SESSION } },
    { metadata: { session_id: SESSION }, conversation: SESSION },
  ])
    expect((await read(over)).input.sessionId).toBe(SESSION);
  const { input } = await read({}, { sessionId: SESSION, idempotencyKey: 'k' });
  expect(input).toMatchObject({ sessionId: SESSION, idempotencyKey: 'k' });
  const echo = { metadata: { a: '1', session_id: SESSION }, previous_response_id: `resp_${OTHER.replaceAll('-', '')}` };
  expect((await read(echo)).input.response).toMatchObject({ metadata: echo.metadata, previousRunId: OTHER });
});

test('text.format is the schema of the result', { tags: ['M3-format'] }, async () => {
  const schema = { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: false };
  const format = { type: 'json_schema', name: 'numbers', description: 'Of tides.', strict: true, schema };
  expect((await read({ text: { format, verbosity: 'low' } })).input).toMatchObject({
    outputSchema: { title: 'numbers', description: 'Of tides.', ...schema },
    resultInContent: true,
    response: { format },
  });
  expect((await read({ text: { format: { type: 'json_object' } } })).input.outputSchema).toEqual({ type: 'object' });
  expect((await read({ text: { format: { type: 'text' } } })).input.outputSchema).toBeNull();
  expect((await read({ text: { format: null } })).input).toMatchObject({
    outputSchema: null,
    response: { format: null },
  });
});

const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, 'v']));

test.each<[JsonObject, string]>([
  [{ input: null }, 'input: must be a string or an array of items'],
  [{ input: [] }, 'input: must not be empty'],
  [{ input: '' }, 'input: must not be empty'],
  [{ input: [{ role: 'system', content: 'x' }] }, 'input: must hold a message whose role is user'],
  [{ input: [{ role: 'user' }] }, 'input[0].content: must be a string or an array of blocks'],
  [saying({ type: 'input_text', text: '' }), 'input[0].content: must not be empty'],
  [saying({ type: 'input_audio' }), 'input[0].content[0].type: audio is not supported: send what it says as text'],
  [
    saying({ type: 'input_image', file_id: 'file-1' }),
    'input[0].content[0].file_id: is not supported: send the image as a data: URL',
  ],
  [
    saying({ type: 'input_file', file_id: 'file-1' }),
    'input[0].content[0].file_id: is not supported: send the file as file_data',
  ],
  [
    saying({ type: 'input_file', file_url: 'https://x.example/a.pdf' }),
    'input[0].content[0].file_url: is not supported: send the file as file_data',
  ],
  [saying({ type: 'input_file', filename: 'a.pdf' }), 'input[0].content[0].file_data: must be a string'],
  [
    saying({ type: 'input_file', file_data: 'QQ==' }),
    'input[0].content[0].file_data: must be a data: URL, an attachments/ path, or base64 with a media_type',
  ],
  [{ metadata: { a: 1 } }, 'metadata.a: must be a string'],
  [{ metadata: { a: 'v'.repeat(513) } }, 'metadata.a: must be at most 512 characters'],
  [{ metadata: pairs(17) }, 'metadata: must hold at most 16 pairs'],
  [{ metadata: { ['n'.repeat(65)]: 'v' } }, 'metadata: must have names of at most 64 characters'],
  [{ metadata: { session_id: 'x' } }, 'metadata.session_id: must be a UUID string'],
  [{ conversation: 'conv_1' }, 'conversation: must be a UUID string'],
  [{ conversation: 7 }, 'conversation: must be the id of a session'],
  [
    { conversation: SESSION, metadata: { session_id: OTHER } },
    'conversation: must name the same session as metadata and the header Errand-Session-Id',
  ],
  [
    { conversation: SESSION, previous_response_id: `resp_${'0'.repeat(32)}` },
    'conversation: must not be given together with previous_response_id',
  ],
  [
    { previous_response_id: 'resp_1' },
    'previous_response_id: must be the id of a response: resp_ and 32 hexadecimal digits',
  ],
  [
    { text: { format: { type: 'json_schema' } } },
    'text.format.schema: must be a JSON Schema: an object, true or false',
  ],
  [
    { text: { format: { type: 'json_schema', schema: { $ref: 'x' } } } },
    'text.format.schema/$ref: must be local: #/definitions/…',
  ],
])('%j is refused', async (over, words) => {
  expect(await refusal(over)).toBe(`unprocessable ${words}`);
});

test('a request of the largest metadata is taken', async () => {
  const metadata = Object.fromEntries(
    Array.from({ length: 16 }, (_, at) => [`${at}`.padStart(64, 'n'), '😀'.repeat(512)]),
  );
  expect((await read({ metadata })).input.response?.metadata).toEqual(metadata);
});
