// Official forms of blocks beyond texts and files: documents made of blocks, what a search found, what tools did, and what is refused by name.
import { expect, test } from 'vitest';
import { ErrandError } from '../../../../src/domain/errors.ts';
import type { JsonObject, JsonValue } from '../../../../src/domain/json.ts';
import { NO_SPOOLED_STRINGS } from '../../../../src/http/body/spooled-strings.ts';
import { readChatTurn } from '../../../../src/http/conversations/chat-wire.ts';
import { readMessagesTurn } from '../../../../src/http/conversations/messages-wire.ts';
import { makeTurnText } from '../../../../src/http/conversations/reading/turn-text.ts';
import { readResponsesTurn } from '../../../../src/http/conversations/responses-wire.ts';
import { chatRequest } from '../../../../src/wire/chat/request.ts';
import { messagesRequest } from '../../../../src/wire/messages/request.ts';
import { responsesRequest } from '../../../../src/wire/responses/request.ts';
import { fitsSchema } from '../../../support/http/fits-schema.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };
const text = (words: string) => ({ type: 'text', text: words });
const HI = text('Hi');

function partsOf() {
  const turnText = makeTurnText(NO_SPOOLED_STRINGS, 1_000);
  return { maxUploadBytes: 200, maxTextBytes: 1_000, spooled: NO_SPOOLED_STRINGS, text: turnText };
}

/** The content of a Messages turn, with the bytes of its files as text. */
async function contentOf(...content: JsonValue[]) {
  const body = { model: 'm', messages: [{ role: 'user', content }] };
  const { input } = await readMessagesTurn(messagesRequest.read(body, ''), partsOf());
  expect(fitsSchema(messagesRequest, body)).toBe(true);
  return Promise.all(
    input.content.map(async (block) => {
      if (block.type !== 'upload') return block;
      const bytes = Buffer.concat(await Array.fromAsync(block.bytes.pieces()));
      return block.media === 'image' ? 'image' : `${block.name} ${block.mimeType} ${bytes.toString()}`;
    }),
  );
}

const refusal = (asked: Promise<unknown>) =>
  asked.then(
    () => 'accepted',
    (error: unknown) => (error instanceof ErrandError ? `${error.reason} ${error.message}` : Promise.reject(error)),
  );

const document = (content: JsonValue) => ({ type: 'document', title: 'tides', source: { type: 'content', content } });

test('a document of texts and images is a file of the texts, and the images', { tags: ['M5-blocks'] }, async () => {
  expect(await contentOf(document('one text'))).toEqual(['tides text/plain one text']);
  expect(await contentOf(document([text('one 😀'), image, text('two')]), HI)).toEqual([
    'tides text/plain one 😀\n\ntwo',
    'image',
    HI,
  ]);
  expect(await contentOf(document([image]))).toEqual(['image']);
});

test('what a client says of a document is text behind it', { tags: ['M5-blocks'] }, async () => {
  const source = { type: 'text', media_type: 'text/plain', data: 'High at 3.' };
  const told = (more: JsonObject) => contentOf({ type: 'document', title: 'tides', source, ...more }, HI);
  const file = 'tides text/plain High at 3.';
  expect(await told({ context: 'Of last year.' })).toEqual([file, text('About tides: Of last year.'), HI]);
  expect(await told({ context: null })).toEqual([file, HI]);
  expect(await told({ context: '' })).toEqual([file, HI]);
  for (const title of [null, ''])
    expect(await contentOf({ ...document([image]), title, context: 'A map.' })).toEqual([
      'image',
      text('About the document: A map.'),
    ]);
  expect(await refusal(told({ context: 'x'.repeat(1_001) }))).toMatch(/^too_large|^unprocessable/);
});

test('what a search has found is text of the turn, with title and source', { tags: ['M5-blocks'] }, async () => {
  const found = {
    type: 'search_result',
    title: 'Tides',
    source: 'https://a.example',
    content: [text('high'), text('low')],
  };
  expect(await contentOf(found, HI)).toEqual([text('Tides (https://a.example)\n\nhigh\n\nlow'), HI]);
});

test('what tools did is ignored beside anything else, and read alone as what the user says', {
  tags: ['M5-blocks', 'M4-forced'],
}, async () => {
  const use = { type: 'tool_use', id: 'toolu_1', name: 'x', input: {} };
  const result = (content?: JsonValue) => ({
    type: 'tool_result',
    tool_use_id: 'toolu_1',
    ...(content !== undefined && { content }),
  });
  // Ignored means unread, too.
  expect(await contentOf(use, result([{ type: 'unknown' }]), HI)).toEqual([HI]);
  expect(await contentOf(use, result('metres is missing'))).toEqual([text('metres is missing')]);
  expect(await contentOf(result([text('a'), image]), result(), text(''), result([text('b')]))).toEqual([
    text('a'),
    'image',
    text('b'),
  ]);
  for (const empty of [result(), result([]), use])
    expect(await refusal(contentOf(empty))).toBe(
      'unprocessable messages[0].content: must say something, or have a tool_result that does',
    );
  expect(await refusal(contentOf(result([{ type: 'unknown' }])))).toContain('messages[0].content[0].content[0].type');
});

test('files inside of blocks count as those of the turn', { tags: ['M5-blocks'] }, async () => {
  const half = document(Array.from({ length: 51 }, () => image));
  expect(await refusal(contentOf(half, half))).toContain('must hold at most 100 attachments');
  expect(await refusal(contentOf(document('x'.repeat(201))))).toMatch(
    /^too_large messages\[0\]\.content\[0\]\.source\.content/,
  );
  const found = { type: 'search_result', title: 't', source: 's', content: [text('x'.repeat(1_001))] };
  expect(await refusal(contentOf(found))).toMatch(/^too_large messages\[0\]\.content\[0\]\.content\[0\]\.text/);
});

test('audio, ids of files and web addresses of documents are refused by name', { tags: ['M5-blocks'] }, async () => {
  const refused: readonly (readonly [JsonObject, string])[] = [
    [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }, 'content[0].source.file_id: is not supported'],
    [{ type: 'image', source: { type: 'file', file_id: 'file_1' } }, 'content[0].source.file_id: is not supported'],
    [
      { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } },
      'content[0].source.url: web addresses are not',
    ],
    [{ type: 'container_upload', file_id: 'file_1' }, 'content[0].type: file ids are not supported'],
  ];
  for (const [block, words] of refused) expect(await refusal(contentOf(block))).toContain(`messages[0].${words}`);
  const chat = (block: JsonObject) =>
    refusal(
      readChatTurn(chatRequest.read({ model: 'm', messages: [{ role: 'user', content: [block] }] }, ''), partsOf()),
    );
  const audio = { type: 'input_audio', input_audio: { data: '', format: 'wav' } };
  expect(await chat(audio)).toContain('messages[0].content[0].type: audio is not supported');
  expect(await chat({ type: 'file', file: { file_id: 'file-1' } })).toContain(
    'content[0].file.file_id: is not supported',
  );
  const responses = (block: JsonObject) =>
    refusal(
      readResponsesTurn(
        responsesRequest.read({ model: 'm', input: [{ role: 'user', content: [block] }] }, ''),
        partsOf(),
      ),
    );
  expect(await responses(audio)).toContain('input[0].content[0].type: audio is not supported');
  for (const name of ['file_id', 'file_url'])
    expect(await responses({ type: 'input_file', [name]: 'x' })).toContain(
      `input[0].content[0].${name}: is not supported`,
    );
});

test('what came of a function is the input of a response without a message of its user', {
  tags: ['M4-forced'],
}, async () => {
  const call = { type: 'function_call', call_id: 'call_1', name: 'x', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'call_1', output: 'metres is missing' };
  const read = async (...input: JsonValue[]) =>
    (await readResponsesTurn(responsesRequest.read({ model: 'm', input }, ''), partsOf())).input.content;
  expect(await read(call, output)).toEqual([text('metres is missing')]);
  expect(await read({ role: 'user', content: 'Hi' }, call, output)).toEqual([HI]);
  expect(await refusal(read(call))).toBe('unprocessable input: must hold a message whose role is user');
});
