// Where a client is tried: a daemon with a scripted model, and between the client and the daemon a recorder of what it sends.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { JsonObject } from '../../src/domain/json.ts';
import { rowsOf } from '../../test/support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../test/support/daemon/daemon-process.ts';
import { type ModelServer, startModelServer } from '../../test/support/model/model-server.ts';
import { seeingModel } from '../../test/support/model/models-yaml.ts';

/** A request of the client, as it sent it. */
export interface Recorded {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

export interface Place {
  /** The recorder's address, which clients take for the daemon's. */
  readonly url: string;
  /** A key that finds its sessions as the client's users are told to set it. */
  readonly key: string;
  /** A directory of the client's own, empty at first: its home, and `work` in it. */
  readonly home: string;
  readonly model: ModelServer;
  recorded(): readonly Recorded[];
  /** How many sessions the key has that don't belong to requests beside its conversation. */
  sessions(): number;
}

export interface Ground {
  /** Makes a place with a new key. `continueBy`: how it finds its sessions; '' for not at all. */
  makePlace(continueBy: string): Promise<Place>;
  close(): Promise<void>;
}

/** @throws what keeps a daemon from starting. */
export async function openGround(): Promise<Ground> {
  const model = await startModelServer();
  const daemon = await startDaemonProcess({ modelsYaml: seeingModel(model.url) });
  let recorded: Recorded[] = [];
  const recorder = createServer((incoming, outgoing) => {
    void passOn(incoming, outgoing, daemon.url).then((sent) => {
      if (sent !== null) recorded.push(sent);
    });
  });
  await new Promise<void>((resolve) => recorder.listen(0, '127.0.0.1', resolve));
  const homes = await mkdtemp(path.join(tmpdir(), 'errand-clients-'));
  return {
    makePlace: async (continueBy) => {
      recorded = [];
      const { id, key } = await makeKey(daemon, continueBy);
      const home = path.join(homes, id);
      await mkdir(path.join(home, 'work'), { recursive: true });
      const url = `http://127.0.0.1:${(recorder.address() as AddressInfo).port}`;
      return { url, key, home, model, recorded: () => recorded, sessions: () => countSessions(daemon, id) };
    },
    close: async () => {
      recorder.closeAllConnections();
      recorder.close();
      await daemon.close();
      await model.close();
      await rm(homes, { recursive: true, force: true });
    },
  };
}

async function makeKey(daemon: DaemonProcess, continueBy: string): Promise<{ id: string; key: string }> {
  const more = continueBy === '' ? {} : { continue_by: continueBy };
  const body = { user: daemon.adminName, scope: 'conversation', ...more };
  return (await daemon.admin('POST', '/api/v1/keys', body)) as { id: string; key: string };
}

function countSessions(daemon: DaemonProcess, keyId: string): number {
  const ofKey = 'SELECT s.id FROM sessions s JOIN api_keys k ON k.seq = s.key_seq WHERE k.id = ? AND s.throw_away = 0';
  return rowsOf(daemon, ofKey, keyId).length;
}

/** Passes a request on to the daemon, and its reply back. Returns it when it was a POST of JSON. */
async function passOn(incoming: IncomingMessage, outgoing: ServerResponse, to: string): Promise<Recorded | null> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const { method = 'GET', url = '/' } = incoming;
  const headers = { ...incoming.headers, host: new URL(to).host };
  const onward = request(to + url, { method, headers }, (reply) => {
    outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  outgoing.on('close', () => onward.destroy());
  onward.end(bytes);
  if (method !== 'POST') return null;
  return {
    path: url,
    headers: incoming.headers as Record<string, string>,
    body: JSON.parse(bytes.toString()) as JsonObject,
  };
}
