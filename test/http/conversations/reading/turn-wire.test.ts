import { expect, test } from 'vitest';
import { ErrandError } from '../../../../src/domain/errors.ts';
import type { JsonObject, JsonValue } from '../../../../src/domain/json.ts';
import { readChatTurn } from '../../../../src/http/conversations/chat-wire.ts';
import type { ContentParts } from '../../../../src/http/conversations/reading/content-wire.ts';
import { NO_SPOOLED_STRINGS } from '../../../../src/http/body/spooled-strings.ts';
import { readMessagesTurn } from '../../../../src/http/conversations/messages-wire.ts';
import { makeTurnText } from '../../../../src/http/conversations/reading/turn-text.ts';
import { chatRequest } from '../../../../src/wire/chat/request.ts';
import { messagesRequest } from '../../../../src/wire/messages/request.ts';
import { fitsSchema } from '../../../support/http/fits-schema.ts';

const SHAPES = { messages: messagesRequest, chat: chatRequest };

/** A request as its route reads it, and then its handler. */
const PARSERS = {
  messages: async (body: JsonObject, parts: ContentParts) => readMessagesTurn(messagesRequest.read(body, ''), parts),
  chat: async (body: JsonObject, parts: ContentParts) => readChatTurn(chatRequest.read(body, ''), parts),
};
type Name = keyof typeof PARSERS;
const SESSION = '0198C0DE-0000-7000-8000-000000000001';

const turn = (over: JsonObject = {}): JsonObject => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  ...over,
});
const saying = (content: JsonObject['x'] & {}): JsonObject => turn({ messages: [{ role: 'user', content }] });

/**
 * Parses a body without long strings, and collects the bytes of uploads. What is accepted fits the request's JSON schema.
 */
async function parse(name: Name, body: JsonObject) {
  const text = makeTurnText(NO_SPOOLED_STRINGS, 1024 * 1024);
  const { input, ...rest } = await PARSERS[name](body, {
    maxUploadBytes: 30,
    maxTextBytes: 4_194_304,
    spooled: NO_SPOOLED_STRINGS,
    text,
  });
  expect(fitsSchema(SHAPES[name], body)).toBe(true);
  const content = await Promise.all(
    input.content.map(async (block) => {
      if (block.type !== 'upload') return block;
      return { ...block, bytes: Buffer.concat(await Array.fromAsync(block.bytes.pieces())) };
    }),
  );
  return { ...rest, input: { ...input, content } };
}

/** The refusal as `status-less reason: message`. */
async function refusal(name: Name, body: JsonObject): Promise<string> {
  try {
    await parse(name, body);
  } catch (error) {
    if (error instanceof ErrandError) return `${error.reason} ${error.message}`;
    throw error;
  }
  return 'accepted';
}

/** A GIF with this size in its header. */
function aGif(width: number, height: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width);
  size.writeUInt16LE(height, 2);
  return Buffer.concat([Buffer.from('GIF89a'), size, Buffer.from([0, 0, 0, 0x3b])]);
}

const both: readonly Name[] = ['messages', 'chat'];
const NUL = 'a\u0000b';
const LONE = 'a\ud800b';

/** Request bodies that both protocols refuse, with the words they do it in. */
const REFUSED: readonly (readonly [body: JsonObject, words: string])[] = [
  [turn({ model: null }), 'model: must be a string'],
  [turn({ model: '' }), 'model: must not be empty'],
  [turn({ model: 'm'.repeat(257) }), 'model: must be at most 256 characters'],
  [turn({ model: '😀'.repeat(257) }), 'model: must be at most 256 characters'],
  [turn({ model: NUL }), 'model: must not contain a NUL character'],
  [turn({ stream: 1 }), 'stream: must be true or false'],
  [turn({ metadata: 'x' }), 'metadata: must be an object'],
  [turn({ metadata: { session_id: 'x' } }), 'metadata.session_id: must be a UUID string'],
  [turn({ metadata: { session_id: 7 } }), 'metadata.session_id: must be a UUID string'],
  [turn({ metadata: { session_id: '' } }), 'metadata.session_id: must be a UUID string'],
  [turn({ messages: null }), 'messages: must be an array'],
  [turn({ messages: [] }), 'messages: must not be empty'],
  [
    turn({ messages: Array.from({ length: 10_001 }, () => ({ role: 'user', content: 'x' })) }),
    'messages: must hold at most 10000 messages',
  ],
  [turn({ messages: [{ role: 'assistant', content: 'x' }] }), 'messages: must hold a message whose role is user'],
  [turn({ messages: [7, { role: 'user', content: 'x' }] }), 'messages[0]: must be an object'],
  [turn({ messages: [{ role: 'user', content: 'x' }, { role: 3 }] }), 'messages[1].role: must be a string'],
  [turn({ messages: [{ role: 'user' }] }), 'messages[0].content: must be a string or an array of blocks'],
  [saying(''), 'messages[0].content: must not be empty'],
  [saying([]), 'messages[0].content: must not be empty'],
  [saying([{ type: 'text', text: '' }]), 'messages[0].content: must not be empty'],
  [saying(NUL), 'messages[0].content: must not contain a NUL character'],
  [saying(LONE), 'messages[0].content: must not contain a lone surrogate'],
  [saying([{ type: 'text', text: 7 }]), 'messages[0].content[0].text: must be a string'],
  [saying([{ type: 'text', text: LONE }]), 'messages[0].content[0].text: must not contain a lone surrogate'],
  [saying(['x']), 'messages[0].content[0]: must be an object'],
  [saying([{}]), 'messages[0].content[0].type: must be a string'],
  [
    saying(Array.from({ length: 1_001 }, () => ({ type: 'text', text: 'x' }))),
    'messages[0].content: must hold at most 1000 blocks',
  ],
  [
    saying(Array.from({ length: 101 }, () => ({ type: 'file' }))),
    'messages[0].content: must hold at most 100 attachments',
  ],
  [saying([{ type: 'file', source: 7 }]), 'messages[0].content[0].source: must be an object'],
  [
    saying([{ type: 'file', source: { file_id: 'f' } }]),
    'messages[0].content[0].source.file_id: is not supported: send the bytes as base64',
  ],
  [saying([{ type: 'file', source: {} }]), 'messages[0].content[0].source.data: must be a string'],
  [saying([{ type: 'file', source: { data: '' } }]), 'messages[0].content[0].source.data: must not be empty'],
  [
    saying([{ type: 'file', source: { data: 'QQ==' } }]),
    'messages[0].content[0].source.data: must be a data: URL, an attachments/ path, or base64 with a media_type',
  ],
  [
    saying([{ type: 'file', source: { data: 'QQ==', media_type: 'text' } }]),
    'messages[0].content[0].source.media_type: must name a media type such as image/png',
  ],
  [
    saying([{ type: 'file', source: { data: 'https://x.example/a.pdf' } }]),
    'messages[0].content[0].source.data: web addresses are not supported for files: send the file as base64',
  ],
  [
    saying([{ type: 'document', file_name: 'a\nb', source: { data: 'QQ==' } }]),
    'messages[0].content[0].file_name: must not contain control characters',
  ],
  ...['QQ', 'QQ=', 'QR==', 'Q Q==', 'QQ==\n', '-_==', 'QQ==QQ=='].map(
    (data) =>
      [
        saying([{ type: 'file', source: { data, media_type: 'text/plain' } }]),
        'messages[0].content[0].source.data: must be standard Base64',
      ] as const,
  ),
  [
    saying([{ type: 'file', source: { data: 'data:text/plain,hello' } }]),
    'messages[0].content[0].source.data: must be a data URL of the form data:<media type>;base64,<data>',
  ],
];

const REFUSED_IMAGES: readonly (readonly [bytes: Buffer, mimeType: string, words: string])[] = [
  [Buffer.from('no picture'), 'image/png', 'must be a readable PNG, JPEG, GIF or WebP image'],
  [Buffer.from('%PDF-1.7 no picture'), 'image/jpeg', 'must be a readable PNG, JPEG, GIF or WebP image'],
  [aGif(1, 1).subarray(0, 8), 'image/gif', 'must be a readable PNG, JPEG, GIF or WebP image'],
  [aGif(0, 0), 'image/gif', 'must be a readable PNG, JPEG, GIF or WebP image'],
  [aGif(50_000, 50_000), 'image/png', 'must have at most 100 megapixels, but is 50000 × 50000'],
];

test.each(both.flatMap((name) => REFUSED_IMAGES.map((refused) => [name, ...refused] as const)))(
  '%s refuses an image: %s as %s',
  async (name, bytes, mimeType, words) => {
    const data = bytes.toString('base64');
    const [block, field] =
      name === 'chat'
        ? [{ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }, 'image_url.url']
        : [{ type: 'image', source: { type: 'base64', media_type: mimeType, data } }, 'source.data'];
    expect(await refusal(name, saying([block]))).toBe(`unprocessable messages[0].content[0].${field}: ${words}`);
  },
);

test('an image of a kind that no model takes is kept, and so is one under a wrong name', async () => {
  const image = (bytes: Buffer, mimeType: string) => ({
    type: 'image',
    source: { type: 'base64', media_type: mimeType, data: bytes.toString('base64') },
  });
  expect(await refusal('messages', saying([image(Buffer.from('<svg/>'), 'image/svg+xml')]))).toBe('accepted');
  expect(await refusal('messages', saying([image(aGif(10_000, 10_000), 'image/jpeg')]))).toBe('accepted');
});

test.each(both.flatMap((name) => REFUSED.map(([body, words]) => ({ name, words, body }))))(
  '$name refuses: $words',
  { tags: ['§4.2-file-ids', 'A4-types'] },
  async ({ name, body, words }) => {
    expect(await refusal(name, body)).toBe(`unprocessable ${words}`);
  },
);

const ONLY: readonly (readonly [Name, JsonObject, string])[] = [
  ['messages', turn({ max_tokens: 1.5 }), 'max_tokens: must be an integer'],
  ['messages', turn({ temperature: '1' }), 'temperature: must be a number'],
  ['messages', turn({ stop_sequences: ['a', 1] }), 'stop_sequences[1]: must be a string'],
  ['messages', turn({ system: 5 }), 'system: must be a string or an array'],
  ['messages', turn({ background: 'yes' }), 'background: must be true or false'],
  ['messages', turn({ background: true }), 'idempotency_key: is required for a background run'],
  [
    'messages',
    turn({ background: true, idempotency_key: 'a', stream: true }),
    'stream: must be false for a background run',
  ],
  ['messages', turn({ background: 1 }), 'background: must be true or false'],
  [
    'messages',
    turn({ output_format: { type: 'json_object', schema: {} } }),
    'output_format.type: must be one of json_schema',
  ],
  ['messages', turn({ output_format: 'json_schema' }), 'output_format: must be an object'],
  [
    'messages',
    turn({ output_format: { type: 'json_schema' } }),
    'output_format.schema: must be a JSON Schema: an object, true or false',
  ],
  [
    'messages',
    turn({ output_format: { type: 'json_schema', schema: { items: { $ref: 'x' } } } }),
    'output_format.schema/items/$ref: must be local: #/definitions/…',
  ],
  ['messages', turn({ background_payload: 'a'.repeat(8_193) }), 'background_payload: must be at most 8192 characters'],
  ['messages', turn({ background_payload: 'QR==' }), 'background_payload: must be standard Base64'],
  ['messages', turn({ idempotency_key: '' }), 'idempotency_key: must not be empty'],
  ['messages', turn({ idempotency_key: 'k'.repeat(129) }), 'idempotency_key: must be at most 128 characters'],
  ['messages', turn({ idempotency_key: 'a\tb' }), 'idempotency_key: must not contain control characters'],
  ['messages', turn({ idempotency_key: 'a\u0085b' }), 'idempotency_key: must not contain control characters'],
  ['messages', turn({ idempotency_key: 7 }), 'idempotency_key: must be a string'],
  [
    'messages',
    saying([{ type: 'image_url', image_url: 'x' }]),
    'messages[0].content[0].type: must be one of text, image, file, document, search_result, tool_use, tool_result',
  ],
  [
    'messages',
    saying([{ type: 'image', source: { data: 'QQ==', media_type: 'text/plain' } }]),
    'messages[0].content[0].source.data: must be an image, but its media type is text/plain',
  ],
  [
    'messages',
    saying([{ type: 'image', source: { type: 'url', url: 'HTTPS://[x/a.png' } }]),
    'messages[0].content[0].source.url: must be a valid web address of at most 8192 characters',
  ],
  ['chat', turn({ stream_options: [] }), 'stream_options: must be an object'],
  ['chat', turn({ stream_options: { include_usage: 'x' } }), 'stream_options.include_usage: must be true or false'],
  [
    'chat',
    saying([{ type: 'image' }]),
    'messages[0].content[0].type: must be one of text, image_url, input_image, file, document',
  ],
  ['chat', saying([{ type: 'image_url' }]), 'messages[0].content[0].image_url: must be an object'],
  [
    'chat',
    saying([{ type: 'image_url', image_url: { url: 'QQ==' } }]),
    'messages[0].content[0].image_url.url: must be a data: URL, an attachments/ path, or base64 with a media_type',
  ],
  [
    'chat',
    saying([{ type: 'input_image', image_url: `http://x.example/${'a'.repeat(8192)}` }]),
    'messages[0].content[0].image_url: must be a valid web address of at most 8192 characters',
  ],
  [
    'chat',
    saying([{ type: 'input_image', file_id: 'f' }]),
    'messages[0].content[0].file_id: is not supported: send the image as a data: URL',
  ],
  [
    'chat',
    saying([{ type: 'file', file: { file_id: 'f' } }]),
    'messages[0].content[0].file.file_id: is not supported: send the file as file_data',
  ],
  ['chat', saying([{ type: 'file' }]), 'messages[0].content[0].source: must be an object'],
  [
    'chat',
    saying([{ type: 'file', file: { filename: 'a.zzz', file_data: 'QQ==' } }]),
    'messages[0].content[0].file.file_data: must be a data: URL, an attachments/ path, or base64 with a media_type',
  ],
];

test.each(ONLY)('%s refuses %j', { tags: ['§4.3-sources'] }, async (name, body, words) => {
  expect(await refusal(name, body)).toBe(`unprocessable ${words}`);
});

test.each(both)(
  '%s takes only the last user message, and ignores what surrounds it',
  { tags: ['§1-last-user-message', '§4.3-last-user-message'] },
  async (name) => {
    const messages = [
      { role: 'system', content: 7 },
      { role: 'user', content: 'first' },
      { role: 'assistant' },
      { role: 'user', content: 'second' },
      { role: 'tool', content: null },
    ];
    const { input, ignored } = await parse(name, turn({ messages }));
    expect(input.content).toEqual([{ type: 'text', text: 'second' }]);
    // What came of tools after it, too.
    expect(ignored).toEqual(['history', 'tools']);
  },
);

test.each(both)(
  '%s takes unknown fields, nulls for absent ones, and a session id in lower case',
  { tags: ['§1-unknown-fields', '§4.3-parameters', '§9-unknown-fields'] },
  async (name) => {
    const body = turn({ metadata: { session_id: SESSION, other: [1] }, stream: null, tools: [{}], n: 3 });
    expect(await parse(name, body)).toMatchObject({
      stream: false,
      input: {
        protocol: name,
        model: 'm',
        sessionId: SESSION.toLowerCase(),
        idempotencyKey: null,
        includeUsage: false,
      },
    });
  },
);

test.each(both)(
  '%s counts a model of 256 characters outside the basic plane as 256',
  { tags: ['A5-limits'] },
  async (name) => {
    expect((await parse(name, turn({ model: '😀'.repeat(256) }))).input.model).toHaveLength(512);
  },
);

test.each(both)(
  '%s reads files from base64, data URLs and stored paths, whatever their type says',
  { tags: ['§4.2-blocks', '§4.3-sources', 'C3'] },
  async (name) => {
    const source = (data: string, more: JsonObject = {}) => ({ type: 'url', data, ...more });
    const { content } = (
      await parse(
        name,
        saying([
          { type: 'text', text: 'see' },
          { type: 'file', file_name: 'a.txt', source: source('aGk=', { media_type: 'Text/Plain; charset=utf-8' }) },
          { type: 'document', source: source('DATA:application/pdf;base64,aGk=') },
          { type: 'file', source: source('attachments/1/b.txt') },
        ]),
      )
    ).input;
    expect(content).toEqual([
      { type: 'text', text: 'see' },
      { type: 'upload', media: 'file', name: 'a.txt', mimeType: 'text/plain', bytes: Buffer.from('hi') },
      { type: 'upload', media: 'file', name: null, mimeType: 'application/pdf', bytes: Buffer.from('hi') },
      { type: 'stored', media: 'file', name: null, path: 'attachments/1/b.txt' },
    ]);
  },
);

test('images are read in each protocol in its own form', { tags: ['§4.2-blocks', '§4.3-sources'] }, async () => {
  const upload = { type: 'upload', media: 'image', mimeType: 'image/gif', bytes: aGif(1, 1) };
  const data = aGif(1, 1).toString('base64');
  const image = { type: 'image', file_name: 'p.gif', source: { type: 'base64', media_type: 'image/gif', data } };
  expect((await parse('messages', saying([image]))).input.content).toEqual([{ ...upload, name: 'p.gif' }]);
  const url = `data:image/gif;base64,${data}`;
  const forms = [
    { type: 'image_url', image_url: { url } },
    { type: 'input_image', image_url: url },
  ];
  const expected = { ...upload, name: null };
  expect((await parse('chat', saying(forms))).input.content).toEqual([expected, expected]);
});

test('files come in the forms of the official clients: text as it is, and file_data', {
  tags: ['M5-blocks'],
}, async () => {
  const plain = {
    type: 'document',
    title: 'a.txt',
    source: { type: 'text', media_type: 'text/plain', data: 'abcd 😀' },
  };
  const upload = { type: 'upload', media: 'file', mimeType: 'text/plain', name: 'a.txt' };
  for (const name of both)
    expect((await parse(name, saying([plain]))).input.content).toEqual([{ ...upload, bytes: Buffer.from('abcd 😀') }]);
  const url = { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,QQ==' } };
  const bare = { type: 'file', file: { filename: 'a.txt', file_data: 'QQ==' } };
  const read = { ...upload, bytes: Buffer.from('A') };
  expect((await parse('chat', saying([url, bare]))).input.content).toEqual([read, read]);
  expect(await refusal('messages', saying([{ ...plain, source: { type: 'text', data: '' } }]))).toBe(
    'unprocessable messages[0].content[0].source.data: must not be empty',
  );
  expect(await refusal('messages', saying([{ ...plain, source: { type: 'text', data: 'x'.repeat(31) } }]))).toMatch(
    /^too_large messages\[0\]\.content\[0\]\.source\.data: /,
  );
});

test('images by web address are read in each protocol in its own form, to be fetched later', {
  tags: ['§4.2-blocks', '§4.3-sources'],
}, async () => {
  const url = 'https://x.example/a.png?size=1';
  const address = { type: 'address', media: 'image', url };
  const image = (source: JsonObject) => ({ type: 'image', file_name: 'a.png', source });
  const messages = saying([image({ type: 'url', url }), image({ type: 'base64', media_type: 'image/png', data: url })]);
  expect((await parse('messages', messages)).input.content).toEqual([
    { ...address, name: 'a.png', field: 'messages[0].content[0].source.url' },
    { ...address, name: 'a.png', field: 'messages[0].content[1].source.data' },
  ]);
  const chat = saying([
    { type: 'image_url', image_url: { url } },
    { type: 'input_image', image_url: url },
  ]);
  expect((await parse('chat', chat)).input.content).toEqual([
    { ...address, name: null, field: 'messages[0].content[0].image_url.url' },
    { ...address, name: null, field: 'messages[0].content[1].image_url' },
  ]);
});

test.each(both)(
  '%s takes an attachment of exactly the limit, and refuses one byte more with 413',
  { tags: ['§7-image-size', '§8-attachment-size'] },
  async (name) => {
    const file = (bytes: number) =>
      saying([{ type: 'file', source: { media_type: 'text/plain', data: Buffer.alloc(bytes).toString('base64') } }]);
    expect(await refusal(name, file(30))).toBe('accepted');
    expect(await refusal(name, file(31))).toMatch(/^too_large messages\[0\]\.content\[0\]\.source\.data: /);
    expect(await refusal(name, file(3_000))).toMatch(/^too_large /);
  },
);

test('the Messages protocol keeps an idempotency key of 128 code points', {
  tags: ['§8-idempotency-key', 'D4'],
}, async () => {
  const key = '😀'.repeat(128);
  expect((await parse('messages', turn({ idempotency_key: key }))).input.idempotencyKey).toBe(key);
});

test('a background payload without background is checked and then ignored', { tags: ['D5'] }, async () => {
  expect(await refusal('messages', turn({ background_payload: 'aGk=', background: false }))).toBe('accepted');
});

test('a document of the Anthropic client is named by its title when it has no file name', async () => {
  const nameOf = async (names: JsonObject) => {
    const source = { type: 'base64', media_type: 'text/plain', data: 'aGk=' };
    const { input } = await parse('messages', saying([{ type: 'document', source, ...names }]));
    const [block] = input.content;
    return block?.type === 'upload' ? block.name : undefined;
  };
  expect(await nameOf({ title: 'Tides of March' })).toBe('Tides of March');
  expect(await nameOf({ title: 'Tides of March', file_name: 'tides.txt' })).toBe('tides.txt');
  expect(await nameOf({ title: 't'.repeat(1000) })).toBe('t'.repeat(255));
  expect(await nameOf({})).toBeNull();
});

const LIST = { type: 'object', properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } };
const asked = (response_format: JsonValue) => turn({ response_format });
const askedFor = (schema: JsonValue, more: JsonObject = {}) =>
  asked({ type: 'json_schema', json_schema: { name: 'answer', schema, ...more } });

test.each<[what: string, format: JsonObject, schema: JsonObject | null]>([
  ['nothing', turn(), null],
  ['null', asked(null), null],
  ['text', asked({ type: 'text' }), null],
  ['any object', asked({ type: 'json_object' }), { type: 'object' }],
  ['a schema', askedFor({ type: 'integer' }, { strict: true }), { title: 'answer', type: 'integer' }],
  [
    'a schema in words',
    askedFor({ title: 'own', type: 'integer' }, { description: 'How many.', strict: false }),
    { title: 'own', description: 'How many.', type: 'integer' },
  ],
  [
    'a schema of a newer draft',
    askedFor({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: { a: { $ref: '#/$defs/pair' } },
      $defs: { pair: { prefixItems: [{ type: 'string', nullable: true }], items: false } },
    }),
    {
      title: 'answer',
      properties: { a: { $ref: '#/definitions/pair' } },
      definitions: { pair: { items: [{ type: ['string', 'null'] }], additionalItems: false } },
    },
  ],
  [
    'a root that refers to itself',
    askedFor(LIST),
    {
      title: 'answer',
      $ref: '#/definitions/root',
      definitions: {
        root: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/definitions/root' }, { type: 'null' }] } } },
      },
    },
  ],
  [
    "a library's spelling of an address",
    askedFor({ type: 'string', format: 'email', pattern: '^(?!\\.)[a-z]+@[a-z]+$' }),
    { title: 'answer', type: 'string', format: 'email' },
  ],
])('a chat request may ask for %s', async (_, body, schema) => {
  expect((await parse('chat', body)).input.outputSchema).toEqual(schema);
});

test.each<[body: JsonObject, words: string]>([
  [asked('json'), 'response_format: must be an object'],
  [asked({}), 'response_format.type: must be one of text, json_object, json_schema'],
  [asked({ type: 'grammar' }), 'response_format.type: must be one of text, json_object, json_schema'],
  [asked({ type: 'json_schema' }), 'response_format.json_schema: must be an object'],
  [asked({ type: 'json_schema', json_schema: { name: 'x' } }), 'response_format.json_schema.schema: must be a JSON'],
  [askedFor({}, { strict: 'yes' }), 'response_format.json_schema.strict: must be true or false'],
  [askedFor({}, { name: 7 }), 'response_format.json_schema.name: must be a string'],
  [askedFor({}, { description: 7 }), 'response_format.json_schema.description: must be a string'],
  [
    askedFor({ items: { contains: {}, unevaluatedItems: false } }),
    'response_format.json_schema.schema/items/unevaluatedItems: has no equivalent in JSON Schema Draft-07',
  ],
  [askedFor({ $schema: 'https://example.org/mine' }), 'response_format.json_schema.schema/$schema: must be'],
  [
    askedFor({ items: { $ref: '#/properties/a' } }),
    'response_format.json_schema.schema/items/$ref: must name a schema',
  ],
])('%j is refused on chat', async (body, words) => {
  expect(await refusal('chat', body)).toContain(`unprocessable ${words}`);
});

const configured = (schema: JsonValue, more: JsonObject = {}): JsonObject =>
  turn({ output_config: { effort: 'high', format: { type: 'json_schema', schema } }, ...more });

test("a Messages request of the client library has its schema in 'output_config', in the library's own words", async () => {
  const schema = { properties: { a: { $ref: '#/$defs/pair' } }, $defs: { pair: { type: 'array' } } };
  const { input } = await parse('messages', configured(schema));
  expect(input).toMatchObject({
    resultInContent: true,
    outputSchema: { properties: { a: { $ref: '#/definitions/pair' } }, definitions: { pair: { type: 'array' } } },
  });
});

test("'output_config' without a format asks for nothing", async () => {
  for (const output_config of [null, {}, { effort: 'low' }, { format: null }]) {
    const { input } = await parse('messages', { ...configured({}), output_config });
    expect(input).toMatchObject({ resultInContent: false, outputSchema: null });
  }
});

test.each<[body: JsonObject, words: string]>([
  [
    configured({}, { output_format: { type: 'json_schema', schema: {} } }),
    'output_config.format: must not be given together',
  ],
  [configured({ items: { maxContains: 1, contains: {} } }), 'output_config.format.schema/items/maxContains: has no'],
  [configured({}, { output_config: { format: { type: 'grammar' } } }), 'output_config.format.type: must be'],
  [configured({}, { output_config: 'json' }), 'output_config: must be an object'],
])('%j is refused on Messages', async (body, words) => {
  expect(await refusal('messages', body)).toContain(`unprocessable ${words}`);
});
