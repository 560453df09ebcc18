import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { makeAskProvider } from '../../../src/operations/people/sso.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const TOKEN = 'se/cr&et=+%';

/** A provider with this reply, and the requests it got. */
async function provider(answer: Answer, timeoutMs = 60_000) {
  const asked: { readonly method: string | undefined; readonly url: URL }[] = [];
  const server = createServer((request, response) => {
    asked.push({ method: request.method, url: new URL(request.url ?? '', 'http://provider') });
    answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const sso = {
    provider: 'corp',
    userinfoUrl: `http://127.0.0.1:${port}/user?app=errand`,
    tokenParameter: 'ticket',
    timeoutMs,
    defaults: { team: '', functionalRole: '', scenario: '' },
  };
  return { asked, sso, ask: () => makeAskProvider()(sso, TOKEN) };
}

const says =
  (body: unknown, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

test('the provider is asked once, by GET, with the token in the named parameter', {
  tags: ['§4.1-rule-2'],
}, async () => {
  const { asked, ask } = await provider(says({ code: 0, data: { empNo: 'E-10086' } }));
  expect(await ask()).toBe('E-10086');
  expect(asked).toHaveLength(1);
  expect(asked[0]?.method).toBe('GET');
  expect([...(asked[0]?.url.searchParams ?? [])]).toEqual([
    ['app', 'errand'],
    ['ticket', TOKEN],
  ]);
});

test.each([
  ['a text', { data: { empNo: '0042' } }, '0042'],
  ['a number', { data: { empNo: 42 } }, '42'],
  ['zero', { data: { empNo: 0 } }, '0'],
  ['a text beside a code of its own', { code: 200, data: { empNo: 'x.y@corp' } }, 'x.y@corp'],
])('an empNo that is %s is the account', { tags: ['§4.1-rule-2'] }, async (_what, body, account) => {
  expect(await (await provider(says(body))).ask()).toBe(account);
});

test.each<[string, Answer]>([
  ['401', says({}, 401)],
  ['403', says('<html>', 403)],
  ['no data and code 1', says({ code: 1, data: null })],
  ['no data and a code in text', says({ code: 'E401' })],
  ['no data and a negative code', says({ code: -1, message: 'expired' })],
])('%s means that the token is wrong', { tags: ['B8'] }, async (_what, answer) => {
  await expect((await provider(answer)).ask()).rejects.toMatchObject({ reason: 'unauthenticated' });
});

test.each<[string, Answer, RegExp]>([
  ['500', says({ data: { empNo: '1' } }, 500), /status 500/],
  ['201', says({ data: { empNo: '1' } }, 201), /status 201/],
  ['404', says('', 404), /status 404/],
  ['an HTML page', says('<html>Sign in</html>'), /not JSON/],
  ['nothing', says(''), /not JSON/],
  ['half a document', says('{"data":{"empNo":"1"'), /not JSON/],
  ['an array', says([{ empNo: '1' }]), /no JSON object/],
  ['no data and code 0', says({ code: 0, data: null }), /empNo/],
  ['no data and code "0"', says({ code: '0' }), /empNo/],
  ['no data and no code', says({}), /empNo/],
  ['data that is a text', says({ data: '10086' }), /empNo/],
  ['data that is a list', says({ data: [{ empNo: '1' }] }), /empNo/],
  ['no empNo', says({ data: {} }), /empNo/],
  ['an empty empNo', says({ data: { empNo: '' } }), /empNo/],
  ['an empNo of blanks', says({ data: { empNo: ' ' } }), /empNo/],
  ['an empNo that is null', says({ data: { empNo: null } }), /empNo/],
  ['an empNo that is true', says({ data: { empNo: true } }), /empNo/],
  ['an empNo that is a map', says({ data: { empNo: { id: '1' } } }), /empNo/],
  ['an empNo with a fraction', says({ data: { empNo: 1.5 } }), /empNo/],
  ['an empNo below zero', says({ data: { empNo: -5 } }), /empNo/],
  ['an empNo too large to be exact', says('{"data":{"empNo":9007199254740993}}'), /empNo/],
  ['an empNo with a slash', says({ data: { empNo: '../admin' } }), /empNo/],
  ['an empNo of 65 characters', says({ data: { empNo: 'x'.repeat(65) } }), /empNo/],
  ['an empNo in the prototype', says('{"data":{"__proto__":{"empNo":"1"}}}'), /empNo/],
  ['a huge body', says({ data: { empNo: '1', more: 'x'.repeat(70_000) } }), /more than 65536 bytes/],
  [
    'a body that breaks off',
    (response) => void response.writeHead(200).write('{', () => response.destroy()),
    /reached/,
  ],
])('%s is a provider that fails', { tags: ['B8'] }, async (_what, answer, message) => {
  const { ask } = await provider(answer);
  const error: unknown = await ask().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ reason: 'bad_gateway', message: expect.stringMatching(message) as string });
  expect(String(error)).not.toContain('se/cr');
});

test('a redirect is not followed', async () => {
  const elsewhere = await provider(says({ data: { empNo: '1' } }));
  const { ask } = await provider((response) => {
    response.writeHead(302, { location: elsewhere.sso.userinfoUrl }).end();
  });
  await expect(ask()).rejects.toMatchObject({ reason: 'bad_gateway', message: expect.stringMatching(/302/) as string });
  expect(elsewhere.asked).toEqual([]);
});

test.each<[string, Answer]>([
  ['never answers', () => undefined],
  ['never ends its answer', (response) => void response.writeHead(200).write('{"data":')],
  [
    'sends its answer byte by byte',
    (response) => {
      const drip = setInterval(() => response.write(' '), 10);
      response.once('close', () => clearInterval(drip));
    },
  ],
])('a provider that %s is given up after its time', async (_what, answer) => {
  const { ask } = await provider(answer, 100);
  await expect(ask()).rejects.toMatchObject({
    reason: 'bad_gateway',
    message: expect.stringMatching(/within 100 ms/) as string,
  });
});

test('a provider without a listener counts as failing', async () => {
  const { sso } = await provider(says({}));
  const gone = { ...sso, userinfoUrl: 'http://127.0.0.1:1/user' };
  await expect(makeAskProvider()(gone, TOKEN)).rejects.toMatchObject({
    reason: 'bad_gateway',
    message: expect.stringMatching(/ECONNREFUSED/) as string,
  });
});
