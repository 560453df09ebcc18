// Refresh tokens that a server takes once: daemons on one database exchange them one after another, each the one that was given last.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Connector } from '../../../../../src/domain/capabilities/connector.ts';
import { newId } from '../../../../../src/domain/ids.ts';
import { makeBroker } from '../../../../../src/execution/broker/broker.ts';
import { openMasterKey } from '../../../../../src/files/master-key.ts';
import { makeSecretBox } from '../../../../../src/files/secret-box.ts';
import { makeLog } from '../../../../../src/log/log.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { openProcess } from '../../../../support/postgres/processes.ts';
import { storeFixture } from '../../../../support/store/store-fixture.ts';

const DAEMONS = 3;
/** Times at which the access tokens of all have expired. */
const ROUNDS = 4;

test('however many daemons need an access token at once, each refresh token is used once', async () => {
  const used: (string | null)[] = [];
  let valid = 'first';
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url !== '/token') return response.writeHead(200).end('{}');
      const token = new URLSearchParams(Buffer.concat(chunks).toString()).get('refresh_token');
      used.push(token);
      if (token !== valid) return response.writeHead(400).end('{"error":"invalid_grant"}');
      valid = `token ${used.length}`;
      return response
        .writeHead(200)
        .end(JSON.stringify({ access_token: 'access', refresh_token: valid, expires_in: 60 }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connector: Connector = {
    name: 'crm',
    description: '',
    baseUrl: url,
    caFile: null,
    auth: {
      kind: 'oauth2_refresh_token',
      header: 'Authorization',
      prefix: 'Bearer ',
      tokenUrl: `${url}/token`,
      clientId: 'errand',
      clientSecret: null,
      scopes: [],
    },
    methods: ['GET'],
    paths: ['/v1/*'],
  };
  const { store, user, file, clock } = await storeFixture(undefined, {}, openProcess);
  const others = Array.from({ length: DAEMONS - 1 }, () => openProcess(file, clock));
  onTestFinished(async () => void (await Promise.all(others.map((other) => other.close()))));
  const secrets = makeSecretBox(openMasterKey({ path: join(temporaryDirectory(), 'master.key'), isCredential: false }));
  const id = newId();
  const secret = secrets.seal('first', id);
  await store.connections.create({ id, userSeq: user.seq, connector: 'crm', name: 'crm', secret });
  let now = 1_000_000;
  const brokers = [store, ...others].map((one) =>
    makeBroker({
      store: one,
      secrets,
      log: makeLog({ level: 'fatal' }),
      connector: () => connector,
      egress: () => [{ cidr: '127.0.0.0/8', host: null, ports: null, for: ['connector'] }],
      now: () => now,
    }),
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each asks for two at once, which share one.
    const probes = await Promise.all([...brokers, ...brokers].map((broker) => broker.probe(id)));
    expect(probes.map(({ status }) => status)).toEqual(Array(2 * DAEMONS).fill(200));
    now += 120_000;
  }
  expect(used).toHaveLength(ROUNDS * DAEMONS);
  expect(new Set(used).size).toBe(used.length);
  expect(secrets.open((await store.connections.secretOf(id))!, id)).toBe(valid);
});
